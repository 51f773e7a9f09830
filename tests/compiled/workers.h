// A compiled program run by several workers, which are threads with a session and variables of their own.
#ifndef TANDEM_TESTS_COMPILED_WORKERS_H_
#define TANDEM_TESTS_COMPILED_WORKERS_H_

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/collectives/process_group.h"
#include "runtime/executable/executable.h"
#include "runtime/session/session.h"
#include "runtime/variables/variable_store.h"
#include "tests/compiled/harness.h"

namespace tandem::compiled {

class Workers {
 public:
  // `count` must divide the executable's replicas.
  static absl::StatusOr<Workers> Make(const std::shared_ptr<const Executable>& executable, int count);

  // The variables of all replicas.
  absl::Status Assign(const TensorMap& values);
  // One step on the inputs of all replicas; each worker's result, by rank. The first error of a worker ends all.
  absl::StatusOr<std::vector<StepResult>> Run(const StepInputs& inputs);
  // Variables that differ between two workers, or two devices of one, or from `values`: a line for each.
  std::vector<std::string> Differences(const TensorMap& values) const;

 private:
  struct Worker {
    std::unique_ptr<ProcessGroup> group;
    std::shared_ptr<VariableStore> variables;
    std::unique_ptr<Session> session;
  };
  std::shared_ptr<const Executable> executable_;
  std::vector<Worker> workers_;
};

}  // namespace tandem::compiled

#endif  // TANDEM_TESTS_COMPILED_WORKERS_H_
