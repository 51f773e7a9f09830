// What the passes of phase `commands` have in common: the commands of a CPU program, where they read and write, and
// their attributes.
#ifndef TANDEM_PASSES_COMMANDS_COMMANDS_H_
#define TANDEM_PASSES_COMMANDS_COMMANDS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "graph/ir/dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/buffer_table.h"
#include "passes/exec/dialect.h"
#include "passes/exec/kernel_kind.h"

namespace tandem {

// The step of a program for CPUs whose buffers are assigned; else null. A GPU runs its commands as its streams say.
mlir::func::FuncOp CpuStep(mlir::ModuleOp module);

// Whether the runtime has something to do for `op`: not for constants, views and terminators.
bool IsCommand(mlir::Operation& op);

// The commands of a block in order.
std::vector<mlir::Operation*> CommandsOf(mlir::Block& block);

// What the kernel that `op` launches runs over; none of an op that is no exec.launch.
std::optional<format::Domain> LaunchedDomain(mlir::Operation* op);

// exec::ExecutionAttr, which stands on an op under exec.execution, while it changes.
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

// Null of a gradient that is stored as a whole.
exec::BlockUpdateAttr GetBlockUpdate(exec::LaunchOp gradient);
void SetBlockUpdate(exec::LaunchOp gradient, exec::BlockUpdateAttr update);
// The check and the update that `attr` speaks of; none where there are no such.
struct BlockUpdate {
  exec::CheckFiniteOp check;
  exec::GroupedLaunchOp update;
};
std::optional<BlockUpdate> FindBlockUpdate(exec::LaunchOp gradient, exec::BlockUpdateAttr attr);

// The attribute exec.flat of the module: the program runs as one list of calls.
bool IsFlat(mlir::ModuleOp module);
void SetFlat(mlir::ModuleOp module);

// Bytes [begin, end) of a space.
struct Place {
  exec::Space space;
  int64_t begin, end;

  bool Overlaps(const Place& other) const { return space == other.space && begin < other.end && other.begin < end; }
};

// The places of values.
class Places {
 public:
  explicit Places(mlir::ModuleOp module) : buffers_(GetBuffers(module)) {}

  const format::Buffer& Buffer(mlir::Value value) const { return buffers_[BufferOf(value)]; }
  // Values of spaces that are counted, not measured (variables, inputs, scalars), have places of their own.
  Place Of(mlir::Value value) const;
  // Whether one of the two writes what the other one reads or writes.
  bool Conflict(mlir::Operation* a, mlir::Operation* b) const { return Writes(a, b) || Writes(b, a); }

 private:
  // Whether `a` writes what `b` touches.
  bool Writes(mlir::Operation* a, mlir::Operation* b) const;

  std::vector<format::Buffer> buffers_;
};

}  // namespace tandem

#endif  // TANDEM_PASSES_COMMANDS_COMMANDS_H_
