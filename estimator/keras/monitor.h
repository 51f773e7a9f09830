// Monitor: the value in the logs that a callback watches, and whether it has improved. Internal to estimator/keras.
#ifndef TANDEM_ESTIMATOR_KERAS_MONITOR_H_
#define TANDEM_ESTIMATOR_KERAS_MONITOR_H_

#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "estimator/keras/logs.h"

namespace tandem::keras {

// A name in the logs, and whether large values are better.
class Monitor {
 public:
  Monitor(std::string name, bool more_is_better) : name_(std::move(name)), more_is_better_(more_is_better) {}

  const std::string& name() const { return name_; }
  bool more_is_better() const { return more_is_better_; }
  // Returns a value that is worse than all numbers.
  double Worst() const;
  // True if `value` is better than `than` by more than `delta`, which must not be negative.
  bool IsBetter(double value, double than, double delta) const;
  // Returns the value of that name; nothing, after a warning the first time, if the logs do not have the name.
  std::optional<double> ValueOf(const Logs& logs, absl::string_view callback);

 private:
  std::string name_;
  bool more_is_better_;
  bool warned_ = false;
};

// Returns InvalidArgument for a mode that is not "auto", "min" or "max".
absl::Status CheckMonitorMode(absl::string_view mode);
// Returns whether larger values are better. `by_name` is the result for mode "auto", which depends on the monitor's
// name.
inline bool MoreIsBetter(absl::string_view mode, bool by_name) { return mode == "max" || (mode != "min" && by_name); }

}  // namespace tandem::keras

#endif  // TANDEM_ESTIMATOR_KERAS_MONITOR_H_
