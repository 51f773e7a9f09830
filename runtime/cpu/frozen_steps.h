// Steps that compute from constants and variables alone which their program never writes: packed weights and
// transformed kernels of layers that are not trained, and of all layers when a program evaluates or predicts. They run
// when a variable may have changed, not in every step.
#ifndef TANDEM_RUNTIME_CPU_FROZEN_STEPS_H_
#define TANDEM_RUNTIME_CPU_FROZEN_STEPS_H_

#include <cstdint>
#include <vector>

#include "runtime/cpu/step_plan.h"

namespace tandem {

// Sets PlannedStep::frozen in the global sections of `plan`, which is of `program`: for steps whose inputs are such
// variables, constants, and what frozen steps computed, and whose outputs stay in the step arena from one step to the
// next because no other step writes there, or are in places that no other than frozen steps read or write. `fetched`:
// the buffers of the executable's outputs.
void MarkFrozenSteps(const fb::ProgramT& program, const std::vector<uint32_t>& fetched, StepPlan& plan);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CPU_FROZEN_STEPS_H_
