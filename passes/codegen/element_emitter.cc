#include "passes/codegen/element_emitter.h"

#include "absl/strings/str_cat.h"
#include "graph/ir/dist.h"
#include "graph/ir/register_type.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Iterators.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/codegen/bfloat16.h"
#include "passes/codegen/loop_nest.h"
#include "passes/codegen/reduction.h"

namespace tandem {
namespace {

namespace arith = mlir::arith;
namespace LLVM = mlir::LLVM;

// The context that an op's emitElement gets, by which it reads elements of the op's operands.
class OpContext : public td::ElementalContext {
 public:
  OpContext(ElementEmitter& emitter, mlir::Operation* op) : emitter_(emitter), op_(op) {}
  mlir::Value Operand(unsigned operand, mlir::ValueRange indices) override {
    return emitter_.Element(op_->getLoc(), op_->getOperand(operand), indices);
  }
  mlir::Value RowOffset() override { return emitter_.row_offset(); }
  mlir::OpBuilder& builder() override { return emitter_.builder(); }
  mlir::Location loc() override { return op_->getLoc(); }

 private:
  ElementEmitter& emitter_;
  mlir::Operation* op_;
};

bool IsWithin(mlir::Block* inner, mlir::Block* outer) {
  for (mlir::Block* b = inner; b != nullptr;) {
    if (b == outer) return true;
    mlir::Operation* parent = b->getParentOp();
    b = parent ? parent->getBlock() : nullptr;
  }
  return false;
}

// True if an op only moves numbers: its results are among its operands' elements, so there is nothing to round.
bool MovesNumbers(mlir::Operation* op) {
  auto precision = mlir::dyn_cast<td::PrecisionOp>(op);
  return precision && precision.getPrecisionRule() == td::PrecisionRule::kClear;
}

mlir::Value AddressOf(ElementEmitter& e, mlir::Location loc, mlir::Type type, ElementEmitter::Buffer buffer,
                      mlir::ValueRange indices) {
  llvm::ArrayRef<int64_t> dims = mlir::cast<mlir::RankedTensorType>(type).getShape();
  if (buffer.one_row) {
    indices = indices.drop_front();
    dims = dims.drop_front();
  }
  mlir::Value linear = e.indices().Linearize(loc, indices, dims);
  mlir::Type element = StorageType(mlir::cast<mlir::RankedTensorType>(type).getElementType());
  return e.at(loc).Address(buffer.pointer, element, linear, /*inbounds=*/true);
}

}  // namespace

mlir::Type StorageType(mlir::Type element_type) {
  if (auto i = mlir::dyn_cast<mlir::IntegerType>(element_type)) {
    return mlir::IntegerType::get(i.getContext(), i.getWidth() == 1 ? 8 : i.getWidth());
  }
  if (element_type.isBF16()) return mlir::IntegerType::get(element_type.getContext(), 16);
  return element_type;
}

int64_t StorageBytes(mlir::Type element_type) { return (StorageType(element_type).getIntOrFloatBitWidth() + 7) / 8; }

mlir::Value ElementEmitter::Load(mlir::Location loc, mlir::Type type, Buffer buffer, mlir::ValueRange indices) {
  mlir::Type element = mlir::cast<mlir::RankedTensorType>(type).getElementType();
  mlir::Value address = AddressOf(*this, loc, type, buffer, indices);
  mlir::Value value = builder_.create<LLVM::LoadOp>(loc, StorageType(element), address);
  if (element.isBF16()) return WidenBFloat16(builder_, loc, value);
  if (!element.isInteger(1)) return value;
  mlir::Value zero = builder_.create<arith::ConstantOp>(loc, builder_.getI8IntegerAttr(0));
  return builder_.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ne, value, zero);
}

void ElementEmitter::Store(mlir::Location loc, mlir::Type type, Buffer buffer, mlir::ValueRange indices,
                           mlir::Value element) {
  if (element.getType().isInteger(1)) {
    element = builder_.create<arith::ExtUIOp>(loc, builder_.getI8Type(), element);
  }
  if (mlir::cast<mlir::RankedTensorType>(type).getElementType().isBF16() && element.getType().isF32()) {
    element = NarrowToBFloat16(builder_, loc, element);
  }
  mlir::Type expected = StorageType(mlir::cast<mlir::RankedTensorType>(type).getElementType());
  if (element.getType() != expected && status.ok()) {
    status = absl::InternalError("an op emitted an element of another type than its result");
  }
  builder_.create<LLVM::StoreOp>(loc, element, AddressOf(*this, loc, type, buffer, indices));
}

