// The value of a step scalar, a number that the runtime passes to every step.
#ifndef TANDEM_RUNTIME_SESSION_SCALAR_VALUE_H_
#define TANDEM_RUNTIME_SESSION_SCALAR_VALUE_H_

#include <cstdint>
#include <map>
#include <string>
#include <type_traits>

namespace tandem {

// An integer, with all of its 64 bits (a double would lose some bits of large seeds), or a double.
class ScalarValue {
 public:
  ScalarValue() : ScalarValue(int64_t{0}) {}
  template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>>
  ScalarValue(T value)  // NOLINT: a number is one
      : integral_(std::is_integral_v<T>),
        integer_(std::is_integral_v<T> ? static_cast<int64_t>(value) : 0),
        number_(static_cast<double>(value)) {}

  bool integral() const { return integral_; }
  // The integer, if integral() is true.
  int64_t integer() const { return integer_; }
  // The double that is nearest to the value.
  operator double() const { return number_; }  // NOLINT: what most scalars are

 private:
  bool integral_;
  int64_t integer_;
  double number_;
};

// Values by name: "global_step", "seed", "learning_rate".
using StepScalars = std::map<std::string, ScalarValue>;

}  // namespace tandem

#endif  // TANDEM_RUNTIME_SESSION_SCALAR_VALUE_H_
