// Calls functions of users: their exceptions, and errors that they cannot return, become a status.
//
//   absl::StatusOr<Element> result = CallUserCode([&] { return map_fn(element); });
#ifndef TANDEM_BASE_USER_CODE_H_
#define TANDEM_BASE_USER_CODE_H_

#include <type_traits>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace tandem {

// To be called inside a catch block: returns the exception as a status, such as `threw std::out_of_range: "no such
// key"`. ResourceExhausted (exit code 74) if memory ran out, InvalidArgument otherwise. The caller adds which function
// threw, and where it was called.
absl::Status CaughtException();

// Reports an error in a call that a user's function makes and that cannot return a status, such as reading a tensor's
// elements as another type. The first such error becomes the result of this thread's current CallUserCode; outside of
// one, it is logged.
void ReportUserError(absl::Status status);

namespace internal {

// Collects the errors that this thread reports during the object's lifetime, without those of nested objects.
class ReportedErrors {
 public:
  ReportedErrors();
  ~ReportedErrors();
  ReportedErrors(const ReportedErrors&) = delete;
  ReportedErrors& operator=(const ReportedErrors&) = delete;

  // The first error; OK if there is none.
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

// Returns f() as a Status or StatusOr: void becomes a Status, another result a StatusOr.
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
