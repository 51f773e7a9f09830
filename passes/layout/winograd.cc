// td-winograd, as Passes.td describes it.
#include "passes/exec/winograd.h"
#include "absl/strings/str_format.h"
#include "graph/ir/binary.h"
#include "graph/ir/contract.h"
#include "graph/ir/shape.h"
#include "graph/ir/unary.h"
#include "passes/analysis/measure_step.h"
#include "passes/analysis/winograd_cost.h"
#include "passes/channel_bias.h"
#include "passes/exec/dialect.h"
#include "passes/exec/winograd.h"
#include "passes/layout/residual.h"
#include "passes/pass_util.h"
#include "passes/passes.h"
#include "passes/target/target.h"

namespace tandem {

#define GEN_PASS_DEF_WINOGRADPASS
#include "passes/passes.h.inc"

namespace {

class WinogradPass : public impl::WinogradPassBase<WinogradPass> {
 public:
  void runOnOperation() final {
    mlir::ModuleOp module = getOperation();
    mlir::func::FuncOp step = StepFunction(module);
    target_ = TargetOf(module);
    if (!step || !target_->generates_contractions() || ConfigOf(module).isStrictFloat32()) return;
    absl::StatusOr<MachineModel> machine = MachineModelOf(module);
    if (!machine.ok()) {
      module->emitError() << std::string(machine.status().message());
      return signalPassFailure();
    }
    notes_.clear();
    for (auto map : step.getOps<exec::MapMicrobatchesOp>()) {
      llvm::SmallVector<td::LibraryOp> ops(map.getBody().getOps<td::LibraryOp>());
      for (td::LibraryOp op : ops) Consider(op, map, *machine);
    }
    if (!notes_.empty()) module->setAttr("exec.winograd", mlir::ArrayAttr::get(&getContext(), notes_));
  }

 private:
  static bool RoleOf(td::LibraryOp op, WinogradRole& role) {
    if (mlir::isa<td::Conv2DOp>(op)) {
      role = WinogradRole::kForward;
    } else if (mlir::isa<td::Conv2DInputGradOp>(op)) {
      role = WinogradRole::kInputGrad;
    } else if (mlir::isa<td::Conv2DFilterGradOp>(op)) {
      role = WinogradRole::kFilterGrad;
    } else {
      return false;
    }
    return true;
  }

  static bool Qualifies(td::LibraryOp op, const td::LibraryCallSpec& spec) {
    for (mlir::Value v : {spec.x, spec.kernel, spec.y}) {
      mlir::Type element = td::TypeOf(v).getElementType();
      if (!element.isF32() && !element.isBF16()) return false;
    }
    // The gradient of a kernel is a sum over lanes.
    if (spec.weights < 0 && !td::TypeOf(spec.kernel).getElementType().isF32()) return false;
    if (!td::IsBatched(spec.x.getType()) || !td::IsBatched(spec.y.getType())) return false;
    llvm::ArrayRef<int64_t> kernel = td::TypeOf(spec.kernel).getShape();
    if (kernel[0] != 3 || kernel[1] != 3) return false;
    for (int i = 0; i < 2; ++i) {
      if (spec.strides[i] != 1 || spec.pad_low[i] > 2 || spec.pad_high[i] > 2) return false;
    }
    // A kernel that the map itself computes cannot be transformed in front of it.
    return spec.weights < 0 || mlir::isa<mlir::BlockArgument>(op->getOperand(spec.weights));
  }

  void Consider(td::LibraryOp op, exec::MapMicrobatchesOp map, const MachineModel& machine) {
    WinogradRole role;
    if (!RoleOf(op, role)) return;
    const td::LibraryCallSpec spec = op.getLibraryCallSpec();
    if (!Qualifies(op, spec)) return;
    llvm::ArrayRef<int64_t> x = td::TypeOf(spec.x).getShape(), y = td::TypeOf(spec.y).getShape();
    WinogradShape shape = {x[1], x[2], y[1], y[2], x[3], y[3], spec.pad_low[0], spec.pad_low[1], 0, 0};
    const int64_t rows = map.getShardRows();
    const int64_t shards = map.getLanes() * ((map.getRowsPerLane() + rows - 1) / rows);
    const bool bfloat16 = td::TypeOf(op->getOperand(0)).getElementType().isBF16();
    shape.bfloat16_products = bfloat16 && target_->has_bfloat16_products() && machine.vector_bf16 > machine.vector_f32;
    shape.bfloat16_dx = role == WinogradRole::kInputGrad && td::TypeOf(op->getResult(0)).getElementType().isBF16();
    const WinogradChoice choice = ChooseWinograd(machine, shape, role, rows, shards, bfloat16);
    const double us = 1e6 / static_cast<double>(rows);
    Note(absl::StrFormat("%s %s: direct %.1f us a row, F(%dx%d, 3x3) in blocks of %d tiles %.1f us: %s",
                         LocationName(op->getLoc()), op.getPrimitiveName().str(), choice.direct_seconds * us,
                         choice.tile, choice.tile, choice.block, choice.winograd_seconds * us,
                         choice.profitable ? "taken" : "not taken"));
    if (!choice.profitable) return;
    shape.tile = choice.tile;
    shape.block = choice.block;
    Replace(op, map, spec, role, shape);
  }

