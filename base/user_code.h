// Calls of functions that users give: what they throw, and what goes wrong where they cannot be told, becomes a status.
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

// Of a call by a user's function that returns no status, such as one for numbers of another type: the first such error
// becomes the result of the CallUserCode that this thread is in. Outside of one it goes to the log.
void ReportUserError(absl::Status status);

namespace internal {

// What was reported since it was made, by this thread and not within an inner one.
class ReportedErrors {
 public:
  ReportedErrors();
  ~ReportedErrors();
  ReportedErrors(const ReportedErrors&) = delete;
  ReportedErrors& operator=(const ReportedErrors&) = delete;

  // The first; OK where there is none.
  const absl::Status& first() const { return first_; }

 private:
  friend void tandem::ReportUserError(absl::Status status);
  ReportedErrors* const outer_;
  absl::Status first_;
};

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
  const internal::ReportedErrors errors;
  try {
    if constexpr (std::is_void_v<std::invoke_result_t<F>>) {
      f();
      return errors.first();
    } else {
      typename internal::StatusOrOf<std::invoke_result_t<F>>::type result = f();
      if (!errors.first().ok()) return errors.first();
      return result;
    }
  } catch (...) {
    absl::Status caught = CaughtException();
    return errors.first().ok() ? caught : errors.first();
  }
}

}  // namespace tandem

#endif  // TANDEM_BASE_USER_CODE_H_
