#include "passes/buffer_table.h"

#include "mlir/IR/Builders.h"

namespace tandem {
namespace {

constexpr llvm::StringLiteral kBuffers = "exec.buffers", kArenas = "exec.arenas", kPeaks = "exec.peaks",
                              kLaneSlots = "exec.lane_slots", kOut = "exec.out", kArgs = "exec.args",
                              kBuffer = "exec.buffer";

template <typename T>
void SetArray(mlir::Operation* op, llvm::StringRef name, llvm::ArrayRef<T> values) {
  llvm::SmallVector<mlir::Attribute> attributes(values.begin(), values.end());
  op->setAttr(name, mlir::ArrayAttr::get(op->getContext(), attributes));
}

template <typename T>
llvm::SmallVector<T> GetArray(mlir::Operation* op, llvm::StringRef name) {
  llvm::SmallVector<T> values;
  auto attributes = op->getAttrOfType<mlir::ArrayAttr>(name);
  if (!attributes) return values;
  for (mlir::Attribute a : attributes) values.push_back(mlir::cast<T>(a));
  return values;
}

}  // namespace

int64_t RowBytes(mlir::Type type) {
  auto t = mlir::cast<mlir::RankedTensorType>(type);
  int64_t n = SizeOf(td::ToDType(t.getElementType()));
  for (int64_t d : t.getShape().drop_front()) n *= d;
  return n;
}

int64_t StaticBytes(mlir::Type type) {
  auto t = mlir::cast<mlir::RankedTensorType>(type);
  return t.getNumElements() * SizeOf(td::ToDType(t.getElementType()));
}

void SetBuffers(mlir::ModuleOp module, const std::vector<BufferInfo>& buffers) {
  llvm::SmallVector<exec::BufferAttr> rows;
  for (const BufferInfo& b : buffers) {
    rows.push_back(
        exec::BufferAttr::get(module.getContext(), b.name, b.space, b.index, b.offset, b.bytes, b.row_bytes, b.type));
  }
  SetArray<exec::BufferAttr>(module, kBuffers, rows);
}

std::vector<BufferInfo> GetBuffers(mlir::ModuleOp module) {
  std::vector<BufferInfo> buffers;
  for (exec::BufferAttr b : GetArray<exec::BufferAttr>(module, kBuffers)) {
    buffers.push_back(
        {b.getName().str(), b.getSpace(), b.getIndex(), b.getOffset(), b.getBytes(), b.getRowBytes(), b.getType()});
  }
  return buffers;
}

void SetArenas(mlir::ModuleOp module, exec::ArenasAttr arenas) { module->setAttr(kArenas, arenas); }
exec::ArenasAttr GetArenas(mlir::ModuleOp module) { return module->getAttrOfType<exec::ArenasAttr>(kArenas); }

void SetPeaks(mlir::ModuleOp module, llvm::ArrayRef<exec::PeakAttr> peaks) { SetArray(module, kPeaks, peaks); }
llvm::SmallVector<exec::PeakAttr> GetPeaks(mlir::ModuleOp module) { return GetArray<exec::PeakAttr>(module, kPeaks); }

void SetLaneSlots(exec::MapMicrobatchesOp map, llvm::ArrayRef<exec::LaneSlotAttr> slots) {
  SetArray(map, kLaneSlots, slots);
}
llvm::SmallVector<exec::LaneSlotAttr> GetLaneSlots(exec::MapMicrobatchesOp map) {
  return GetArray<exec::LaneSlotAttr>(map, kLaneSlots);
}

void SetResultBuffers(mlir::Operation* op, llvm::ArrayRef<int64_t> buffers) {
  op->setAttr(kOut, mlir::DenseI64ArrayAttr::get(op->getContext(), buffers));
}
mlir::DenseI64ArrayAttr GetResultBuffers(mlir::Operation* op) {
  return op->getAttrOfType<mlir::DenseI64ArrayAttr>(kOut);
}

void SetArgumentBuffers(exec::MapMicrobatchesOp map, llvm::ArrayRef<int64_t> buffers) {
  map->setAttr(kArgs, mlir::DenseI64ArrayAttr::get(map.getContext(), buffers));
}
mlir::DenseI64ArrayAttr GetArgumentBuffers(exec::MapMicrobatchesOp map) {
  return map->getAttrOfType<mlir::DenseI64ArrayAttr>(kArgs);
}

void SetArgumentBuffer(mlir::func::FuncOp step, unsigned argument, int64_t buffer) {
  step.setArgAttr(argument, kBuffer, mlir::Builder(step.getContext()).getI64IntegerAttr(buffer));
}
int64_t GetArgumentBuffer(mlir::func::FuncOp step, unsigned argument) {
  auto buffer = step.getArgAttrOfType<mlir::IntegerAttr>(argument, kBuffer);
  return buffer ? buffer.getInt() : -1;
}

}  // namespace tandem
