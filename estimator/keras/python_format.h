// Numbers as Python prints them, and str.format's templates, for texts and files that are to be Keras'. Internal to
// estimator/keras.
#ifndef TANDEM_ESTIMATOR_KERAS_PYTHON_FORMAT_H_
#define TANDEM_ESTIMATOR_KERAS_PYTHON_FORMAT_H_

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tandem::keras {

// repr(float): the fewest digits that give the number back, "1e-05" below 1e-4 and from 1e16 on.
std::string PythonNumber(double value);
// The same of a numpy.float32.
std::string PythonNumber(float value);
// "%.5f" % value and "%.4e" % value for type 'f' and 'e'.
std::string PythonFixed(double value, int precision, char type = 'f');

using PythonArguments = std::vector<std::pair<std::string, std::variant<int64_t, double>>>;
// `text` with {name} and {name:specification} replaced, {{ and }} by one brace. A specification is
// [0][width][.precision][type] with type d, f, e, g or %. InvalidArgument, with the text: a name that is not in
// `arguments` (all are listed), braces that do not match, a specification that Python or this function does not take.
absl::StatusOr<std::string> PythonFormat(absl::string_view text, const PythonArguments& arguments);

}  // namespace tandem::keras

#endif  // TANDEM_ESTIMATOR_KERAS_PYTHON_FORMAT_H_
