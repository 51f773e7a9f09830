// Lanes that run together on one thread: each step of a map for one lane and then for the next, and products with a
// large matrix once for the rows of all, so that the matrix comes to the core once.
//
// Lanes are there for their sums, which have the same bits on any number of devices. A product's row depends on that
// row alone, so whose rows are computed beside it changes no bit. Lanes whose rows are not all there run one by one.
#ifndef TANDEM_RUNTIME_CPU_JOINT_LANES_H_
#define TANDEM_RUNTIME_CPU_JOINT_LANES_H_

#include "absl/status/status.h"
#include "runtime/cpu/step_plan.h"
#include "runtime/executable.h"

namespace tandem {

// Joins lanes of maps whose lanes are one shard each and that have products which gain, where every thread has more
// than one lane. Errors: those of OneDnnPrimitive::Create.
absl::Status PlanJointLanes(const Executable& executable, int num_threads, StepPlan& plan);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CPU_JOINT_LANES_H_
