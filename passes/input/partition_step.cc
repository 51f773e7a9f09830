// td-partition-step, as Passes.td describes it.
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "base/step_scalars.h"
#include "graph/ir/dist.h"
#include "graph/ir/interfaces.h"
#include "graph/ir/state.h"
#include "graph/parameter_servers.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"
#include "passes/analysis/values_of_variables.h"
#include "passes/pass_util.h"
#include "passes/passes.h"

namespace tandem {

#define GEN_PASS_DEF_PARTITIONSTEPPASS
#include "passes/passes.h.inc"

namespace {

using mlir::func::FuncOp;

absl::string_view View(llvm::StringRef text) { return {text.data(), text.size()}; }

// Which task computes the ops of a step.
class Partition {
 public:
  Partition(mlir::ModuleOp module, FuncOp step, int servers) : step_(step) {
    std::vector<VariableSpec> variables;
    for (auto variable : module.getOps<td::VariableOp>()) {
      VariableSpec spec;
      spec.name = variable.getSymName().str();
      spec.dtype = td::ToDType(mlir::cast<mlir::RankedTensorType>(variable.getType()).getElementType());
      spec.shape = td::ToShape(variable.getType());
      spec.slot_of = variable.getSlotOf().value_or("").str();
      variables.push_back(std::move(spec));
    }
    servers_of_variables_ = PlaceVariables(variables, servers);
    for (mlir::Operation& op : body().without_terminator()) {
      if (FollowsFromScalars(&op)) owners_[&op] = kAny;
    }
    for (mlir::Operation& op : llvm::reverse(body().without_terminator())) {
      if (!owners_.contains(&op)) owners_[&op] = FindOwner(&op);
    }
  }

  // The server that `variable` is placed on.
  int ServerOf(mlir::FlatSymbolRefAttr variable) const { return servers_of_variables_.at(variable.getValue().str()); }

  // The server that computes what reads `use`; kWorker for a worker.
  int ReaderOf(mlir::OpOperand& use) const {
    if (use.getOwner() != body().getTerminator()) return owners_.lookup(use.getOwner());
    mlir::FlatSymbolRefAttr update = td::UpdateOf(step_, use.getOperandNumber());
    return update ? ServerOf(update) : kWorker;
  }

  // What `server` reads of others, in the order of the program.
  llvm::SetVector<mlir::Value> SentTo(int server) const {
    llvm::SetVector<mlir::Value> values;
    for (mlir::Operation& op : body()) {
      for (mlir::OpOperand& operand : op.getOpOperands()) {
        if (ReaderOf(operand) == server && !Has(server, operand.get())) values.insert(operand.get());
      }
    }
    return values;
  }

  // An update that reads a variable's value of before and is not computed where the variable is, so that updates of
  // other workers would be lost.
  mlir::LogicalResult Verify() const {
    for (mlir::OpOperand& operand : body().getTerminator()->getOpOperands()) {
      mlir::FlatSymbolRefAttr update = td::UpdateOf(step_, operand.getOperandNumber());
      mlir::Operation* op = operand.get().getDefiningOp();
      if (!update || op == nullptr || owners_.lookup(op) != kWorker) continue;
      for (mlir::Value v : op->getOperands()) {
        auto argument = mlir::dyn_cast<mlir::BlockArgument>(v);
        if (!argument || td::VariableOf(step_, argument.getArgNumber()) != update) continue;
        return op->emitError() << "the new value of " << update
                               << " is read by the update of a variable on another parameter server; with one server, "
                                  "or as a slot of "
                               << update << ", they are in one place";
      }
    }
    return mlir::success();
  }

  static constexpr int kWorker = -1;

 private:
  static constexpr int kAny = -2;  // of step scalars and constants alone: whoever needs it

  mlir::Block& body() const { return const_cast<FuncOp&>(step_).getBody().front(); }

  int FindOwner(mlir::Operation* op) const {
    const auto batched = [](mlir::Value v) { return td::IsBatched(v.getType()); };
    if (llvm::any_of(op->getOperands(), batched) || llvm::any_of(op->getResults(), batched)) return kWorker;
    if (mlir::isa<td::CrossReplicaOp>(op) || op->use_empty()) return kWorker;
    int owner = kAny;
    for (mlir::OpOperand& use : op->getUses()) {
      // An output is the worker's own copy.
      if (use.getOwner() == body().getTerminator() && td::OutputOf(step_, use.getOperandNumber())) continue;
      const int reader = ReaderOf(use);
      if (owner != kAny && reader != owner) return kWorker;
      owner = reader;
    }
    if (owner < 0) return kWorker;
    for (mlir::Value operand : op->getOperands()) {
      auto argument = mlir::dyn_cast<mlir::BlockArgument>(operand);
      if (argument && !Has(owner, argument)) return kWorker;
    }
    return owner;
  }

  // Of an op whose operands have been asked about.
  bool FollowsFromScalars(mlir::Operation* op) const {
    return llvm::none_of(op->getResultTypes(), td::IsBatched) && llvm::all_of(op->getOperands(), [&](mlir::Value v) {
             if (mlir::Operation* maker = v.getDefiningOp()) return owners_.contains(maker);
             return IsStepScalar(mlir::cast<mlir::BlockArgument>(v));
           });
  }

