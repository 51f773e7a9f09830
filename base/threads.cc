#include "base/threads.h"

#include <new>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/logging.h"

namespace tandem {
namespace {

constexpr char kRemedy[] =
    "the number of processes (ulimit -u, or the container's limit) or the memory for their stacks has run out; ask for "
    "fewer threads, or raise the limit";

template <typename Make>
absl::StatusOr<std::thread> TryToStart(absl::string_view purpose, Make make) {
  try {
    return make();
  } catch (const std::system_error& e) {
    return absl::ResourceExhaustedError(
        absl::StrCat("cannot start a thread for ", purpose, ": ", e.code().message(), "; ", kRemedy));
  } catch (const std::bad_alloc&) {
    return absl::ResourceExhaustedError(absl::StrCat("cannot start a thread for ", purpose, ": out of memory"));
  }
}

}  // namespace

absl::Status CheckThreadCount(absl::string_view name, int64_t threads) {
  if (threads < 0) return absl::InvalidArgumentError(absl::StrCat(name, " = ", threads, " is negative"));
  if (threads <= kMaxThreads) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      name, " = ", threads, " is more than ", kMaxThreads,
      ": each thread has a stack and arenas of its own, and more threads than processors (this machine has ",
      std::thread::hardware_concurrency(), ") only wait for each other; 0 takes one per processor"));
}

absl::StatusOr<std::thread> StartThread(absl::string_view purpose, std::function<void()> work) {
  return TryToStart(purpose, [&] { return std::thread(std::move(work)); });
}

absl::StatusOr<std::vector<std::thread>> StartThreads(absl::string_view purpose, int count,
                                                      const std::function<void(int)>& work) {
  std::vector<std::thread> threads;
  if (count <= 0) return threads;
  threads.reserve(count);  // push_back must not fail, because then a running thread could not be joined
  for (int i = 0; i < count; ++i) {
    absl::StatusOr<std::thread> thread = TryToStart(purpose, [&] { return std::thread([work, i] { work(i); }); });
    if (thread.ok()) {
      threads.push_back(*std::move(thread));
      continue;
    }
    if (threads.empty()) return thread.status();
    TD_LOG(WARNING) << "going on with " << i << " of " << count << " threads for " << purpose << ": "
                    << thread.status().message();
    break;
  }
  return threads;
}

}  // namespace tandem
