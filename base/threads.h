// Starting threads: the one place that does, so that a thread that the system does not give is a Status.
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

// The most threads that may be asked for. Every thread has a stack and arenas of its own, and more of them than there
// are processors only wait for each other.
inline constexpr int kMaxThreads = 1024;

// InvalidArgument, with the limit and why there is one, when `threads` is negative or above kMaxThreads. `name` is what
// the user set, such as "RunConfig.threads".
absl::Status CheckThreadCount(absl::string_view name, int64_t threads);

// A thread that runs `work`. ResourceExhausted, with `purpose` and the system's reason, when there is none to be had.
absl::StatusOr<std::thread> StartThread(absl::string_view purpose, std::function<void()> work);

// `count` threads; thread i runs work(i). Fewer, and a warning, when the system does not give all of them;
// ResourceExhausted when it gives none. With count <= 0: none.
absl::StatusOr<std::vector<std::thread>> StartThreads(absl::string_view purpose, int count,
                                                      const std::function<void(int)>& work);

}  // namespace tandem

#endif  // TANDEM_BASE_THREADS_H_
