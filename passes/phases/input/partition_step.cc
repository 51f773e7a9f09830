// td-partition-step: keeps the part of a step that one task of a cluster with parameter servers computes
// (passes/Passes.td).
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "graph/ir/shape.h"
#include "graph/ir/signature.h"
#include "graph/ir/state.h"
#include "graph/parameter_servers.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseSet.h"
#include "passes/analysis/values_of_variables.h"
#include "passes/base/pass_util.h"
#include "passes/base/passes.h"
#include "passes/exec/dialect.h"
#include "passes/phases/input/placement.h"

namespace tandem {

#define GEN_PASS_DEF_PARTITIONSTEPPASS
#include "passes/passes.h.inc"

namespace {

using mlir::func::FuncOp;

class PartitionStepPass : public impl::PartitionStepPassBase<PartitionStepPass> {
 public:
  void runOnOperation() final {
    mlir::ModuleOp module = getOperation();
    const exec::PartAttr part = ConfigOf(module).getPart();
    FuncOp step = StepFunction(module);
    if (!part || !step) return;
    const Placement placement(VariablesOf(module), step, static_cast<int>(part.getServers()));
    for (const StepPartition::LostUpdate& lost : placement.partition().LostUpdates()) {
      if (lost.serves_rows) {
        if (part.getServer() >= 0) continue;  // only the worker's program warns, so that one step has one warning
        lost.op->emitWarning()
            << "the new value of " << lost.variable
            << " is computed by a worker from the old one, which its batch needs as well, and takes "
               "the place of what other workers have assigned since: right where each step makes the "
               "value anew, wrong where steps add to it";
        continue;
      }
      lost.op->emitError() << "the new value of " << lost.variable
                           << " would be computed by a worker from the old one, so that updates of other workers would "
                              "be lost: it is read by the update of a variable on another parameter server, or needs "
                              "one, or is a mean over replicas; with one server, or as a slot of "
                           << lost.variable
                           << ", variables are in one place, and CrossReplicaMean can be taken of the statistic";
      return signalPassFailure();
    }
    Describe(module, placement.parts());
    if (part.getServer() < 0) {
      MarkUpdated(module, step);
      KeepWorker(step, placement, static_cast<int>(part.getServers()));
    } else {
      KeepServer(module, step, placement, static_cast<int>(part.getServer()));
    }
    EraseUnused(module, step);
  }

 private:
  static void Describe(mlir::ModuleOp module, const std::vector<PlacedPart>& parts) {
    mlir::MLIRContext* context = module.getContext();
    llvm::SmallVector<mlir::Attribute> attributes;
    for (const PlacedPart& part : parts) {
      attributes.push_back(exec::PlacedPartAttr::get(context, part.variable, part.server, part.first_row, part.rows));
    }
    module->setAttr(exec::kPlacementAttr, mlir::ArrayAttr::get(context, attributes));
  }

  static void MarkUpdated(mlir::ModuleOp module, FuncOp step) {
    for (unsigned i = 0; i < step.getNumResults(); ++i) {
      mlir::FlatSymbolRefAttr update = td::UpdateOf(step, i);
      if (!update) continue;
      module.lookupSymbol<td::VariableOp>(update.getAttr())
          ->setAttr(kUpdatedByOthersAttr, mlir::UnitAttr::get(module.getContext()));
    }
  }

  // Keeps a worker's part of the step. Values that servers need become outputs, and updates that servers compute are
  // removed.
  static void KeepWorker(FuncOp step, const Placement& placement, int servers) {
    mlir::Operation* terminator = step.getBody().front().getTerminator();
    mlir::OpBuilder builder(terminator);
    std::vector<std::pair<std::string, SentRows>> sent;
    for (int server = 0; server < servers; ++server) {
      for (int64_t number = 0; const auto& [rows, owners] : placement.SentTo(server)) {
        sent.emplace_back(SentValueName(server, number++, ValueName(rows.value)), rows);
      }
    }
    EraseResults(step, [&](unsigned i) { return static_cast<bool>(td::UpdateOf(step, i)); });
    for (const auto& [name, rows] : sent) {
      mlir::Value value = rows.value;
      if (rows.rows > 0) {
        llvm::SmallVector<int64_t> begin(rows.Type().getRank(), 0);
        begin[0] = rows.first_row;
        value = builder.create<td::SliceOp>(value.getLoc(), rows.Type(), value, begin, rows.Type().getShape());
      }
      auto attribute = builder.getNamedAttr(td::kOutputAttr, builder.getStringAttr(name));
      (void)step.insertResult(step.getNumResults(), value.getType(), builder.getDictionaryAttr(attribute));
      terminator->insertOperands(terminator->getNumOperands(), value);
    }
  }

