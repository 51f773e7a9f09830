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

namespace tandem::keras {

// Values in the order in which they were set: "loss", then metrics. They are rounded to float32, as Keras' are, and
// kept as doubles.
class Logs {
 public:
  bool Has(absl::string_view name) const;
  // Returns NaN for a name or number that does not exist. That is also an error of the user's function that asks
  // (base/user_code.h), or outside of one an error in the log.
  double operator[](absl::string_view name) const;
  double operator[](const char* name) const { return (*this)[absl::string_view(name)]; }
  double operator[](int i) const;
  // Changes the value or, if there is none yet, adds it after the others.
  void Set(absl::string_view name, double value);
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

}  // namespace tandem::keras

#endif  // TANDEM_ESTIMATOR_KERAS_LOGS_H_
