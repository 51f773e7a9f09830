#include "graph/gradients/gradients.h"

#include "absl/strings/str_cat.h"
#include "graph/ir/build.h"
#include "graph/ir/interfaces.h"
#include "graph/ir/replica_values.h"
#include "graph/module/graph_module.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tandem::internal {

using mlir::Operation;
using mlir::Value;

namespace {

// Returns the location of the forward op, renamed to "gradients/<name>".
mlir::Location GradientLocation(Operation* op) {
  std::string name = absl::StrCat("gradients/", LocationName(op->getLoc()));
  mlir::Location child = op->getLoc();
  if (auto named = mlir::dyn_cast<mlir::NameLoc>(child)) child = named.getChildLoc();
  return mlir::NameLoc::get(mlir::StringAttr::get(op->getContext(), name), child);
}

std::string Describe(Operation* op) {
  std::string name = LocationName(op->getLoc());
  return name.empty() ? op->getName().getStringRef().str() : name;
}

// Returns `grad`, the gradient that `op` passes to `operand`, summed over the replicas where that is needed: if all
// replicas hold the same operand but the op's result differs between them, each replica has only its part of the
// gradient. Returns null if the gradient cannot be computed: it would have to be a sum over the rows of one replica,
// and the op can only sum over the rows of all.
Value OverReplicas(mlir::OpBuilder& b, Operation* op, Value operand, Value grad, td::ReplicaValues& replicas) {
  if (td::IsBatched(operand.getType())) return grad;
  if (!replicas.Vary(operand)) {
    const bool parts = llvm::any_of(op->getResults(), [&](Value r) { return replicas.Vary(r); });
    return parts || replicas.Vary(grad)
               ? td::BuildCrossReplica(b, GradientLocation(op), td::CrossReplicaKind::kSum, grad)
               : grad;
  }
  const bool from_rows = llvm::any_of(op->getResultTypes(), td::IsBatched);
  return from_rows && !replicas.Vary(grad) ? Value() : grad;
}

}  // namespace