  // Keeps a server's part of the step. Values that workers send become variables of the server's program.
  static void KeepServer(mlir::ModuleOp module, FuncOp step, const Placement& placement, int server) {
    const StepPartition& partition = placement.partition();
    mlir::OpBuilder builder(module.getContext());
    builder.setInsertionPoint(step);
    for (int64_t number = 0; const auto& [sent, owners] : placement.SentTo(server)) {
      mlir::Value value = sent.value;
      const std::string name = SentValueName(server, number++, ValueName(value));
      auto variable = builder.create<td::VariableOp>(value.getLoc(), name, sent.Type(), /*trainable=*/false,
                                                     /*slot_of=*/mlir::StringAttr(), /*initializer=*/mlir::ArrayAttr());
      variable->setAttr(kUpdatedByOthersAttr, builder.getUnitAttr());
      auto attribute =
          builder.getNamedAttr(td::kVariableAttr, mlir::FlatSymbolRefAttr::get(builder.getContext(), name));
      const unsigned argument = step.getNumArguments();
      (void)step.insertArgument(argument, sent.Type(), builder.getDictionaryAttr(attribute), value.getLoc());
      value.replaceUsesWithIf(step.getArgument(argument), [&, &owners = owners](mlir::OpOperand& use) {
        return owners.contains(partition.ReaderOf(use));
      });
    }
    const std::map<int, const PlacedPart*> owners = placement.OwnersAt(server);
    EraseResults(step, [&](unsigned i) {
      mlir::FlatSymbolRefAttr update = td::UpdateOf(step, i);
      return !update || !owners.contains(partition.OwnerOf(update));
    });
    for (const auto& [owner, part] : owners) {
      if (part != nullptr) KeepRows(step, partition, owner, part->rows);
    }
    mlir::Block& body = step.getBody().front();
    RenameParts(module, step, placement, server);
    step.setType(builder.getFunctionType(body.getArgumentTypes(), body.getTerminator()->getOperandTypes()));
  }

  // Changes the types of all tensors that `owner` computes to `rows` rows.
  static void KeepRows(FuncOp step, const StepPartition& partition, int owner, int64_t rows) {
    const std::vector<mlir::Operation*> ops = partition.OpsOf(owner);
    const auto narrow = [&](mlir::Value value) {
      if (!IsScalar(value)) value.setType(WithRows(value.getType(), rows));
    };
    const auto narrow_anybodys = [&](mlir::OpOperand& operand) {
      mlir::Operation* maker = operand.get().getDefiningOp();
      if (maker == nullptr || !partition.IsAnybodys(maker) || IsScalar(operand.get())) return;
      operand.set(NarrowCopy(operand.get(), rows));
    };
    for (mlir::Operation* op : ops) {
      for (mlir::OpOperand& operand : op->getOpOperands()) narrow_anybodys(operand);
      for (mlir::Value result : op->getResults()) narrow(result);
    }
    for (mlir::OpOperand& update : step.getBody().front().getTerminator()->getOpOperands()) {
      if (partition.ReaderOf(update) == owner) narrow_anybodys(update);
    }
    for (mlir::BlockArgument argument : step.getArguments()) {
      mlir::FlatSymbolRefAttr variable = td::VariableOf(step, argument.getArgNumber());
      if (variable && partition.Owns(owner, variable)) narrow(argument);
    }
  }

