// Logs and History: the results of training and evaluation by name, for a batch, an epoch or a whole Fit.
#ifndef TANDEM_ESTIMATOR_KERAS_LOGS_H_
#define TANDEM_ESTIMATOR_KERAS_LOGS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "tandem/base/api.h"

namespace TANDEM_API tandem {
namespace keras {

// Values in the order in which they were set: "loss", then metrics. They are rounded to float32, as Keras' are, and
// kept as doubles.
class Logs {
 public:
  // True if there is a value of this name.
  bool Has(absl::string_view name) const;
  // Returns NaN for a name or number that does not exist. Inside of a function of the user, the function's call then
  // fails (base/user_code.h); elsewhere the log has an error.
  double operator[](absl::string_view name) const;
  double operator[](const char* name) const { return (*this)[absl::string_view(name)]; }
  double operator[](int i) const;
  // Sets the value of a name; a new name is added after the others.
  void Set(absl::string_view name, double value);
  // The values in their order, and their number.
  size_t size() const { return values_.size(); }
  bool empty() const { return values_.empty(); }
  const std::vector<std::pair<std::string, double>>& values() const { return values_; }

 private:
  std::vector<std::pair<std::string, double>> values_;
};

// The logs of each epoch of a Fit. `history["val_loss"][i]` belongs to epoch[i].
struct History {
  std::vector<int64_t> epoch;
  std::map<std::string, std::vector<double>> history;
};

}  // namespace keras
}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_KERAS_LOGS_H_
