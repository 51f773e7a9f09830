// td-outline-kernels: sets the kinds of kernels, flattens elementwise ones, and keeps one of several equal kernels
// (passes/Passes.td).
#include <map>
#include <optional>
#include <string>

#include "graph/ir/dialect.h"
#include "graph/ir/interfaces.h"
#include "graph/ir/shape.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"
#include "passes/base/pass_util.h"
#include "passes/base/passes.h"
#include "passes/codegen/kernel_text.h"
#include "passes/codegen/reduction.h"
#include "passes/exec/kernel_kind.h"
#include "passes/phases/fusion/elementwise_kernel.h"

namespace tandem {

#define GEN_PASS_DEF_OUTLINEKERNELSPASS
#include "passes/passes.h.inc"

namespace {

using td::TypeOf;

exec::KernelKind KindOf(mlir::func::FuncOp kernel) {
  bool batched = false, sums = false, reduces = false;
  kernel.walk([&](td::ElementalOp op) {
    batched |= llvm::any_of(op->getOperandTypes(), td::IsBatched) || llvm::any_of(op->getResultTypes(), td::IsBatched);
    if (IsBatchReduce(op)) {
      sums = true;
    } else {
      reduces |= op.getFusionKind() == td::FusionKind::kReduce;
    }
  });
  if (batched) {
    return sums ? exec::KernelKind::kCol : reduces ? exec::KernelKind::kRow : exec::KernelKind::kLoop;
  }
  const std::optional<llvm::ArrayRef<int64_t>> shape = ElementwiseShape(kernel);
  return shape && !shape->empty() ? exec::KernelKind::kFlat : exec::KernelKind::kOnce;
}

// Makes an elementwise kernel flat: the common shape of its tensors becomes one dynamic dimension.
void Flatten(mlir::func::FuncOp kernel) {
  auto flat = [&](mlir::Type t) -> mlir::Type {
    auto type = mlir::cast<mlir::RankedTensorType>(t);
    if (type.getRank() == 0) return type;
    return mlir::RankedTensorType::get({mlir::ShapedType::kDynamic}, type.getElementType());
  };
  mlir::Block& body = kernel.getBody().front();
  for (mlir::Operation& op : llvm::make_early_inc_range(body.without_terminator())) {
    auto constant = mlir::dyn_cast<td::ConstantOp>(op);
    if (!constant || TypeOf(constant.getResult()).getRank() == 0) continue;
    // A splat constant has a fixed shape, so it is replaced by a broadcast of a scalar.
    mlir::OpBuilder b(&op);
    auto elements = mlir::cast<mlir::DenseElementsAttr>(constant.getValue());
    auto scalar = mlir::RankedTensorType::get({}, elements.getElementType());
    auto value = mlir::DenseElementsAttr::get(scalar, elements.getSplatValue<mlir::Attribute>());
    auto small = b.create<td::ConstantOp>(op.getLoc(), scalar, value);
    auto wide =
        b.create<td::BroadcastOp>(op.getLoc(), flat(constant.getType()), small.getResult(), llvm::ArrayRef<int64_t>{});
    constant.getResult().replaceAllUsesWith(wide.getResult());
    op.erase();
  }
  for (mlir::Value argument : body.getArguments()) argument.setType(flat(argument.getType()));
  for (mlir::Operation& op : body.without_terminator()) {
    for (mlir::Value result : op.getResults()) result.setType(flat(result.getType()));
  }
  kernel.setFunctionType(
      mlir::FunctionType::get(kernel.getContext(), body.getArgumentTypes(), body.getTerminator()->getOperandTypes()));
}

// Stores the names of `launch`'s results as an attribute, since its kernel `own`, which has them, is replaced by the
// equal kernel `shared`.
void KeepNames(exec::LaunchOp launch, mlir::func::FuncOp own, mlir::func::FuncOp shared) {
  mlir::Builder b(launch.getContext());
  const auto names = [&](mlir::func::FuncOp kernel) {
    llvm::SmallVector<mlir::Attribute> result;
    for (mlir::Value v : kernel.getBody().front().getTerminator()->getOperands()) {
      result.push_back(b.getStringAttr(LocationName(v.getLoc())));
    }
    return b.getArrayAttr(result);
  };
  if (names(own) != names(shared)) launch->setAttr(kLaunchNames, names(own));
}

class OutlineKernelsPass : public impl::OutlineKernelsPassBase<OutlineKernelsPass> {
 public:
  void runOnOperation() final {
    mlir::SymbolTable symbols(getOperation());
    llvm::SmallVector<exec::LaunchOp> launches;
    getOperation().walk<mlir::WalkOrder::PreOrder>([&](exec::LaunchOp launch) { launches.push_back(launch); });
    std::map<std::string, mlir::func::FuncOp> by_text;
    llvm::SmallVector<mlir::func::FuncOp> kept;
    llvm::DenseMap<mlir::Operation*, mlir::func::FuncOp> canonical;
    llvm::SmallVector<mlir::func::FuncOp> doubles;
    for (exec::LaunchOp launch : launches) {
      auto kernel = symbols.lookup<mlir::func::FuncOp>(launch.getKernel());
      if (!kernel) {
        launch.emitError("launches an unknown kernel @") << launch.getKernel();
        return signalPassFailure();
      }
      if (!canonical.count(kernel)) {
        // A kernel of another kind than `cluster` was given its kind when it was outlined.
        if (exec::GetKernelKind(kernel).value_or(exec::KernelKind::kCluster) == exec::KernelKind::kCluster) {
          exec::SetKernelKind(kernel, KindOf(kernel));
        }
        if (exec::GetKernelKind(kernel) == exec::KernelKind::kFlat) Flatten(kernel);
        auto [it, is_new] = by_text.emplace(KernelText(kernel), kernel);
        canonical[kernel] = it->second;
        (is_new ? kept : doubles).push_back(kernel);
      }
      if (canonical[kernel] != kernel) KeepNames(launch, kernel, canonical[kernel]);
      launch.setKernel(canonical[kernel].getName());
    }
    for (mlir::func::FuncOp kernel : doubles) symbols.erase(kernel);
    // Renames twice, first to temporary names, so that no final name is taken.
    for (bool final_names : {false, true}) {
      llvm::StringMap<std::string> renamed;
      for (unsigned i = 0; i < kept.size(); ++i) {
        std::string name = (final_names ? "kernel_" : "exec.kernel.") + std::to_string(i);
        renamed[kept[i].getName()] = name;
        symbols.remove(kept[i]);
        kept[i].setName(name);
      }
      for (mlir::func::FuncOp kernel : kept) symbols.insert(kernel);
      for (exec::LaunchOp launch : launches) launch.setKernel(renamed[launch.getKernel()]);
    }
  }
};

}  // namespace

}  // namespace tandem
