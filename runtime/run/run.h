// LoadExecutable and Run: an executable file from C++ without an Estimator.
//
//   TD_ASSIGN_OR_RETURN(auto model, LoadExecutable("model/compiled/predict-0123456789abcdef.tdx"));
//   TD_RETURN_IF_ERROR(model->variables().Assign("dense/kernel", kernel));
//   TD_ASSIGN_OR_RETURN(RunResult result, Run(*model, {{"image", images}}));
//   result.outputs["logits"]
#ifndef TANDEM_RUNTIME_RUN_RUN_H_
#define TANDEM_RUNTIME_RUN_RUN_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/host_tensor.h"
#include "runtime/session/session.h"
#include "runtime/variables/variable_store.h"

namespace tandem {

struct LoadOptions {
  int threads = 0;    // threads of all replicas together; 0 means one for each processor that the process may use
  uint64_t seed = 0;  // seed of the variables' initialisers
  // If false, variables have no value until one is assigned.
  bool initialize_variables = true;
};

// An executable with a session and variables of its own. Thread-compatible.
class LoadedExecutable {
 public:
  const Executable& executable() const { return *executable_; }
  // The variables, initialised by the executable's initialisers. To use a checkpoint, assign its values to them.
  VariableStore& variables() { return *variables_; }
  Session& session() { return *session_; }

  // The most rows that one Run can compute.
  int64_t max_rows() const { return executable_->rows_per_replica() * executable_->num_replicas(); }
  // Returns how many of `rows` rows each replica gets: replicas are filled from the front, so that row i of the batch
  // is global row i of the program.
  std::vector<int64_t> RowsOfReplicas(int64_t rows) const;

 private:
  friend absl::StatusOr<std::unique_ptr<LoadedExecutable>> LoadExecutable(const std::string&, const LoadOptions&);
  LoadedExecutable() = default;
  std::shared_ptr<const Executable> executable_;
  std::shared_ptr<VariableStore> variables_;
  std::unique_ptr<Session> session_;
};

// Reads, checks and prepares the file at `path`. Errors: those of Executable::Load (DataLoss, exit code 65, for a
// damaged file) and Session::Create.
absl::StatusOr<std::unique_ptr<LoadedExecutable>> LoadExecutable(const std::string& path,
                                                                 const LoadOptions& options = {});

// Returns OutOfRange, with the row, for an element of the input `value`, [rows, ...], that is no index of what the
// program selects by it.
absl::Status CheckIndices(const format::Input& input, const HostTensor& value);

struct RunResult {
  std::map<std::string, HostTensor> outputs;  // outputs by name; batched ones have the rows of the input
  // false if a check found a NaN or infinity; then there are no outputs, and no variable has changed
  bool finite = true;
};

// Runs one step; a train program updates the variables. `inputs`: the whole batch by name, all with as many rows
// ([rows, ...], rows <= max_rows). `scalars`: step scalars by name ("learning_rate"); "global_step" and "seed" are 0
// unless given. InvalidArgument, with the input's name, for an input that is missing, unknown, or of another type or
// shape. OutOfRange for an input with an index outside of the rows that it selects from.
absl::StatusOr<RunResult> Run(LoadedExecutable& model, const std::map<std::string, HostTensor>& inputs,
                              const StepScalars& scalars = {});

}  // namespace tandem

#endif  // TANDEM_RUNTIME_RUN_RUN_H_
