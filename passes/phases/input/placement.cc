#include "passes/phases/input/placement.h"

#include <functional>

#include "absl/strings/string_view.h"
#include "graph/ir/dialect.h"
#include "graph/ir/interfaces.h"
#include "graph/ir/random.h"
#include "graph/ir/shape.h"
#include "graph/ir/state.h"

namespace tandem {
namespace {

// Returns the name of the variable that `variable` is a slot of; its own name if it is no slot.
const std::string& TrainedBy(const VariableSpec& variable) {
  return variable.slot_of.empty() ? variable.name : variable.slot_of;
}

// True if `op` works on scalars and on tensors of `like`'s shape and computes each row from the same rows of its
// operands, so that it can run on some rows only.
bool IsByRows(mlir::Operation* op, mlir::ShapedType like) {
  const auto fits = [&](mlir::Value v) {
    return IsScalar(v) || mlir::cast<mlir::ShapedType>(v.getType()).getShape() == like.getShape();
  };
  if (!llvm::all_of(op->getOperands(), fits) || !llvm::all_of(op->getResults(), fits)) return false;
  if (llvm::all_of(op->getOperands(), IsScalar) && llvm::all_of(op->getResults(), IsScalar)) return true;
  if (auto constant = mlir::dyn_cast<td::ConstantOp>(op)) {
    return mlir::cast<mlir::DenseElementsAttr>(constant.getValue()).isSplat();
  }
  if (mlir::isa<td::BroadcastOp>(op)) return true;       // its operand is a scalar, so all rows are equal
  if (mlir::isa<td::RandomUniformOp>(op)) return false;  // a random number depends on its place in the whole tensor
  return td::FusionKindOf(op) == td::FusionKind::kElementwise;
}

// Returns the variables whose updates, and those of their slots, can be computed row by row.
std::set<std::string> VariablesByRows(mlir::func::FuncOp step, const std::vector<VariableSpec>& variables) {
  std::map<std::string, int> owners, groups;
  std::map<std::string, const VariableSpec*> found;
  for (const VariableSpec& v : variables) {
    owners[v.name] = groups.try_emplace(TrainedBy(v), static_cast<int>(groups.size())).first->second;
    if (v.slot_of.empty()) found[v.name] = &v;
  }
  const StepPartition partition(step, owners);
  // No variable is spread then. td-partition-step reports the error once the variables are placed.
  if (llvm::any_of(partition.LostUpdates(), [](const auto& lost) { return !lost.serves_rows; })) return {};
  mlir::Operation* terminator = step.getBody().front().getTerminator();
  std::set<std::string> by_rows;
  for (const auto& [name, v] : found) {
    const bool of_one_shape = llvm::all_of(variables, [&, &v = v, &name = name](const VariableSpec& slot) {
      return slot.slot_of != name || slot.shape == v->shape;
    });
    if (v->shape.empty() || !of_one_shape) continue;
    auto like = mlir::RankedTensorType::get(v->shape, mlir::Float32Type::get(step.getContext()));
    const int owner = owners.at(name);
    const std::function<bool(mlir::Value)> anybodys = [&](mlir::Value value) {
      mlir::Operation* maker = value.getDefiningOp();
      if (maker == nullptr || !partition.IsAnybodys(maker) || IsScalar(value)) return true;
      return IsByRows(maker, like) && llvm::all_of(maker->getOperands(), anybodys);
    };
    const bool ops = llvm::all_of(partition.OpsOf(owner), [&](mlir::Operation* op) {
      return IsByRows(op, like) && llvm::all_of(op->getOperands(), anybodys);
    });
    const bool updates = llvm::all_of(terminator->getOpOperands(), [&](mlir::OpOperand& update) {
      return partition.ReaderOf(update) != owner || anybodys(update.get());
    });
    const bool values = llvm::all_of(partition.SentTo(owner), [&](mlir::Value sent) {
      return IsScalar(sent) || mlir::cast<mlir::ShapedType>(sent.getType()).getShape() == like.getShape();
    });
    if (ops && updates && values) by_rows.insert(name);
  }
  return by_rows;
}

}  // namespace

std::vector<VariableSpec> VariablesOf(mlir::ModuleOp module) {
  std::vector<VariableSpec> variables;
  for (auto variable : module.getOps<td::VariableOp>()) {
    VariableSpec spec;
    spec.name = variable.getSymName().str();
    spec.dtype = td::ToDType(mlir::cast<mlir::RankedTensorType>(variable.getType()).getElementType());
    spec.shape = td::ToShape(variable.getType());
    spec.slot_of = variable.getSlotOf().value_or("").str();
    variables.push_back(std::move(spec));
  }
  return variables;
}

mlir::RankedTensorType WithRows(mlir::Type type, int64_t rows) {
  auto whole = mlir::cast<mlir::RankedTensorType>(type);
  if (rows == 0) return whole;
  llvm::SmallVector<int64_t> shape(whole.getShape());
  shape[0] = rows;
  return whole.clone(shape);
}

Placement::Placement(const std::vector<VariableSpec>& variables, mlir::func::FuncOp step, int servers)
    : parts_(PlaceVariables(variables, servers, VariablesByRows(step, variables))),
      partition_(step, Owners(variables, servers)) {}

const PlacedPart* Placement::PartOf(int server, llvm::StringRef variable) const {
  for (const PlacedPart& part : parts_) {
    if (part.server == server && part.variable == absl::string_view(variable.data(), variable.size())) return &part;
  }
  return nullptr;
}

std::map<int, const PlacedPart*> Placement::OwnersAt(int server) const {
  std::map<int, const PlacedPart*> owners = {{server, nullptr}};
  for (const PlacedPart& part : parts_) {
    if (part.server == server && !part.whole()) owners.try_emplace(spread_.at(part.variable), &part);
  }
  return owners;
}

std::vector<std::pair<SentRows, std::set<int>>> Placement::SentTo(int server) const {
  std::vector<std::pair<SentRows, std::set<int>>> all;
  for (const auto& [owner, part] : OwnersAt(server)) {
    for (mlir::Value value : partition_.SentTo(owner)) {
      SentRows sent{value};
      if (part != nullptr && !IsScalar(value)) sent = {value, part->first_row, part->rows};
      const auto same = llvm::find_if(all, [&](const auto& entry) {
        const SentRows& s = entry.first;
        return s.value == value && s.first_row == sent.first_row && s.rows == sent.rows;
      });
      if (same != all.end()) {
        same->second.insert(owner);
      } else {
        all.push_back({sent, {owner}});
      }
    }
  }
  return all;
}

std::map<std::string, int> Placement::Owners(const std::vector<VariableSpec>& variables, int servers) {
  std::map<std::string, int> owners;
  for (const PlacedPart& part : parts_) owners[part.variable] = part.server;
  int next = servers;
  for (const VariableSpec& v : variables) {
    const bool whole = llvm::all_of(parts_, [&](const PlacedPart& p) { return p.variable != v.name || p.whole(); });
    if (whole) continue;
    const std::string& group = TrainedBy(v);
    if (!spread_.contains(group)) spread_[group] = next++;
    owners[v.name] = spread_[v.name] = spread_[group];
  }
  return owners;
}

}  // namespace tandem
