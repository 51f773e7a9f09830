// Wraps a user's function so that only one thread calls it at a time. Exceptions become a status.
#ifndef TANDEM_DATA_SERIAL_FUNCTION_H_
#define TANDEM_DATA_SERIAL_FUNCTION_H_

#include <functional>
#include <mutex>
#include <utility>

#include "base/user_code.h"

namespace tandem::data_internal {

// Several threads may call such a function: one that saves a position draws elements while another draws ahead, and the
// threads of a Map make elements again after a restart. So every stage whose function decides on the order of elements
// uses this class. Only the function itself runs under the lock; its arguments are made before. Function is one of
// Dataset's types, such as Dataset::PredicateFn.
template <typename Function>
class SerialFunction;

template <typename R, typename... Args>
class SerialFunction<std::function<R(Args...)>> {
 public:
  explicit SerialFunction(std::function<R(Args...)> fn) : fn_(std::move(fn)) {}

  // False if the wrapped function is empty.
  explicit operator bool() const { return static_cast<bool>(fn_); }
  R operator()(Args... args) const {
    std::lock_guard<std::mutex> lock(mutex_);
    return CallUserCode([&] { return fn_(std::forward<Args>(args)...); });
  }

 private:
  mutable std::mutex mutex_;
  const std::function<R(Args...)> fn_;
};

}  // namespace tandem::data_internal

#endif  // TANDEM_DATA_SERIAL_FUNCTION_H_
