#include "passes/codegen/op_weight.h"

#include <algorithm>

#include "graph/ir/interfaces.h"
#include "graph/ir/register_type.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/codegen/element_emitter.h"
#include "passes/codegen/reduction.h"

namespace tandem {
namespace {

// Estimates how often `op` runs: a loop around it, or the op itself if it is a loop, counts as 8 iterations.
int64_t LoopTrips(mlir::Operation* op) {
  int64_t trips = 1;
  for (; op != nullptr; op = op->getParentOp()) {
    if (mlir::isa<mlir::scf::ForOp>(op)) trips *= 8;
  }
  return trips;
}

// Returns undefined constants as operands, so that only the op's own code is emitted.
class TrialContext : public td::ElementalContext {
 public:
  TrialContext(mlir::OpBuilder& builder, mlir::Operation* op, mlir::Value row)
      : reads(op->getNumOperands()), builder_(builder), op_(op), row_(row) {}
  std::vector<int64_t> reads;

  mlir::Value Operand(unsigned operand, mlir::ValueRange) override {
    reads[operand] += LoopTrips(builder_.getInsertionBlock()->getParentOp());
    mlir::Type type = mlir::cast<mlir::RankedTensorType>(op_->getOperand(operand).getType()).getElementType();
    return builder_.create<mlir::LLVM::UndefOp>(op_->getLoc(), td::RegisterType(type));
  }
  mlir::Value RowOffset() override { return row_; }
  mlir::OpBuilder& builder() override { return builder_; }
  mlir::Location loc() override { return op_->getLoc(); }

 private:
  mlir::OpBuilder& builder_;
  mlir::Operation* op_;
  mlir::Value row_;
};

int64_t WeightOfEmitted(mlir::Operation* op) {
  namespace math = mlir::math;
  namespace arith = mlir::arith;
  if (mlir::isa<math::AbsFOp, math::AbsIOp, math::FloorOp, math::CeilOp, math::FmaOp, math::RoundEvenOp>(op)) return 1;
  if (mlir::isa<math::SqrtOp, math::RsqrtOp, arith::DivFOp>(op)) return 4;
  if (mlir::isa<math::MathDialect>(op->getDialect())) return 12;
  if (mlir::isa<arith::ConstantOp, arith::IndexCastOp, mlir::LLVM::UndefOp, mlir::scf::YieldOp>(op)) return 0;
  return 1;
}

}  // namespace

void RegisterTrialDialects(mlir::DialectRegistry& registry) {
  registry.insert<mlir::arith::ArithDialect, mlir::math::MathDialect, mlir::scf::SCFDialect, mlir::LLVM::LLVMDialect>();
}

OpWeight WeightOf(mlir::Operation* op) {
  OpWeight weight;
  auto elemental = mlir::dyn_cast<td::ElementalOp>(op);
  if (!elemental) return weight;
  // The code of a loop structure (skeleton) combines elements, not the op itself.
  if (const std::optional<Reduction> reduction = ReductionOf(op)) {
    weight.ops = std::max<int64_t>(reduction->taps, 1);
    weight.reads.assign(op->getNumOperands(), 1);
    return weight;
  }
  mlir::MLIRContext* context = op->getContext();
  context->loadDialect<mlir::arith::ArithDialect, mlir::math::MathDialect, mlir::scf::SCFDialect,
                       mlir::LLVM::LLVMDialect>();
  mlir::OwningOpRef<mlir::ModuleOp> scratch = mlir::ModuleOp::create(op->getLoc());
  mlir::OpBuilder builder = mlir::OpBuilder::atBlockBegin(scratch->getBody());
  // Indices are arguments of the block, not constants, so that no op is folded away.
  auto region = builder.create<mlir::scf::ExecuteRegionOp>(op->getLoc(), mlir::TypeRange{});
  mlir::Block* block = builder.createBlock(&region.getRegion());
  auto index = [&] { return block->addArgument(builder.getIndexType(), op->getLoc()); };
  mlir::Value row = index();
  llvm::SmallVector<mlir::Value> indices;
  if (IsBatchReduce(op)) indices.push_back(index());  // index of the batch row whose addend is emitted
  auto type = mlir::cast<mlir::RankedTensorType>(op->getResult(0).getType());
  for (int64_t i = 0; i < type.getRank(); ++i) indices.push_back(index());
  TrialContext trial(builder, op, row);
  elemental.emitElement(trial, 0, indices);
  region.walk([&](mlir::Operation* emitted) {
    if (emitted == region) return;
    weight.ops += LoopTrips(emitted->getParentOp()) * WeightOfEmitted(emitted);
  });
  weight.reads = std::move(trial.reads);
  weight.expensive = weight.ops >= 12;
  return weight;
}

}  // namespace tandem
