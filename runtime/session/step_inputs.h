// Checks of a step's inputs, the same for every kind of device.
#ifndef TANDEM_RUNTIME_SESSION_STEP_INPUTS_H_
#define TANDEM_RUNTIME_SESSION_STEP_INPUTS_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "runtime/session/session.h"

namespace tandem {

struct ReplicaInputs {
  int64_t rows = 0;
  int64_t first_row = 0;               // first row in the global batch: the number of rows of the replicas before
  std::vector<const uint8_t*> inputs;  // indexed by the executable's inputs; the caller's memory
  std::vector<uint64_t> scalars;       // 8 bytes each, of any type
};

// Fills `replicas`, one per replica of the executable; allocates nothing when their number is the same as in the call
// before. In a group these are only the replicas of this process, which come behind `first_replica` others.
absl::Status ResolveStepInputs(const Executable& executable, const StepInputs& inputs,
                               std::vector<ReplicaInputs>* replicas, int first_replica = 0, int processes = 1);

// Returns those of `fetches` that the program computes before its finite check: they have a value also where that
// fails.
std::vector<int> OutputsBeforeCheck(const Executable& executable, const std::vector<int>& fetches);

// Returns FailedPrecondition that names the first variable of the executable that has no value.
absl::Status CheckVariablesInitialized(const Executable& executable, const VariableStore& variables);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_SESSION_STEP_INPUTS_H_
