// Formats numbers as Python does, and str.format's templates, for texts and files that equal Keras'. Internal to
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

// Returns repr(value): the shortest digits that give the number back; with an exponent below 1e-4 and from 1e16 on, as
// in "1e-05".
std::string PythonNumber(double value);
// Returns repr of a numpy.float32.
std::string PythonNumber(float value);
// Returns "%.5f" % value for type 'f' and precision 5, "%.4e" % value for type 'e' and precision 4.
std::string PythonFixed(double value, int precision, char type = 'f');

using PythonArguments = std::vector<std::pair<std::string, std::variant<int64_t, double>>>;
// Returns `text` with {name} and {name:specification} replaced, and {{ and }} by single braces. A specification is
// [0][width][.precision][type] with type d, f, e, g or %. InvalidArgument, with the text, for a name that is not in
// `arguments` (the message lists them), for braces that do not match, and for a specification that Python or this
// function does not accept.
absl::StatusOr<std::string> PythonFormat(absl::string_view text, const PythonArguments& arguments);

}  // namespace tandem::keras

#endif  // TANDEM_ESTIMATOR_KERAS_PYTHON_FORMAT_H_
