// Helpers of the passes of phase `commands`: the commands of a CPU program, the memory that they read and write, and
// their attributes.
#ifndef TANDEM_PASSES_PHASES_COMMANDS_COMMANDS_H_
#define TANDEM_PASSES_PHASES_COMMANDS_COMMANDS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "graph/ir/dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/exec/dialect.h"
#include "passes/exec/kernel_kind.h"
#include "passes/phases/memory/buffer_table.h"

namespace tandem {

// Returns the step of a program for CPUs whose buffers are assigned; else null. Programs for GPUs have a schedule of
// streams instead (gpu_schedule.h).
mlir::func::FuncOp CpuStep(mlir::ModuleOp module);

// True if the runtime has something to do for `op`: false for constants, views and terminators.
bool IsCommand(mlir::Operation& op);

// Returns the commands of a block in order.
std::vector<mlir::Operation*> CommandsOf(mlir::Block& block);

// True if `op` may fail the step. No command may be moved across such an op.
bool MayEndStep(mlir::Operation* op);
// True if `op` ends a section (a list of commands that run alike), as a map does, or may end the step.
bool IsBorder(mlir::Operation* op);

// Returns what the range [begin, end) of the kernel that `op` launches counts; nothing if `op` is no exec.launch.
std::optional<format::Domain> LaunchedDomain(mlir::Operation* op);

// An exec::ExecutionAttr (attribute exec.execution of a command) as a struct whose members can be changed.
struct Execution {
  bool invariant = false;
  bool run_inline = false;
  int64_t together = 1;
  int64_t lanes_together = 1;
  bool joint = false;
  int64_t overlap = 0;

  bool operator==(const Execution&) const = default;
};
Execution GetExecution(mlir::Operation* op);
void SetExecution(mlir::Operation* op, const Execution& execution);

// Returns the commands that check and use a gradient in blocks of rows, as they are computed; null if the gradient is
// stored as a whole.
exec::BlockUpdateAttr GetBlockUpdate(exec::LaunchOp gradient);
void SetBlockUpdate(exec::LaunchOp gradient, exec::BlockUpdateAttr update);
// The finite check and the update that `attr`, a gradient's exec.block_update, refers to; nothing if they do not exist.
struct BlockUpdate {
  exec::CheckFiniteOp check;
  exec::GroupedLaunchOp update;
};
std::optional<BlockUpdate> FindBlockUpdate(exec::LaunchOp gradient, exec::BlockUpdateAttr attr);

// Gets and sets the attribute exec.flat of the module: whether the program runs as one list of calls, without sections.
bool IsFlat(mlir::ModuleOp module);
void SetFlat(mlir::ModuleOp module);

// Bytes [begin, end) of a memory space.
struct Place {
  exec::Space space;
  int64_t begin, end;

  bool Overlaps(const Place& other) const { return space == other.space && begin < other.end && other.begin < end; }
};

// Tells in which bytes of memory values are stored.
class Places {
 public:
  explicit Places(mlir::ModuleOp module) : buffers_(GetBuffers(module)) {}

  const format::Buffer& Buffer(mlir::Value value) const { return buffers_[BufferOf(value)]; }
  // Returns the bytes of a value. In spaces without offsets (variables, inputs, scalars) [begin, end) is the value's
  // index and the next one, so that no two values overlap.
  Place Of(mlir::Value value) const;
  // True if one of the two ops writes what the other one reads or writes.
  bool Conflict(mlir::Operation* a, mlir::Operation* b) const { return Writes(a, b) || Writes(b, a); }

 private:
  // True if `a` writes what `b` reads or writes.
  bool Writes(mlir::Operation* a, mlir::Operation* b) const;

  std::vector<format::Buffer> buffers_;
};

}  // namespace tandem

#endif  // TANDEM_PASSES_PHASES_COMMANDS_COMMANDS_H_
