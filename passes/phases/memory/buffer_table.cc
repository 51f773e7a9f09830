#include "passes/phases/memory/buffer_table.h"

#include <functional>

#include "llvm/ADT/SmallVectorExtras.h"
#include "mlir/IR/Builders.h"
#include "passes/base/pass_util.h"
#include "passes/exec/format_attributes.h"
#include "passes/target/target.h"

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

// True if attribute `name` of `op` is missing or a list of T.
template <typename T>
bool IsArrayOf(mlir::Operation* op, llvm::StringRef name) {
  mlir::Attribute attribute = op->getAttr(name);
  auto array = mlir::dyn_cast_if_present<mlir::ArrayAttr>(attribute);
  return !attribute || (array && llvm::all_of(array, [](mlir::Attribute a) { return mlir::isa<T>(a); }));
}

mlir::LogicalResult VerifySlots(exec::MapMicrobatchesOp map, const std::function<bool(int64_t)>& exists) {
  if (!IsArrayOf<exec::LaneSlotAttr>(map, kLaneSlots)) return map.emitError() << kLaneSlots << " is no list of slots";
  const llvm::SmallVector<exec::LaneSlotAttr> slots = GetLaneSlots(map);
  size_t combined = 0;
  for (unsigned i = 0; i < map.getNumResults(); ++i) combined += map.getCombine(i) != exec::Combine::kKeep;
  if (!TargetOf(map->getParentOfType<mlir::ModuleOp>())->has_lanes()) combined = 0;
  if (slots.size() != combined) {
    return map.emitError() << "has " << slots.size() << " lane slots for " << combined << " results that lanes combine";
  }
  for (exec::LaneSlotAttr slot : slots) {
    if (!exists(slot.getBuffer()))
      return map.emitError() << "has a lane slot in buffer " << slot.getBuffer() << ", which does not exist";
  }
  return mlir::success();
}

}  // namespace

format::Buffer& BufferAssignment::Append(mlir::Value value, std::string name, exec::Space space) {
  numbers_[value] = static_cast<int64_t>(buffers_.size());
  format::Buffer& buffer = buffers_.emplace_back();
  buffer.name = std::move(name);
  buffer.space = space;
  buffer.row_bytes = td::IsBatched(value.getType()) ? RowBytes(value.getType()) : 0;
  buffer.dtype = td::ToDType(mlir::getElementTypeOrSelf(value.getType()));
  buffer.shape = td::ToShape(value.getType());
  buffer.common = space == exec::Space::kStep && common_.contains(value);
  return buffer;
}

void BufferAssignment::Add(mlir::Value value, exec::Space space, int64_t offset, int64_t bytes) {
  format::Buffer& buffer = Append(value, ValueName(value), space);
  buffer.offset = offset;
  buffer.bytes = bytes;
}

void BufferAssignment::AddNumbered(mlir::Value value, std::string name, exec::Space space, int64_t index,
                                   int64_t bytes) {
  format::Buffer& buffer = Append(value, std::move(name), space);
  buffer.index = static_cast<uint32_t>(index);
  buffer.bytes = bytes;
}

void BufferAssignment::AddView(mlir::Value view, mlir::Value value) {
  const format::Buffer source = buffers_[NumberOf(value)];
  format::Buffer& buffer = Append(view, ValueName(view), source.space);
  buffer.index = source.index;
  buffer.offset = source.offset;
  buffer.bytes = source.bytes;
}

void BufferAssignment::Annotate(mlir::func::FuncOp step) const {
  mlir::Builder b(step.getContext());
  for (mlir::BlockArgument a : step.getArguments()) {
    step.setArgAttr(a.getArgNumber(), kBuffer, b.getI64IntegerAttr(NumberOf(a)));
  }
  step.walk([&](mlir::Operation* op) {
    if (op == step.getOperation()) return;
    SetResultBuffers(op, NumbersOf(op->getResults()));
    auto map = mlir::dyn_cast<exec::MapMicrobatchesOp>(op);
    if (map) map->setAttr(kArgs, b.getDenseI64ArrayAttr(NumbersOf(map.getBody().getArguments())));
  });
  llvm::SmallVector<exec::BufferAttr> rows;
  for (const format::Buffer& buffer : buffers_) rows.push_back(exec::ToAttr(step.getContext(), buffer));
  SetArray<exec::BufferAttr>(step->getParentOfType<mlir::ModuleOp>(), kBuffers, rows);
}

