// A program prepared to run: its commands, section by section, and the memory that they need.
#ifndef TANDEM_RUNTIME_CPU_RUN_STEP_PLAN_H_
#define TANDEM_RUNTIME_CPU_RUN_STEP_PLAN_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/cpu/commands/cpu_command.h"
#include "runtime/cpu/commands/grouped_launch.h"
#include "runtime/cpu/commands/kernel_launch.h"
#include "runtime/cpu/kernels/object_loader.h"
#include "runtime/cpu/step/operand.h"
#include "runtime/executable/executable.h"

namespace tandem {

// A lane slot (memory of a lane's sums) to which a map section's microbatches add their results.
struct LaneMerge {
  format::ReduceKind kind;
  Operand operand;
};

// A weight gradient whose blocks of rows are applied to the weights as soon as they are computed (block_updates.h).
struct BlockUpdate {
  const format::BlockUpdate* commands;
  const CpuKernelLaunch* gradient;
  const CpuGroupedLaunch* update;
  int64_t rows = 0, columns = 0;
  // rows of a task, and rows that are computed before the update is applied to them
  int64_t block_rows = 0, strip_rows = 0;
  std::vector<Operand> fetched;  // matrices that the update accesses besides the gradient (block_kernel.h)
};

struct PlannedSection {
  format::SectionKind kind;
  std::vector<std::unique_ptr<CpuCommand>> commands;
  std::vector<LaneMerge> merges;
  std::vector<BlockUpdate> block_updates;
  int merges_id = 0;  // the id, like CpuCommand::id, under which the adding of results to lane slots is timed
  bool run_inline = false;
  int lanes_together = 1;  // in map sections: Section.lanes_together if every thread has that many lanes; else 1
};

struct StepPlan {
  std::vector<PlannedSection> sections;
  std::vector<Operand> outputs;  // the executable's outputs
  uint64_t scratch_bytes = 0;    // bytes per thread, as scratch memory of library calls
  uint64_t staging_bytes = 0;    // bytes per thread, for operands of library calls in short microbatches
  int microbatch_arenas = 1;     // arenas per thread: the most lanes that run together
  size_t max_operands = 0;
  int num_ids = 0;
  bool writes_variables = false;
  // True if the values that are the same on all devices are those that invariant commands compute: then several
  // sessions can read one copy of them.
  bool shares_invariants = false;
  bool overlaps = false;  // true if all-reduces may continue while the commands behind them run
};

// Plans the program. `executable` must outlive the plan. `replicas`: number of replicas that run here. Errors: those of
// NewCpuCommand with the command's name and location.
absl::StatusOr<StepPlan> MakeStepPlan(const Executable& executable, const LoadedKernels& kernels, int replicas,
                                      int num_threads);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CPU_RUN_STEP_PLAN_H_
