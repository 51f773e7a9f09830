#include "passes/phases/commands/commands.h"

#include "graph/ir/shape.h"
#include "mlir/IR/Matchers.h"
#include "passes/base/pass_util.h"
#include "passes/target/target.h"

namespace tandem {
namespace {

constexpr llvm::StringLiteral kExecution = "exec.execution", kBlockUpdate = "exec.block_update", kFlat = "exec.flat";

}  // namespace

mlir::func::FuncOp CpuStep(mlir::ModuleOp module) {
  if (!TargetOf(module)->has_lanes() || !GetArenas(module)) return nullptr;
  return StepFunction(module);
}

bool IsCommand(mlir::Operation& op) {
  return !op.hasTrait<mlir::OpTrait::IsTerminator>() && !mlir::isa<td::ReshapeOp>(op) &&
         !mlir::matchPattern(&op, mlir::m_Constant());
}

std::vector<mlir::Operation*> CommandsOf(mlir::Block& block) {
  std::vector<mlir::Operation*> commands;
  for (mlir::Operation& op : block) {
    if (IsCommand(op)) commands.push_back(&op);
  }
  return commands;
}

bool MayEndStep(mlir::Operation* op) {
  auto command = mlir::dyn_cast<exec::CommandOp>(op);
  return command && command.mayEndStep();
}

bool IsBorder(mlir::Operation* op) { return mlir::isa<exec::MapMicrobatchesOp>(op) || MayEndStep(op); }

std::optional<format::Domain> LaunchedDomain(mlir::Operation* op) {
  auto launch = mlir::dyn_cast<exec::LaunchOp>(op);
  if (!launch) return std::nullopt;
  return exec::DomainOf(launch.getKernelKind());
}

Execution GetExecution(mlir::Operation* op) {
  auto attr = op->getAttrOfType<exec::ExecutionAttr>(kExecution);
  if (!attr) return {};
  return {attr.getInvariant(),     attr.getRunInline(), attr.getTogether(),
          attr.getLanesTogether(), attr.getJoint(),     attr.getOverlap()};
}

void SetExecution(mlir::Operation* op, const Execution& e) {
  if (e == Execution{}) {
    op->removeAttr(kExecution);
    return;
  }
  op->setAttr(kExecution, exec::ExecutionAttr::get(op->getContext(), e.invariant, e.run_inline, e.together,
                                                   e.lanes_together, e.joint, e.overlap));
}

exec::BlockUpdateAttr GetBlockUpdate(exec::LaunchOp gradient) {
  return gradient->getAttrOfType<exec::BlockUpdateAttr>(kBlockUpdate);
}

void SetBlockUpdate(exec::LaunchOp gradient, exec::BlockUpdateAttr update) { gradient->setAttr(kBlockUpdate, update); }

std::optional<BlockUpdate> FindBlockUpdate(exec::LaunchOp gradient, exec::BlockUpdateAttr attr) {
  if (gradient->getNumResults() != 1) return std::nullopt;
  BlockUpdate found;
  for (mlir::OpOperand& use : gradient->getResult(0).getUses()) {
    const int64_t operand = use.getOperandNumber();
    if (auto check = mlir::dyn_cast<exec::CheckFiniteOp>(use.getOwner())) {
      if (operand == attr.getCheck()) found.check = check;
    } else if (auto group = mlir::dyn_cast<exec::GroupedLaunchOp>(use.getOwner())) {
      const int64_t operands = group->getNumOperands() / static_cast<int64_t>(group.getMembers());
      if (operand == attr.getMember() * operands + attr.getArgument()) found.update = group;
    }
  }
  return found.check && found.update ? std::optional(found) : std::nullopt;
}

bool IsFlat(mlir::ModuleOp module) { return module->hasAttr(kFlat); }
void SetFlat(mlir::ModuleOp module) { module->setAttr(kFlat, mlir::UnitAttr::get(module.getContext())); }

Place Places::Of(mlir::Value value) const {
  const format::Buffer& b = Buffer(value);
  const auto index = static_cast<int64_t>(b.index), offset = static_cast<int64_t>(b.offset);
  switch (b.space) {
    case exec::Space::kVariable:
    case exec::Space::kInput:
    case exec::Space::kScalar:
      return {b.space, index, index + 1};
    default:
      return {b.space, offset, offset + static_cast<int64_t>(b.bytes)};
  }
}

bool Places::Writes(mlir::Operation* a, mlir::Operation* b) const {
  return llvm::any_of(a->getResults(), [&](mlir::Value written) {
    const auto overlaps = [&](mlir::Value v) { return Of(v).Overlaps(Of(written)); };
    return llvm::any_of(b->getOperands(), overlaps) || llvm::any_of(b->getResults(), overlaps);
  });
}

}  // namespace tandem