  void Replace(td::LibraryOp op, exec::MapMicrobatchesOp map, const td::LibraryCallSpec& spec, WinogradRole role,
               const WinogradShape& s) {
    mlir::OpBuilder b(op);
    mlir::Location loc = op->getLoc();
    mlir::Type scratch = exec::ScratchType(&getContext(), s, role == WinogradRole::kFilterGrad);
    mlir::Value old = op->getResult(0), result;
    llvm::SmallVector<mlir::Operation*> replaced = {op};
    if (role == WinogradRole::kForward) {
      mlir::Value bias, residual;
      bool relu = false;
      TakeEpilogue(old, replaced, bias, residual, relu);
      old = replaced.back()->getResult(0);
      b.setInsertionPoint(replaced.back());
      result =
          b.create<exec::WinogradConv2DOp>(loc, old.getType(), scratch, spec.x, Transformed(op, map, spec, s, false),
                                           bias, residual, s.tile, s.block, spec.pad_low, relu)
              .getOutput();
    } else if (role == WinogradRole::kInputGrad) {
      result = b.create<exec::WinogradInputGradOp>(loc, old.getType(), scratch, spec.y,
                                                   Transformed(op, map, spec, s, true), s.tile, s.block, spec.pad_low)
                   .getDx();
    } else {
      result = b.create<exec::WinogradFilterGradOp>(loc, old.getType(), scratch, spec.x, spec.y, s.tile, s.block,
                                                    spec.pad_low, s.bfloat16_products)
                   .getDkernel();
    }
    old.replaceAllUsesWith(result);
    for (mlir::Operation* r : llvm::reverse(replaced)) {
      if (r->use_empty()) r->erase();
    }
  }

  // Follows y -> add(y, broadcast(bias)) -> add(y, residual) -> relu as far as each is the only use.
  static void TakeEpilogue(mlir::Value y, llvm::SmallVector<mlir::Operation*>& replaced, mlir::Value& bias,
                           mlir::Value& residual, bool& relu) {
    auto add = mlir::dyn_cast_or_null<td::AddOp>(OnlyUser(y));
    if (add && (bias = ChannelBiasOf(add, y))) {
      replaced.push_back(add);
      y = add->getResult(0);
      add = mlir::dyn_cast_or_null<td::AddOp>(OnlyUser(y));
    }
    if (add && (residual = ResidualOf(add, y))) {
      replaced.push_back(add);
      y = add->getResult(0);
    }
    if (auto next = mlir::dyn_cast_or_null<td::ReluOp>(OnlyUser(y))) {
      replaced.push_back(next);
      relu = true;
    }
  }

  // The transformed kernel as a value of the map's body.
  static mlir::Value Transformed(td::LibraryOp op, exec::MapMicrobatchesOp map, const td::LibraryCallSpec& spec,
                                 const WinogradShape& s, bool adjoint) {
    auto argument = mlir::cast<mlir::BlockArgument>(op->getOperand(spec.weights));
    int64_t rows = adjoint ? s.channels_out : s.channels_in, columns = adjoint ? s.channels_in : s.channels_out;
    mlir::Value plain = map.getOperand(argument.getArgNumber());
    mlir::OpBuilder b = BehindValue(map, plain);
    mlir::Type element = s.bfloat16_products ? mlir::Type(b.getBF16Type()) : mlir::Type(b.getF32Type());
    mlir::Type type = exec::TransformedKernelType(element, s.tile, rows, columns);
    mlir::Value u = b.create<exec::WinogradKernelOp>(op->getLoc(), type, plain, s.tile, adjoint);
    map.getOperandsMutable().append(u);
    return map.getBody().front().addArgument(type, op->getLoc());
  }

  void Note(const std::string& text) { notes_.push_back(mlir::StringAttr::get(&getContext(), text)); }

  std::shared_ptr<const Target> target_;
  llvm::SmallVector<mlir::Attribute> notes_;
};

}  // namespace

}  // namespace tandem
