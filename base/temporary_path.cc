// TemporaryPath: unique names for temporary files.
#include <sys/random.h>
#include <time.h>

#include <atomic>

#include "absl/strings/str_cat.h"
#include "base/env.h"

namespace tandem {
namespace {

// The most bytes of a target's name in a temporary name, which may have 255 bytes with its other parts.
constexpr size_t kMaxTarget = 190;

// Returns digits that nobody can guess, for folders in which other users could create a file with the same name first.
// They come from the clock if the system has no random numbers yet.
std::string RandomDigits() {
  uint64_t number = 0;
  if (getrandom(&number, sizeof number, GRND_NONBLOCK) != sizeof number) {
    timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    number = now.tv_sec * uint64_t{1000000000} + now.tv_nsec;
  }
  return absl::StrCat(absl::Hex(number, absl::kZeroPad16));
}

}  // namespace

std::string TemporaryPath(Env* env, absl::string_view path) {
  static std::atomic<int64_t> count{0};
  const std::string target = BaseName(path).substr(0, kMaxTarget);
  return JoinPath(DirName(path),
                  absl::StrCat(".tmp-", target, "-", env->ProcessId(), "-", RandomDigits(), "-", count++));
}

}  // namespace tandem
