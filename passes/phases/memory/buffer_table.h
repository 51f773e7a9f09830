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
#include <vector>

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/exec/dialect.h"

namespace tandem {

void SetBuffers(mlir::ModuleOp module, const std::vector<format::Buffer>& buffers);
// Returns an empty list before td-assign-buffers.
std::vector<format::Buffer> GetBuffers(mlir::ModuleOp module);

void SetArenas(mlir::ModuleOp module, exec::ArenasAttr arenas);
// Returns null before td-assign-buffers.
exec::ArenasAttr GetArenas(mlir::ModuleOp module);

void SetPeaks(mlir::ModuleOp module, llvm::ArrayRef<exec::PeakAttr> peaks);
llvm::SmallVector<exec::PeakAttr> GetPeaks(mlir::ModuleOp module);

void SetLaneSlots(exec::MapMicrobatchesOp map, llvm::ArrayRef<exec::LaneSlotAttr> slots);
llvm::SmallVector<exec::LaneSlotAttr> GetLaneSlots(exec::MapMicrobatchesOp map);

// The buffer numbers of an op's results, of the arguments of a map's body and of an argument of @step. The getters
// return null or -1 where none were set.
void SetResultBuffers(mlir::Operation* op, llvm::ArrayRef<int64_t> buffers);
mlir::DenseI64ArrayAttr GetResultBuffers(mlir::Operation* op);
void SetArgumentBuffers(exec::MapMicrobatchesOp map, llvm::ArrayRef<int64_t> buffers);
mlir::DenseI64ArrayAttr GetArgumentBuffers(exec::MapMicrobatchesOp map);
void SetArgumentBuffer(mlir::func::FuncOp step, unsigned argument, int64_t buffer);
int64_t GetArgumentBuffer(mlir::func::FuncOp step, unsigned argument);
// Returns the number of the buffer of any value: a result of an op, or an argument of @step or of a map's body.
int64_t BufferOf(mlir::Value value);

// Checks what the functions above and their callers rely on: every value has a buffer of the table, and every result
// that lanes combine has a slot. Emits an error where it is not so.
mlir::LogicalResult VerifyBuffers(mlir::func::FuncOp step);

}  // namespace tandem

#endif  // TANDEM_PASSES_PHASES_MEMORY_BUFFER_TABLE_H_
