// The memory plan of a program, as td-assign-buffers leaves it in attributes of the module and its ops.
//
//   exec.buffers    of the module: all buffers (exec::BufferAttr), a buffer's number is its position
//   exec.out        of an op: the buffers of its results
//   exec.args       of a map: the buffers of its body's arguments
//   exec.buffer     of an argument of @step: its buffer
//   exec.lane_slots of a map: exec::LaneSlotAttr per result that lanes sum up
//   exec.arenas, exec.peaks of the module: exec::ArenasAttr, exec::PeakAttr
#ifndef TANDEM_PASSES_PHASES_MEMORY_BUFFER_TABLE_H_
#define TANDEM_PASSES_PHASES_MEMORY_BUFFER_TABLE_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/exec/dialect.h"

namespace tandem {

// The buffers that td-assign-buffers has given values so far.
class BufferAssignment {
 public:
  // `common`: the values that are the same on every device.
  explicit BufferAssignment(llvm::DenseSet<mlir::Value> common) : common_(std::move(common)) {}

  bool Has(mlir::Value value) const { return numbers_.contains(value); }
  // Returns the number of the value's buffer; -1 for a value that has none.
  int64_t NumberOf(mlir::Value value) const { return Has(value) ? numbers_.lookup(value) : -1; }

  // Places `value` in `bytes` bytes from `offset` on in the arena of `space`.
  void Add(mlir::Value value, exec::Space space, int64_t offset, int64_t bytes);
  // Places `value` in the input, step scalar or variable with number `index`.
  void AddNumbered(mlir::Value value, std::string name, exec::Space space, int64_t index, int64_t bytes);
  // Places `view` in the bytes of `value`, as a buffer with its own type.
  void AddView(mlir::Value view, mlir::Value value);
  // Makes `value` use the buffer of `other`.
  void Share(mlir::Value value, mlir::Value other) { numbers_[value] = NumberOf(other); }

  // Writes the buffers and their numbers into attributes of the module and its ops.
  void Annotate(mlir::func::FuncOp step) const;

 private:
  format::Buffer& Append(mlir::Value value, std::string name, exec::Space space);
  llvm::SmallVector<int64_t> NumbersOf(mlir::ValueRange values) const;

  llvm::DenseSet<mlir::Value> common_;
  std::vector<format::Buffer> buffers_;
  llvm::DenseMap<mlir::Value, int64_t> numbers_;
};

// Returns the module's buffers by number; an empty list before td-assign-buffers.
std::vector<format::Buffer> GetBuffers(mlir::ModuleOp module);

void SetArenas(mlir::ModuleOp module, exec::ArenasAttr arenas);
// Returns the sizes of the module's arenas; null before td-assign-buffers.
exec::ArenasAttr GetArenas(mlir::ModuleOp module);

void SetPeaks(mlir::ModuleOp module, llvm::ArrayRef<exec::PeakAttr> peaks);
llvm::SmallVector<exec::PeakAttr> GetPeaks(mlir::ModuleOp module);

void SetLaneSlots(exec::MapMicrobatchesOp map, llvm::ArrayRef<exec::LaneSlotAttr> slots);
llvm::SmallVector<exec::LaneSlotAttr> GetLaneSlots(exec::MapMicrobatchesOp map);

// Set and get the numbers of the buffers of an op's results, of the arguments of a map's body, and of an argument of
// @step. The getters return null or -1 if none were set.
void SetResultBuffers(mlir::Operation* op, llvm::ArrayRef<int64_t> buffers);
mlir::DenseI64ArrayAttr GetResultBuffers(mlir::Operation* op);
mlir::DenseI64ArrayAttr GetArgumentBuffers(exec::MapMicrobatchesOp map);
int64_t GetArgumentBuffer(mlir::func::FuncOp step, unsigned argument);
// Returns the number of the buffer of any value: a result of an op, or an argument of @step or of a map's body.
int64_t BufferOf(mlir::Value value);

// Checks what the functions above and their callers rely on: every value has a buffer of the table, and every result
// that lanes combine has a lane slot (memory for a lane's sum). Emits an error where it is not so.
mlir::LogicalResult VerifyBuffers(mlir::func::FuncOp step);

}  // namespace tandem

#endif  // TANDEM_PASSES_PHASES_MEMORY_BUFFER_TABLE_H_
