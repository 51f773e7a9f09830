// Calls of functions that users give: what they throw becomes a status.
//
//   absl::StatusOr<Element> result = CallUserCode([&] { return map_fn(element); });
#ifndef TANDEM_BASE_USER_CODE_H_
#define TANDEM_BASE_USER_CODE_H_

#include <type_traits>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace tandem {

// Inside a catch block: the exception as a status, such as `threw std::out_of_range: "no such key"`. ResourceExhausted
// (exit code 74) where memory ran out, InvalidArgument otherwise. Who calls adds which function it was, and where.
absl::Status CaughtException();

namespace internal {

template <typename T>
struct StatusOrOf {
  using type = absl::StatusOr<T>;
};
template <typename T>
struct StatusOrOf<absl::StatusOr<T>> {
  using type = absl::StatusOr<T>;
};
template <>
struct StatusOrOf<absl::Status> {
  using type = absl::Status;
};
template <>
struct StatusOrOf<void> {
  using type = absl::Status;
};

}  // namespace internal

// f(), whose result becomes a StatusOr unless it is a Status or StatusOr already; nothing becomes a Status.
template <typename F>
typename internal::StatusOrOf<std::invoke_result_t<F>>::type CallUserCode(F&& f) {
  try {
    if constexpr (std::is_void_v<std::invoke_result_t<F>>) {
      f();
      return absl::OkStatus();
    } else {
      return f();
    }
  } catch (...) {
    return CaughtException();
  }
}

}  // namespace tandem

#endif  // TANDEM_BASE_USER_CODE_H_