llvm::SmallVector<int64_t> BufferAssignment::NumbersOf(mlir::ValueRange values) const {
  return llvm::map_to_vector(values, [&](mlir::Value v) { return NumberOf(v); });
}

std::vector<format::Buffer> GetBuffers(mlir::ModuleOp module) {
  std::vector<format::Buffer> buffers;
  for (exec::BufferAttr b : GetArray<exec::BufferAttr>(module, kBuffers)) buffers.push_back(exec::ToTable(b));
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

mlir::DenseI64ArrayAttr GetArgumentBuffers(exec::MapMicrobatchesOp map) {
  return map->getAttrOfType<mlir::DenseI64ArrayAttr>(kArgs);
}

int64_t GetArgumentBuffer(mlir::func::FuncOp step, unsigned argument) {
  auto buffer = step.getArgAttrOfType<mlir::IntegerAttr>(argument, kBuffer);
  return buffer ? buffer.getInt() : -1;
}

int64_t BufferOf(mlir::Value value) {
  if (auto result = mlir::dyn_cast<mlir::OpResult>(value)) {
    return GetResultBuffers(result.getOwner())[result.getResultNumber()];
  }
  auto argument = mlir::cast<mlir::BlockArgument>(value);
  mlir::Operation* parent = argument.getOwner()->getParentOp();
  if (auto function = mlir::dyn_cast<mlir::func::FuncOp>(parent)) {
    return GetArgumentBuffer(function, argument.getArgNumber());
  }
  return GetArgumentBuffers(mlir::cast<exec::MapMicrobatchesOp>(parent))[argument.getArgNumber()];
}

mlir::LogicalResult VerifyBuffers(mlir::func::FuncOp step) {
  auto module = step->getParentOfType<mlir::ModuleOp>();
  if (!IsArrayOf<exec::BufferAttr>(module, kBuffers)) return module.emitError() << kBuffers << " is no list of buffers";
  auto table = module->getAttrOfType<mlir::ArrayAttr>(kBuffers);
  const int64_t count = table ? static_cast<int64_t>(table.size()) : 0;
  const auto exists = [&](int64_t buffer) { return 0 <= buffer && buffer < count; };
  const auto are = [&](mlir::DenseI64ArrayAttr buffers, size_t values) {
    return buffers && static_cast<size_t>(buffers.size()) == values && llvm::all_of(buffers.asArrayRef(), exists);
  };
  for (unsigned i = 0; i < step.getNumArguments(); ++i) {
    if (!exists(GetArgumentBuffer(step, i))) {
      return mlir::emitError(step.getArgument(i).getLoc()) << "argument " << i << " of @step has no buffer";
    }
  }
  mlir::WalkResult result = step.walk([&](mlir::Operation* op) {
    if (op == step.getOperation()) return mlir::WalkResult::advance();
    mlir::LogicalResult verified = mlir::success();
    if (!are(GetResultBuffers(op), op->getNumResults())) {
      verified = op->emitError() << "has no buffers for its " << op->getNumResults() << " results";
    } else if (auto map = mlir::dyn_cast<exec::MapMicrobatchesOp>(op)) {
      verified = are(GetArgumentBuffers(map), map.getBody().getNumArguments())
                     ? VerifySlots(map, exists)
                     : map.emitError() << "has no buffers for the arguments of its body";
    }
    return mlir::failed(verified) ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
  });
  return mlir::failure(result.wasInterrupted());
}

}  // namespace tandem
