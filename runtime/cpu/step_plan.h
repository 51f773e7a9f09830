// A program made ready to run: operands resolved to spaces and offsets, kernels and primitives to calls, global work
// cut into tasks.
#ifndef TANDEM_RUNTIME_CPU_STEP_PLAN_H_
#define TANDEM_RUNTIME_CPU_STEP_PLAN_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "base/dtype.h"
#include "runtime/cpu/object_loader.h"
#include "runtime/cpu/onednn_primitives.h"
#include "runtime/executable.h"

namespace tandem {

struct Operand {
  fb::Space space;
  DType dtype;
  uint32_t index;       // of the variable, input or scalar
  uint64_t offset;      // in the arena
  uint64_t row_bytes;   // 0 without batch
  int64_t elements;     // of one row, or of all when there is no batch
  bool common = false;  // Step: the same on all devices

  uint64_t bytes() const { return static_cast<uint64_t>(elements) * SizeOf(dtype); }
};

// Elements [begin, end) of an item: an operand, a member of a group, a kernel's domain.
struct Piece {
  int item;
  int64_t begin, end;
};

// Work of a step that is cut up for threads: task t is pieces [tasks[t], tasks[t + 1]).
struct PlannedWork {
  std::vector<Piece> pieces;
  std::vector<int> tasks;
};

struct PlannedStep {
  const fb::StepT* step;
  fb::StepBody kind;
  int id = 0;  // of ListSteps (step_info.h): where its time is counted
  std::vector<Operand> inputs, outputs;
  // KernelLaunch, GroupedLaunch
  KernelFunction function = nullptr;
  fb::Domain domain = fb::Domain::Once;
  int64_t count = 0;
  int num_args = 0;
  std::vector<Operand> group_args;
  // LibraryCall
  std::unique_ptr<OneDnnPrimitive> library;
  std::unique_ptr<OneDnnPrimitive> joint_library;  // Step.joint, where lanes run together: for the rows of all; or null
  bool reduces_batch = false;
  // LaneReduce, AllReduce
  fb::ReduceKind reduce = fb::ReduceKind::Sum;
  // ScatterAdd: elements of a row of the table.
  int64_t width = 0;
  // Global sections.
  PlannedWork work;
  std::optional<PlannedWork> others;  // without what block updates do (block_updates.h)

  bool WritesVariables() const;
};

// A lane slot that a map section's shards add to.
struct LaneMerge {
  fb::ReduceKind kind;
  Operand operand;
};

// A weight gradient that is applied block by block (block_updates.h).
struct BlockUpdate {
  const fb::BlockUpdateT* steps;
  int64_t rows = 0, columns = 0;
  int64_t block_rows = 0, strip_rows = 0;  // of a task; computed before they are applied
  std::vector<Operand> fetched;            // what the update touches beside the gradient (block_kernel.h)
};

struct PlannedSection {
  fb::SectionKind kind;
  std::vector<PlannedStep> steps;
  std::vector<LaneMerge> merges;
  std::vector<BlockUpdate> block_updates;
  int merges_id = 0;  // as PlannedStep::id
  bool run_inline = false;
  int lanes_together = 1;  // Map: Section.lanes_together, where every thread has so many
};

struct StepPlan {
  std::vector<PlannedSection> sections;
  std::vector<Operand> outputs;  // of the executable
  uint64_t scratch_bytes = 0;    // per thread, for library calls
  uint64_t staging_bytes = 0;    // per thread, for their operands in short shards
  int shard_arenas = 1;          // per thread: the most lanes that run together
  size_t max_operands = 0;
  int num_ids = 0;
};

// `executable` must outlive the plan. Errors: those of OneDnnPrimitive::Create with the step's name and location, and
// DataLoss for packed weights whose buffer is too small.
absl::StatusOr<StepPlan> MakeStepPlan(const Executable& executable, const LoadedKernels& kernels, int num_threads);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CPU_STEP_PLAN_H_
