// ModelState: the values of a model's variables, with the operations that checkpoints need.
#ifndef TANDEM_ESTIMATOR_MODEL_MODEL_STATE_H_
#define TANDEM_ESTIMATOR_MODEL_MODEL_STATE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/checkpoint/checkpoint.h"
#include "graph/graph_builder.h"
#include "runtime/variables/variable_store.h"

namespace tandem {

class ModelState {
 public:
  explicit ModelState(std::shared_ptr<VariableStore> store) : store_(std::move(store)) {}

  enum class Which { kAll, kMissing };
  // Sets the variables to their initial values; with kMissing, only those that have no value yet. The initial value of
  // a moving average is the value of its variable.
  absl::Status Initialize(const std::vector<VariableSpec>& variables, uint64_t seed, Which which);
  // Sets values by name; the variables must exist with that type and shape. A moving average in memory that `values`
  // lacks is reset to its variable's value, here and in Restore, because it would otherwise be an average of other
  // weights.
  absl::Status Set(const TensorMap& values);
  // Sets values that a user has chosen for some variables. Moving averages of these variables are reset to them, unless
  // they are among the values too.
  absl::Status Assign(const TensorMap& values);
  // Sets the variables and slots to those of a checkpoint. FailedPrecondition, listing all differences, if it is a
  // checkpoint of another model. With `exact`, variables that only the checkpoint has are differences too.
  absl::Status Restore(const CheckpointData& data, const std::string& path, const std::vector<VariableSpec>& variables,
                       bool exact);
  // Snapshot returns the current values, which may still have to be copied from a GPU. FillFrom waits for these copies
  // and writes the values to the variables and slots of `data`.
  absl::StatusOr<VariableSnapshot> Snapshot(const std::vector<VariableSpec>& variables) const;
  static absl::Status FillFrom(VariableSnapshot& snapshot, const std::vector<VariableSpec>& variables,
                               CheckpointData* data);
  // Returns an error if a variable or slot is not finite: Internal, with exit code 1, that names the first one, how
  // many of its values are not finite, and the step.
  static absl::Status CheckFinite(const CheckpointData& data);

  const std::shared_ptr<VariableStore>& store() const { return store_; }

  // Returns the moving averages in memory that belong to some of `variables`.
  std::vector<VariableSpec> AveragesOf(const std::vector<VariableSpec>& variables) const;
  // Returns `variables` and their moving averages in memory (or in a checkpoint).
  std::vector<VariableSpec> WithAverages(const std::vector<VariableSpec>& variables) const;
  static std::vector<VariableSpec> WithAverages(const CheckpointData& data, const std::vector<VariableSpec>& variables);

 private:
  absl::Status InitializeOne(const VariableSpec& variable, uint64_t seed);
  // Resets moving averages in memory to their variables, except those that `keep` accepts.
  absl::Status ResetAverages(const std::function<bool(const std::string&)>& keep);

  std::shared_ptr<VariableStore> store_;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_MODEL_MODEL_STATE_H_
