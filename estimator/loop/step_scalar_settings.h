// StepScalarSettings: step scalars, numbers that a training's steps get from the runtime, such as a learning rate, and
// that hooks may change.
#ifndef TANDEM_ESTIMATOR_LOOP_STEP_SCALAR_SETTINGS_H_
#define TANDEM_ESTIMATOR_LOOP_STEP_SCALAR_SETTINGS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tandem/base/api.h"

namespace TANDEM_API tandem {

// Returns the names of the scalars that the runtime sets in every step.
std::vector<std::string> RuntimeScalars();

// The values of step scalars. Those that were set are part of every checkpoint.
class StepScalarSettings {
 public:
  // Sets the numbers that model_fn gave (GraphBuilder::scalar_defaults). Drops values set for other names, with a
  // warning.
  void SetDefaults(std::map<std::string, double> defaults);

  // Returns the value. NotFound, with the known names, for a name that has no number.
  absl::StatusOr<double> Get(absl::string_view name) const;
  // InvalidArgument for a value that is not finite, and for a learning rate below 0.
  absl::Status Set(absl::string_view name, double value);
  // Like Set, for a step that may not be made after all. Get and values() return the value at once, but checkpoints
  // store it only after Keep, which is called when the step starts. Drop is called instead if the step is not made, and
  // restores the value from before.
  absl::Status SetForStep(absl::string_view name, double value);
  void Keep();
  void Drop() { for_step_.clear(); }
  // Returns the values set for the next step.
  std::map<std::string, double> values() const;
  // Returns the names of the learning rates that are numbers: "learning_rate", "learning_rate_1" and so on.
  std::vector<std::string> LearningRates() const;

  // Returns, for example, {"learning_rate": 0.01}; "" if nothing was set.
  std::string ToJson() const;
  // Restores the values from ToJson's text. DataLoss for any other text.
  absl::Status Restore(absl::string_view json);
  // Returns a fingerprint of values(): equal for equal values, however they were set; 0 if there are none.
  uint64_t Fingerprint() const;

 private:
  absl::Status Check(absl::string_view name, double value) const;

  std::map<std::string, double> defaults_, values_, for_step_;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_LOOP_STEP_SCALAR_SETTINGS_H_
