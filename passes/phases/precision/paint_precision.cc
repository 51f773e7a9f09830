// td-paint-precision: chooses which ops compute with bfloat16 operands in mixed precision (passes/Passes.td).
#include <memory>
#include <optional>

#include "graph/ir/attention.h"
#include "graph/ir/build.h"
#include "graph/ir/contract.h"
#include "graph/ir/interfaces.h"
#include "graph/ir/norm.h"
#include "graph/ir/shape.h"
#include "graph/ir/unary.h"
#include "passes/base/pass_util.h"
#include "passes/base/passes.h"
#include "passes/phases/precision/precision_decisions.h"
#include "passes/phases/precision/precision_painter.h"

namespace tandem {

#define GEN_PASS_DEF_PAINTPRECISIONPASS
#include "passes/passes.h.inc"

namespace {

// Results with up to this many elements per row may stay float32: storing them costs little compared with computing
// them.
constexpr int64_t kSmallRow = 1024;

class PaintPrecisionPass : public impl::PaintPrecisionPassBase<PaintPrecisionPass> {
 public:
  void runOnOperation() final {
    mlir::ModuleOp module = getOperation();
    const std::shared_ptr<const Target> target = TargetOf(module);
    PrecisionRules rules;
    if (absl::Status s = ReadPrecisionRules(module, *target, &rules); !s.ok()) {
      module.emitError() << std::string(s.message());
      return signalPassFailure();
    }
    mlir::func::FuncOp step = StepFunction(module);
    if (!step || ConfigOf(module).getPrecision() != Precision::kMixedBfloat16) return;
    PaintedOps ops = PaintOps(step.getBody().front(), rules, *target);
    Explain(ops);
    painted_ = std::move(ops.painted);
    for (mlir::Operation& op : step.getBody().front()) {
      if (painted_.contains(&op)) SetResultTypes(&op);
    }
    for (mlir::Operation& op : llvm::make_early_inc_range(step.getBody().front())) CastOperands(&op);
    for (auto softmax : llvm::make_early_inc_range(step.getBody().front().getOps<td::SoftmaxOp>()))
      KeepRounded(softmax);
  }

 private:
  void Explain(const PaintedOps& ops) {
    llvm::SmallVector<mlir::Attribute> notes;
    for (const auto& [op, reason] : ops.reasons) {
      notes.push_back(exec::PrecisionDecisionAttr::get(&getContext(), op->getName().getStringRef(),
                                                       LocationName(op->getLoc()),
                                                       ops.painted.contains(op) ? "bfloat16" : "float32", reason));
    }
    if (!notes.empty()) SetPrecisionDecisions(getOperation(), notes);
  }

  void SetResultTypes(mlir::Operation* op) {
    if (KeepsFloat32(op)) return;
    for (mlir::Value v : op->getResults()) {
      if (IsFloat32(v) && !IsStatistic(op, v)) v.setType(WithElement(v, mlir::BFloat16Type::get(&getContext())));
    }
  }

  // True for statistics of attention, which are float32 whatever type the operands have.
  static bool IsStatistic(mlir::Operation* op, mlir::Value v) {
    if (auto forward = mlir::dyn_cast<td::AttentionOp>(op)) return v == forward.getLargest() || v == forward.getSum();
    auto gradient = mlir::dyn_cast<td::AttentionGradOp>(op);
    return gradient && (v == gradient.getLargest() || v == gradient.getSum());
  }

  bool KeepsFloat32(mlir::Operation* op) {
    bool batched = llvm::any_of(op->getOperandTypes(), td::IsBatched);
    for (mlir::Value v : op->getResults()) {
      if (batched && !td::IsBatched(v.getType()))
        continue;  // a sum over the batch stays float32 while it is added up over microbatches and lanes
      bool read = llvm::any_of(v.getUsers(), [&](mlir::Operation* user) { return painted_.contains(user); });
      if (read || (td::IsBatched(v.getType()) && RowSize(v) > kSmallRow)) return false;
    }
    auto precision = mlir::dyn_cast<td::PrecisionOp>(op);
    return precision && precision.useFloat32Results();
  }

  void CastOperands(mlir::Operation* op) {
    const bool painted = painted_.contains(op);
    for (mlir::OpOperand& operand : op->getOpOperands()) {
      mlir::Type element = mlir::getElementTypeOrSelf(operand.get().getType());
      if (painted && IsStatistic(op, operand.get())) continue;
      if (painted ? element.isF32() : element.isBF16()) operand.set(CastOf(operand.get()));
    }
  }

  // Returns the value cast to the other type, float32 or bfloat16. There is one cast per value, right behind the op
  // that computes it.
  mlir::Value CastOf(mlir::Value v) {
    mlir::Value& cast = casts_[v];
    if (cast) return cast;
    mlir::OpBuilder builder(&getContext());
    builder.setInsertionPointAfterValue(v);
    mlir::Type to = mlir::getElementTypeOrSelf(v.getType()).isBF16() ? builder.getF32Type() : builder.getBF16Type();
    if (std::optional<double> number = SplatOf(v)) {
      cast = td::BuildSplat(builder, v.getLoc(), WithElement(v, to), *number);
    } else {
      cast = builder.create<td::CastOp>(v.getLoc(), WithElement(v, to), v);
    }
    return cast;
  }

  // The weights of attention are the largest values of a step. If a product reads them rounded to bfloat16, all other
  // readers do too, so that they are stored only once.
  void KeepRounded(td::SoftmaxOp softmax) {
    mlir::Value weights = softmax.getResult(), rounded = casts_.lookup(weights);
    if (!rounded || !llvm::any_of(rounded.getUsers(), llvm::IsaPred<td::BatchMatMulOp>)) return;
    weights.replaceUsesWithIf(CastOf(rounded),
                              [&](mlir::OpOperand& use) { return use.getOwner() != rounded.getDefiningOp(); });
  }

  static mlir::Type WithElement(mlir::Value v, mlir::Type element) {
    return mlir::cast<mlir::RankedTensorType>(v.getType()).clone(element);
  }

  static int64_t RowSize(mlir::Value v) {
    int64_t size = 1;
    for (int64_t d : mlir::cast<mlir::RankedTensorType>(v.getType()).getShape()) {
      size *= mlir::ShapedType::isDynamic(d) ? 1 : d;
    }
    return size;
  }

  llvm::DenseSet<mlir::Operation*> painted_;
  llvm::DenseMap<mlir::Value, mlir::Value> casts_;
};

}  // namespace

}  // namespace tandem