void ElementEmitter::BindElement(mlir::Location loc, mlir::Value tensor, mlir::Value element) {
  const bool rounds = mlir::getElementTypeOrSelf(tensor.getType()).isBF16();
  elements_[tensor] = rounds ? RoundToBFloat16(builder_, loc, element) : element;
}

void* ElementEmitter::Number(mlir::Value value) {
  auto known = number_of_.find(value);
  if (known != number_of_.end()) return known->second;
  void* number = value.getAsOpaquePointer();
  mlir::Operation* op = value.getDefiningOp();
  if (op != nullptr && op->getNumRegions() == 0 && op->getNumResults() == 1 && mlir::isMemoryEffectFree(op)) {
    Key key = {const_cast<void*>(op->getName().getAsOpaquePointer()),
               const_cast<void*>(op->getAttrDictionary().getAsOpaquePointer()),
               const_cast<void*>(value.getType().getAsOpaquePointer())};
    for (mlir::Value operand : op->getOperands()) key.push_back(Number(operand));
    number = numbers_.emplace(std::move(key), number).first->second;
  }
  number_of_[value] = number;
  return number;
}

mlir::Value ElementEmitter::Element(mlir::Location loc, mlir::Value tensor, mlir::ValueRange indices) {
  Key key = {tensor.getAsOpaquePointer()};
  for (mlir::Value index : indices) key.push_back(Number(index));
  auto known = memo_.find(key);
  if (known != memo_.end() && IsWithin(builder_.getInsertionBlock(), known->second.block)) return known->second.value;
  mlir::Block* block = builder_.getInsertionBlock();
  mlir::Value value = Emit(loc, tensor, indices);
  memo_[key] = {block, value};
  return value;
}

mlir::Value ElementEmitter::Emit(mlir::Location loc, mlir::Value tensor, mlir::ValueRange indices) {
  auto type = mlir::cast<mlir::RankedTensorType>(tensor.getType());
  if (mlir::Value element = elements_.lookup(tensor)) {
    if (on_load) on_load(tensor, indices);
    return element;
  }
  auto buffer = buffers_.find(tensor);
  if (buffer != buffers_.end()) {
    if (on_load) on_load(tensor, indices);
    return Load(loc, type, buffer->second, indices);
  }
  mlir::Operation* op = tensor.getDefiningOp();
  if (op != nullptr && op->getName().getStringRef() == "td.reshape") {
    auto from = mlir::cast<mlir::RankedTensorType>(op->getOperand(0).getType());
    return Element(op->getLoc(), op->getOperand(0),
                   indices_.Reshape(op->getLoc(), indices, type.getShape(), from.getShape()));
  }
  if (IsBatchReduce(op) && status.ok()) {
    status = absl::InternalError("a kernel uses a sum over the batch before all rows are done");
  }
  // Every result is rounded, so that a value is the same number whether it is stored or computed again in another
  // kernel.
  auto rounded = [&](mlir::Value v) { return type.getElementType().isBF16() ? RoundToBFloat16(builder_, loc, v) : v; };
  if (ReductionOf(op)) return rounded(EmitReduce(op, indices));
  auto elemental = mlir::dyn_cast_or_null<td::ElementalOp>(op);
  if (!elemental) {
    if (status.ok()) {
      status = absl::InternalError(absl::StrCat(
          op ? op->getName().getStringRef().str() : "an argument without a buffer", " cannot be part of a kernel"));
    }
    return builder_.create<arith::ConstantOp>(loc, builder_.getZeroAttr(td::RegisterType(type.getElementType())));
  }
  OpContext context(*this, op);
  mlir::Value value = elemental.emitElement(context, mlir::cast<mlir::OpResult>(tensor).getResultNumber(), indices);
  if (op->hasAttr(td::kRoundedAttr)) {
    if (auto product = value.getDefiningOp<arith::MulFOp>()) {
      product->setAttr(td::kRoundedAttr, builder_.getUnitAttr());
    }
  }
  return MovesNumbers(op) ? value : rounded(value);
}

mlir::Value ElementEmitter::ReduceRow(mlir::Operation* op, mlir::Value row, mlir::ValueRange kept) {
  if (ReductionOf(op)) return EmitReduce(op, kept, row);
  llvm::SmallVector<mlir::Value> indices = {row};
  llvm::append_range(indices, kept);
  OpContext context(*this, op);
  return mlir::cast<td::ElementalOp>(op).emitElement(context, 0, indices);
}

mlir::Value ElementEmitter::Addend(mlir::Operation* op, mlir::ValueRange indices) {
  OpContext context(*this, op);
  return mlir::cast<td::ElementalOp>(op).emitElement(context, 0, indices);
}