  // A scalar that a server is told: not one that follows from the replicas and their rows, which are the workers'.
  bool IsStepScalar(mlir::BlockArgument argument) const {
    mlir::StringAttr scalar = td::ScalarOf(step_, argument.getArgNumber());
    return scalar && !IsSetBySession(scalar.str());
  }

  // Whether `server` has or computes `value`.
  bool Has(int server, mlir::Value value) const {
    if (mlir::Operation* op = value.getDefiningOp()) {
      const int owner = owners_.lookup(op);
      return owner == server || owner == kAny;
    }
    auto argument = mlir::cast<mlir::BlockArgument>(value);
    if (mlir::FlatSymbolRefAttr variable = td::VariableOf(step_, argument.getArgNumber())) {
      return ServerOf(variable) == server;
    }
    return IsStepScalar(argument);
  }

  FuncOp step_;
  std::map<std::string, int> servers_of_variables_;
  llvm::DenseMap<mlir::Operation*, int> owners_;
};

class PartitionStepPass : public impl::PartitionStepPassBase<PartitionStepPass> {
 public:
  void runOnOperation() final {
    mlir::ModuleOp module = getOperation();
    const exec::PartAttr part = ConfigOf(module).getPart();
    FuncOp step = StepFunction(module);
    if (!part || !step) return;
    const Partition partition(module, step, static_cast<int>(part.getServers()));
    if (mlir::failed(partition.Verify())) return signalPassFailure();
    if (part.getServer() < 0) {
      MarkUpdated(module, step);
      KeepWorker(step, partition, static_cast<int>(part.getServers()));
    } else {
      KeepServer(module, step, partition, static_cast<int>(part.getServer()));
    }
    EraseUnused(module, step);
  }

 private:
  static void MarkUpdated(mlir::ModuleOp module, FuncOp step) {
    for (unsigned i = 0; i < step.getNumResults(); ++i) {
      mlir::FlatSymbolRefAttr update = td::UpdateOf(step, i);
      if (!update) continue;
      module.lookupSymbol<td::VariableOp>(update.getAttr())
          ->setAttr(kUpdatedByOthersAttr, mlir::UnitAttr::get(module.getContext()));
    }
  }

  // Values for servers take the place of updates.
  static void KeepWorker(FuncOp step, const Partition& partition, int servers) {
    mlir::Operation* terminator = step.getBody().front().getTerminator();
    mlir::Builder builder(step.getContext());
    std::vector<std::pair<std::string, mlir::Value>> sent;
    for (int server = 0; server < servers; ++server) {
      for (auto [i, value] : llvm::enumerate(partition.SentTo(server))) {
        sent.emplace_back(SentValueName(server, static_cast<int64_t>(i), ValueName(value)), value);
      }
    }
    EraseResults(step, [&](unsigned i) { return static_cast<bool>(td::UpdateOf(step, i)); });
    for (const auto& [name, value] : sent) {
      auto attribute = builder.getNamedAttr(td::kOutputAttr, builder.getStringAttr(name));
      (void)step.insertResult(step.getNumResults(), value.getType(), builder.getDictionaryAttr(attribute));
      terminator->insertOperands(terminator->getNumOperands(), value);
    }
  }

  // Values that workers send become variables.
  static void KeepServer(mlir::ModuleOp module, FuncOp step, const Partition& partition, int server) {
    mlir::OpBuilder builder(module.getContext());
    builder.setInsertionPoint(step);
    for (auto [i, sent] : llvm::enumerate(partition.SentTo(server))) {
      mlir::Value value = sent;
      const std::string name = SentValueName(server, static_cast<int64_t>(i), ValueName(value));
      auto variable = builder.create<td::VariableOp>(value.getLoc(), name, value.getType(), /*trainable=*/false,
                                                     /*slot_of=*/mlir::StringAttr(), /*initializer=*/mlir::ArrayAttr());
      variable->setAttr(kUpdatedByOthersAttr, builder.getUnitAttr());
      auto attribute =
          builder.getNamedAttr(td::kVariableAttr, mlir::FlatSymbolRefAttr::get(builder.getContext(), name));
      const unsigned argument = step.getNumArguments();
      (void)step.insertArgument(argument, value.getType(), builder.getDictionaryAttr(attribute), value.getLoc());
      value.replaceUsesWithIf(step.getArgument(argument),
                              [&](mlir::OpOperand& use) { return partition.ReaderOf(use) == server; });
    }
    EraseResults(step, [&](unsigned i) {
      mlir::FlatSymbolRefAttr update = td::UpdateOf(step, i);
      return !update || partition.ServerOf(update) != server;
    });
  }

  static void EraseResults(FuncOp step, llvm::function_ref<bool(unsigned)> erased) {
    llvm::BitVector results(step.getNumResults());
    for (unsigned i = 0; i < step.getNumResults(); ++i) results[i] = erased(i);
    step.getBody().front().getTerminator()->eraseOperands(results);
    (void)step.eraseResults(results);
  }

  // Ops, arguments and declarations that nothing needs any more.
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
