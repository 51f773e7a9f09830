// Weight gradients that are applied block by block: a block goes from the kernel that computes it to the optimizer's
// while it is in the core's cache, and the gradient as a whole is never stored.
//
// That is another way to run three commands of a global section of one device: the gradient's kernel (domain Blocks),
// the finite check, and the grouped update. The check comes first, so it cannot look at such a gradient; it is replaced
// by a bound. A sum of K products is at most K max|x| max|dy|: when that is far below the largest float32, no sum
// overflows. When it is not, or a number is not finite, the three commands run as they are written. Bits are the same
// both ways.
#ifndef TANDEM_RUNTIME_CPU_BLOCK_UPDATES_H_
#define TANDEM_RUNTIME_CPU_BLOCK_UPDATES_H_

#include <cstdint>

#include "runtime/cpu/step_plan.h"
#include "runtime/cpu/step_state.h"
#include "runtime/thread_pool.h"

namespace tandem {

// Prepares what `section` wants to be run so (td-update-by-blocks chose it), and the section's other commands for it.
// Sets the scratch memory that a thread needs for a block.
void PlanBlockUpdates(const format::Section& section, PlannedSection& planned, uint64_t* scratch_bytes);

// Whether the bound holds for the operands of all block updates of the section.
bool GradientsAreBounded(const StepState& state, const PlannedSection& section, ThreadPool& pool);

// Computes and applies the gradients whose update is command `update`.
void RunBlockUpdates(const StepState& state, const PlannedSection& section, size_t update, ThreadPool& pool);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CPU_BLOCK_UPDATES_H_
