// Starts threads. All code starts threads here, so that a failure to start one is always a Status.
#ifndef TANDEM_BASE_THREADS_H_
#define TANDEM_BASE_THREADS_H_

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tandem {

// The most threads that may be asked for. Every thread has its own stack and malloc arena, and threads beyond the
// number of processors only wait for each other.
inline constexpr int kMaxThreads = 1024;

// InvalidArgument, with the limit and the reason for it, when `threads` is negative or above kMaxThreads. `name` is the
// setting's name, such as "RunConfig.threads".
absl::Status CheckThreadCount(absl::string_view name, int64_t threads);

// Starts a thread that runs `work`. ResourceExhausted, with `purpose` and the system's reason, if that fails.
absl::StatusOr<std::thread> StartThread(absl::string_view purpose, std::function<void()> work);

// Starts `count` threads; thread i runs work(i). Returns fewer, and logs a warning, if the system does not provide all
// of them; ResourceExhausted if it provides none. With count <= 0 returns none.
absl::StatusOr<std::vector<std::thread>> StartThreads(absl::string_view purpose, int count,
                                                      const std::function<void(int)>& work);

}  // namespace tandem

#endif  // TANDEM_BASE_THREADS_H_
