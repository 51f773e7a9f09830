// What training and evaluation report: the numbers of a batch or an epoch by name, and their history.
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

// In the order in which they were set: "loss", then metrics. Numbers are float32's, as Keras' are, kept as doubles.
class Logs {
 public:
  bool Has(absl::string_view name) const;
  // NaN for a name or number that is not there, which is an error of the user's function that asks
  // (base/user_code.h), or one in the log.
  double operator[](absl::string_view name) const;
  double operator[](const char* name) const { return (*this)[absl::string_view(name)]; }
  double operator[](int i) const;
  // Changes the number, or adds it behind the others.
  void Set(absl::string_view name, double value);
  size_t size() const { return values_.size(); }
  bool empty() const { return values_.empty(); }
  const std::vector<std::pair<std::string, double>>& values() const { return values_; }

 private:
  std::vector<std::pair<std::string, double>> values_;
};

// The logs of each epoch of a Fit. `history["val_loss"][i]` is of epoch[i].
struct History {
  std::vector<int64_t> epoch;
  std::map<std::string, std::vector<double>> history;
};

}  // namespace tandem::keras

#endif  // TANDEM_ESTIMATOR_KERAS_LOGS_H_