  // Returns a copy of `value` with `rows` rows. It is computed from scalars and constants alone.
  static mlir::Value NarrowCopy(mlir::Value value, int64_t rows) {
    mlir::Operation* maker = value.getDefiningOp();
    mlir::OpBuilder builder(maker->getContext());
    builder.setInsertionPointAfter(maker);
    auto type = WithRows(value.getType(), rows);
    if (auto constant = mlir::dyn_cast<td::ConstantOp>(maker)) {
      auto elements = mlir::cast<mlir::DenseElementsAttr>(constant.getValue()).resizeSplat(type);
      return builder.create<td::ConstantOp>(maker->getLoc(), type, elements);
    }
    mlir::Operation* copy = builder.clone(*maker);
    for (mlir::OpOperand& operand : copy->getOpOperands()) {
      if (!IsScalar(operand.get())) operand.set(NarrowCopy(operand.get(), rows));
    }
    mlir::Value narrow = copy->getResult(mlir::cast<mlir::OpResult>(value).getResultNumber());
    narrow.setType(type);
    return narrow;
  }

  // Gives variables of which the server has only some rows the names of these parts.
  static void RenameParts(mlir::ModuleOp module, FuncOp step, const Placement& placement, int server) {
    mlir::MLIRContext* context = module.getContext();
    const auto name_of = [&](llvm::StringRef variable) -> std::optional<std::string> {
      const PlacedPart* part = placement.PartOf(server, variable);
      return part == nullptr || part->whole() ? std::nullopt : std::make_optional(part->name());
    };
    for (unsigned i = 0; i < step.getNumArguments(); ++i) {
      mlir::FlatSymbolRefAttr variable = td::VariableOf(step, i);
      const auto name = variable ? name_of(variable.getValue()) : std::nullopt;
      if (name) step.setArgAttr(i, td::kVariableAttr, mlir::FlatSymbolRefAttr::get(context, *name));
    }
    for (unsigned i = 0; i < step.getNumResults(); ++i) {
      mlir::FlatSymbolRefAttr update = td::UpdateOf(step, i);
      const auto name = update ? name_of(update.getValue()) : std::nullopt;
      if (name) step.setResultAttr(i, td::kUpdateAttr, mlir::FlatSymbolRefAttr::get(context, *name));
    }
    for (auto variable : module.getOps<td::VariableOp>()) {
      const auto name = name_of(variable.getSymName());
      if (!name) continue;
      const PlacedPart& part = *placement.PartOf(server, variable.getSymName());
      if (variable.getSlotOf()) variable.setSlotOf(*name_of(*variable.getSlotOf()));
      variable.setType(WithRows(variable.getType(), part.rows));
      variable.setSymName(*name);
    }
  }

  static void EraseResults(FuncOp step, llvm::function_ref<bool(unsigned)> erased) {
    llvm::BitVector results(step.getNumResults());
    for (unsigned i = 0; i < step.getNumResults(); ++i) results[i] = erased(i);
    step.getBody().front().getTerminator()->eraseOperands(results);
    (void)step.eraseResults(results);
  }

  // Erases ops, arguments and declarations that nothing needs any more.
  static void EraseUnused(mlir::ModuleOp module, FuncOp step) {
    mlir::Block& body = step.getBody().front();
    for (mlir::Operation& op : llvm::make_early_inc_range(llvm::reverse(body))) {
      if (op.use_empty() && &op != body.getTerminator()) op.erase();
    }
    llvm::BitVector unused(step.getNumArguments());
    for (mlir::BlockArgument a : step.getArguments()) unused[a.getArgNumber()] = a.use_empty();
    (void)step.eraseArguments(unused);
    llvm::DenseSet<mlir::Attribute> needed;
    for (unsigned i = 0; i < step.getNumArguments(); ++i) {
      if (mlir::FlatSymbolRefAttr variable = td::VariableOf(step, i)) needed.insert(variable.getAttr());
    }
    for (unsigned i = 0; i < step.getNumResults(); ++i) {
      if (mlir::FlatSymbolRefAttr variable = td::UpdateOf(step, i)) needed.insert(variable.getAttr());
    }
    for (auto variable : llvm::make_early_inc_range(module.getOps<td::VariableOp>())) {
      if (!needed.contains(variable.getSymNameAttr())) variable.erase();
    }
  }
};

}  // namespace

}  // namespace tandem
