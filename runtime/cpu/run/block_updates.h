// Weight gradients that are applied by blocks of rows: the optimizer's kernel reads each block as soon as it has been
// computed, while it is in the core's cache. The gradient as a whole is never stored.
//
// This is another way to run three commands of a global section of one device: the gradient's kernel (domain Blocks),
// the finite check, and the grouped update. The check comes first, so it cannot look at such a gradient; a bound
// replaces it. A sum of K products is at most K max|x| max|dy|: when that is far below the largest float32, no sum
// overflows. When it is not, or a number is not finite, the three commands run one after the other, as the program has
// them. Both ways give the same bits.
#ifndef TANDEM_RUNTIME_CPU_RUN_BLOCK_UPDATES_H_
#define TANDEM_RUNTIME_CPU_RUN_BLOCK_UPDATES_H_

#include <cstdint>

#include "runtime/cpu/run/step_plan.h"
#include "runtime/cpu/step/step_state.h"
#include "runtime/threads/thread_pool.h"

namespace tandem {

// Prepares the block updates of `section`, which the pass td-update-by-blocks has chosen, and the work that then
// remains for the section's other commands. Raises `scratch_bytes` to the memory that a thread needs for a block.
void PlanBlockUpdates(const format::Section& section, PlannedSection& planned, uint64_t* scratch_bytes);

// True if the bound on sums, as described above, holds for the operands of all block updates of the section.
bool GradientsAreBounded(const StepState& state, const PlannedSection& section, ThreadPool& pool);

// Computes and applies the gradients whose update is command `update`.
void RunBlockUpdates(const StepState& state, const PlannedSection& section, size_t update, ThreadPool& pool);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CPU_RUN_BLOCK_UPDATES_H_
