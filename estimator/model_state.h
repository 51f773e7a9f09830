// ModelState: the values of a job's variables, as checkpoints see them.
#ifndef TANDEM_ESTIMATOR_MODEL_STATE_H_
#define TANDEM_ESTIMATOR_MODEL_STATE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/checkpoint/checkpoint.h"
#include "graph/graph_builder.h"
#include "runtime/variable_store.h"

namespace tandem {

class ModelState {
 public:
  explicit ModelState(std::shared_ptr<VariableStore> store) : store_(std::move(store)) {}

  enum class Which { kAll, kMissing };
  // Gives the variables, or those of them that have no value yet, their first one. That of a moving average is its
  // variable's.
  absl::Status Initialize(const std::vector<VariableSpec>& variables, uint64_t seed, Which which);
  // Values by name, for variables that exist with that type and shape. A moving average in memory that is not among
  // them becomes its variable, here and in Restore: it is never that of other weights.
  absl::Status Set(const TensorMap& values);
  // The same of some variables, for values that a user has chosen: of moving averages in memory, those of variables
  // among them become their variables, where they are not among them too.
  absl::Status Assign(const TensorMap& values);
  // Variables and slots of a checkpoint become the values. FailedPrecondition, listing all differences, when it is
  // one of another model. `exact`: what the model does not have is a difference too.
  absl::Status Restore(const CheckpointData& data, const std::string& path, const std::vector<VariableSpec>& variables,
                       bool exact);
  // The values of now; FillFrom waits for them and fills variables and slots of `data`.
  absl::StatusOr<VariableSnapshot> Snapshot(const std::vector<VariableSpec>& variables) const;
  static absl::Status FillFrom(VariableSnapshot& snapshot, const std::vector<VariableSpec>& variables,
                               CheckpointData* data);
  // Whether all variables and slots are finite. Internal, with exit code 1, names the first that is not, how many of
  // its values are not, and the step.
  static absl::Status CheckFinite(const CheckpointData& data);

  const std::shared_ptr<VariableStore>& store() const { return store_; }

  // The moving averages in memory of some of `variables`.
  std::vector<VariableSpec> AveragesOf(const std::vector<VariableSpec>& variables) const;
  // `variables`, and the moving averages of them in memory or in a checkpoint.
  std::vector<VariableSpec> WithAverages(const std::vector<VariableSpec>& variables) const;
  static std::vector<VariableSpec> WithAverages(const CheckpointData& data, const std::vector<VariableSpec>& variables);

 private:
  absl::Status InitializeOne(const VariableSpec& variable, uint64_t seed);
  // Moving averages in memory, but for those named, become their variables.
  absl::Status ResetAverages(const std::function<bool(const std::string&)>& keep);

  std::shared_ptr<VariableStore> store_;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_MODEL_STATE_H_
