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
  // first row in the global batch: the number of rows of all replicas before this one
  int64_t first_row = 0;
  std::vector<const uint8_t*> inputs;  // indexed by the executable's inputs; addresses in the caller's memory
  std::vector<uint64_t> scalars;       // the program's scalars, 8 bytes each whatever their type
};

// Fills `replicas`, one per replica of the executable. Allocates nothing if their number is the same as in the previous
// call. In a group these are only the replicas of this process, which follow `first_replica` others.
absl::Status ResolveStepInputs(const Executable& executable, const StepInputs& inputs,
                               std::vector<ReplicaInputs>* replicas, int first_replica = 0, int processes = 1);

// Returns those of `fetches` that the program computes before its finite check. They have a value even if the check
// fails.
std::vector<int> OutputsBeforeCheck(const Executable& executable, const std::vector<int>& fetches);

// Returns FailedPrecondition, with the variable's name, if a variable of the executable has no value; the first one
// counts.
absl::Status CheckVariablesInitialized(const Executable& executable, const VariableStore& variables);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_SESSION_STEP_INPUTS_H_