bool BuildGradients(mlir::OpBuilder& b, Value loss, llvm::ArrayRef<Value> xs, std::vector<Value>* gradients,
                    GradientError* error) {
  gradients->assign(xs.size(), Value());
  // 1. Find the values that depend on an x, and among those the ones that the loss depends on.
  mlir::Block* block = b.getInsertionBlock();
  llvm::DenseSet<Value> from_x(xs.begin(), xs.end());
  llvm::SmallVector<Operation*> forward;
  for (Operation& op : *block) {
    if (b.getInsertionPoint() != block->end() && &op == &*b.getInsertionPoint()) break;
    if (llvm::none_of(op.getOperands(), [&](Value v) { return from_x.contains(v); })) continue;
    bool flows = false;
    for (Value r : op.getResults()) {
      if (!td::IsFloat(r)) continue;  // gradients flow through floating-point values only
      from_x.insert(r);
      flows = true;
    }
    if (flows) forward.push_back(&op);
  }
  Operation* before = b.getInsertionPoint() == block->begin() ? nullptr : &*std::prev(b.getInsertionPoint());

  // 2. Walk backwards and accumulate gradients.
  llvm::DenseMap<Value, Value> grads;
  if (from_x.contains(loss)) {
    Operation* at = loss.getDefiningOp() ? loss.getDefiningOp() : block->getParentOp();
    grads[loss] = td::BuildSplat(b, GradientLocation(at), loss.getType(), 1);
  }
  llvm::DenseMap<Operation*, Operation*> user;  // the next op towards the loss, for messages
  td::ReplicaValues replicas;
  for (Operation* op : llvm::reverse(forward)) {
    llvm::SmallVector<Value> result_grads;
    bool any = false;
    for (Value r : op->getResults()) {
      result_grads.push_back(grads.lookup(r));
      any = any || result_grads.back();
    }
    if (!any) continue;
    for (Value v : op->getOperands()) {
      if (from_x.contains(v) && v.getDefiningOp()) user.try_emplace(v.getDefiningOp(), op);
    }
    auto differentiable = mlir::dyn_cast<td::GradientOp>(op);
    Operation* last = b.getInsertionPoint() == block->begin() ? nullptr : &*std::prev(b.getInsertionPoint());
    llvm::SmallVector<Value> operand_grads(op->getNumOperands());
    if (!differentiable || mlir::failed(differentiable.buildGradient(b, result_grads, operand_grads))) {
      error->op = op;
      std::string path;
      for (Operation* o = op; o; o = user.lookup(o))
        path = absl::StrCat(path.empty() ? "" : path + " -> ", Describe(o));
      error->message = absl::StrCat("the op ", op->getName().getStringRef().str(), " \"", Describe(op), "\"",
                                    " has no gradient, and the loss depends on it (", path, ")");
      return false;
    }
    mlir::Location loc = GradientLocation(op);
    for (auto it = last ? std::next(last->getIterator()) : block->begin(); it != b.getInsertionPoint(); ++it) {
      it->setLoc(loc);
    }
    for (auto [operand, grad] : llvm::zip(op->getOperands(), operand_grads)) {
      if (!grad || !from_x.contains(operand)) continue;
      grad = OverReplicas(b, op, operand, grad, replicas);
      if (!grad) {
        error->op = op;
        error->message = absl::StrCat("the op ", op->getName().getStringRef().str(), " \"", Describe(op),
                                      "\" takes a value that each replica computes from its own rows; its gradient is "
                                      "known for all rows only. Use statistics of all replicas (.sync = true), or "
                                      "CrossReplicaMean");
        return false;
      }
      Value& sum = grads[operand];
      sum = sum ? td::BuildAdd(b, loc, sum, grad) : grad;
    }
  }
  for (size_t i = 0; i < xs.size(); ++i) (*gradients)[i] = grads.lookup(xs[i]);

  // 3. Erase gradients that nobody asked for.
  llvm::DenseSet<Value> wanted(gradients->begin(), gradients->end());
  auto first = before ? std::next(before->getIterator()) : block->begin();
  llvm::SmallVector<Operation*> made;
  for (auto it = first; it != b.getInsertionPoint(); ++it) made.push_back(&*it);
  for (Operation* op : llvm::reverse(made)) {
    if (mlir::isOpTriviallyDead(op) && llvm::none_of(op->getResults(), [&](Value v) { return wanted.contains(v); }))
      op->erase();
  }
  return true;
}

absl::StatusOr<std::vector<Value>> BuildGradients(GraphModule& module, Value loss, llvm::ArrayRef<Value> xs,
                                                  SourceLocation loc) {
  mlir::OpBuilder& b = module.builder();
  mlir::Block* block = b.getInsertionBlock();
  Operation* before = b.getInsertionPoint() == block->begin() ? nullptr : &*std::prev(b.getInsertionPoint());
  std::vector<Value> gradients;
  GradientError error;
  bool ok = false;
  std::string diagnostics = module.CaptureDiagnostics([&] { ok = BuildGradients(b, loss, xs, &gradients, &error); });
  if (!ok) {
    std::string at = LocationFileLine(error.op->getLoc());
    return module.Error("gradients", "gradients", loc,
                        absl::StrCat(error.message, at.empty() ? "" : ", built at " + at,
                                     diagnostics.empty() ? "" : ": " + diagnostics));
  }
  // Names for hooks: "gradients/<forward op>/<op>".
  auto it = before ? std::next(before->getIterator()) : block->begin();
  for (; it != b.getInsertionPoint(); ++it) {
    auto named = mlir::cast<mlir::NameLoc>(it->getLoc());
    std::string op = it->getName().stripDialect().str();
    std::string name = module.TakeGlobalName(absl::StrCat(named.getName().str(), "/", OpDisplayName(op, {})));
    it->setLoc(mlir::NameLoc::get(mlir::StringAttr::get(&module.context(), name), named.getChildLoc()));
    for (mlir::OpResult r : it->getResults()) {
      module.Register(r.getResultNumber() == 0 ? name : absl::StrCat(name, ":", r.getResultNumber()), r);
    }
  }
  return gradients;
}

}  // namespace tandem::internal