mlir::Value ElementEmitter::ReducedElement(mlir::Operation* op, const Reduction& reduction, mlir::ValueRange kept,
                                           const Digits& digits) {
  auto shape = mlir::cast<mlir::RankedTensorType>(op->getOperand(0).getType()).getShape();
  llvm::SmallVector<int64_t> reduced;
  for (int64_t axis : reduction.axes) reduced.push_back(shape[axis]);
  const llvm::SmallVector<mlir::Value> over = indices_.Split(op->getLoc(), digits, reduced);
  llvm::SmallVector<mlir::Value> at;
  unsigned next_kept = 0, next_reduced = 0;
  for (int64_t d = 0; d < static_cast<int64_t>(shape.size()); ++d) {
    const bool is_reduced = next_reduced < reduction.axes.size() && reduction.axes[next_reduced] == d;
    at.push_back(is_reduced ? over[next_reduced++] : kept[next_kept++]);
  }
  return Element(op->getLoc(), op->getOperand(0), at);
}

mlir::Value ElementEmitter::EmitReduce(mlir::Operation* op, mlir::ValueRange kept, mlir::Value row) {
  Reduction reduction = *ReductionOf(op);
  llvm::SmallVector<mlir::Value> fixed(kept);
  if (row) {  // the row is a fixed index, like those of kept dimensions
    reduction.axes.erase(reduction.axes.begin());
    fixed.insert(fixed.begin(), row);
  }
  mlir::Location loc = op->getLoc();
  const Space space = ReducedSpace(op, reduction);
  auto element_at = [&](const Point& point) { return ReducedElement(op, reduction, fixed, point.digits); };
  auto groups = PlanLoops(*this, loc, space, {}, [&](const Point& p) { element_at(p); });
  mlir::Type scalar = td::RegisterType(mlir::getElementTypeOrSelf(op->getOperand(0).getType()));
  std::function<mlir::Value(unsigned, Point, mlir::Value)> emit = [&](unsigned depth, Point point,
                                                                      mlir::Value accumulator) {
    if (depth == groups.size()) {
      mlir::Value element = element_at(point);
      return Combine(builder_, loc, reduction.kind, accumulator, element, /*reassociate=*/true);
    }
    const LoopBounds bounds = BoundsOf(*this, loc, space, groups[depth]);
    return at(loc).For(bounds.begin, bounds.end, 1, {accumulator},
                       [&](mlir::Value variable, const IndexBuilder::Values& before) -> IndexBuilder::Values {
                         Point next = point;
                         next.digits.append(DigitsOf(*this, loc, space, groups[depth], variable));
                         return {emit(depth + 1, next, before[0])};
                       })[0];
  };
  return emit(0, Point{}, NeutralElement(builder_, loc, reduction.kind, scalar));
}

void ElementEmitter::Trial(mlir::Location loc, llvm::ArrayRef<int64_t> radices, IndexProbe& probe,
                           std::function<void(mlir::Block&)> body) {
  // Nothing that the trial emits may be reused afterwards.
  auto memo = memo_;
  auto numbers = numbers_;
  auto number_of = number_of_;
  IndexAlgebra::State state = indices_.Save();
  IndexProbe* outer = indices_.probe;

  mlir::OpBuilder::InsertionGuard guard(builder_);
  auto region = builder_.create<mlir::scf::ExecuteRegionOp>(loc, mlir::TypeRange{});
  mlir::Block* block = builder_.createBlock(&region.getRegion());
  for (int64_t radix : radices) probe.digits.push_back({block->addArgument(builder_.getIndexType(), loc), radix});
  probe.split.assign(radices.empty() ? 0 : radices.size() - 1, false);
  indices_.probe = &probe;
  body(*block);
  indices_.probe = outer;

  // Erases unused ops first. A digit that is then still used, by another op than the address computations that the
  // probe recorded, needs a loop of its own.
  for (bool changed = true; changed;) {
    changed = false;
    region.getRegion().walk<mlir::WalkOrder::PostOrder, mlir::ReverseIterator>([&](mlir::Operation* op) {
      if (mlir::isOpTriviallyDead(op)) {
        op->erase();
        changed = true;
      }
    });
  }
  for (unsigned k = 0; k < radices.size(); ++k) {
    if (probe.digits[k].value.use_empty()) continue;
    if (k > 0) probe.split[k - 1] = true;
    if (k + 1 < radices.size()) probe.split[k] = true;
  }
  region.erase();
  memo_ = std::move(memo);
  numbers_ = std::move(numbers);
  number_of_ = std::move(number_of);
  indices_.Restore(std::move(state));
}

}  // namespace tandem
