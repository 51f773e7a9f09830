// StepScalarSettings: the numbers of a training's steps, such as a learning rate, as hooks change them.
#ifndef TANDEM_ESTIMATOR_STEP_SCALAR_SETTINGS_H_
#define TANDEM_ESTIMATOR_STEP_SCALAR_SETTINGS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tandem {

// The scalars that the runtime gives to every step.
std::vector<std::string> RuntimeScalars();

// What was set is part of every checkpoint.
class StepScalarSettings {
 public:
  // The numbers that model_fn gave: GraphBuilder::scalar_defaults. Settings of other names are dropped, with a warning.
  void SetDefaults(std::map<std::string, double> defaults);

  // NotFound for a name without a number, with those there are.
  absl::StatusOr<double> Get(absl::string_view name) const;
  // InvalidArgument for what is not finite, and for a learning rate below 0.
  absl::Status Set(absl::string_view name, double value);
  // The same for a step that may not be run after all: until Keep, at its start, Get and values have it, and no
  // checkpoint. Drop forgets it.
  absl::Status SetForStep(absl::string_view name, double value);
  void Keep();
  void Drop() { for_step_.clear(); }
  // What was set, for the next step.
  std::map<std::string, double> values() const;
  // "learning_rate", "learning_rate_1" and so on: the rates that are numbers.
  std::vector<std::string> LearningRates() const;

  // {"learning_rate": 0.01}; empty text where nothing was set.
  std::string ToJson() const;
  // What ToJson gave becomes what is set. DataLoss for anything else.
  absl::Status Restore(absl::string_view json);
  // Of values: equal for equal ones, however they were made; 0 for none.
  uint64_t Fingerprint() const;

 private:
  absl::Status Check(absl::string_view name, double value) const;

  std::map<std::string, double> defaults_, values_, for_step_;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_STEP_SCALAR_SETTINGS_H_
