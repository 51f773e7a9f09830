#include "passes/phases/precision/precision_painter.h"

#include <functional>
#include <string>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "graph/ir/attention.h"
#include "graph/ir/binary.h"
#include "graph/ir/contract.h"
#include "graph/ir/pool.h"
#include "mlir/IR/Matchers.h"
#include "passes/base/channel_bias.h"
#include "passes/base/pass_util.h"
#include "passes/contraction/choice.h"
#include "passes/exec/dialect.h"

namespace tandem {
namespace {

using td::PrecisionRule;
using OpSet = llvm::DenseSet<mlir::Operation*>;
using Predicate = std::function<bool(mlir::Operation*)>;

constexpr char kGradientOfPainted[] = "the gradient of what is bfloat16";

bool HasBfloat16Form(mlir::OperationName op, const Target& target) {
  const llvm::StringRef name = op.getStringRef();
  if (name == td::BatchMatMulOp::getOperationName()) return target.has_bfloat16_batched_products();
  if (name == td::AttentionOp::getOperationName() || name == td::AttentionGradOp::getOperationName()) {
    return target.has_small_head_attention();
  }
  return op.hasInterface<td::PrecisionOp>();
}

class PrecisionPainter {
 public:
  PrecisionPainter(mlir::Block& block, const PrecisionRules& lists, const Target& target)
      : block_(block), lists_(lists), target_(target) {}

  PaintedOps Run() {
    for (mlir::Operation& op : block_) {
      if (!HasFloat32(&op)) continue;
      rules_[&op] = RuleOf(&op);
      if (rules_[&op] == PrecisionRule::kAllow) Paint(&op, "a layer's product");
    }
    if (painted_.empty()) return {};
    FindProducts();
    DenyBehindFloat32();
    DenyLosses();
    PaintBetween();
    PaintNeighbours();
    PaintGradientsOfPainted();
    PaintedOps ops;
    for (mlir::Operation& op : block_) {
      if (rules_.count(&op)) ops.reasons.push_back({&op, ReasonOf(&op)});
    }
    ops.painted = std::move(painted_);
    return ops;
  }

 private:
  void Paint(mlir::Operation* op, const char* reason) {
    if (painted_.insert(op).second) reasons_[op] = reason;
  }

  void Deny(mlir::Operation* op, const char* reason) {
    if (denied_.insert(op).second) reasons_[op] = reason;
  }

  std::string ReasonOf(mlir::Operation* op) const {
    if (auto reason = reasons_.find(op); reason != reasons_.end()) return reason->second;
    if (!HasBfloat16Form(op->getName(), target_)) return "the operation is computed in float32 only";
    auto moved = lists_.find(op->getName().getStringRef());
    if (moved != lists_.end() && moved->second == PrecisionRule::kDeny) return "in the list deny";
    if (HasFewTaps(op) || IsFusedProduct(op)) return "a generated kernel computes it, in float32";
    if (Rule(op) == PrecisionRule::kDeny) return "the operation loses too much when it is rounded";
    if (IsFree(op)) return "a constant: rounded where it is read, at no cost";
    return "not between products, nor next to one";
  }

  static bool HasFloat32(mlir::Operation* op) {
    return llvm::any_of(op->getOperands(), IsFloat32) || llvm::any_of(op->getResults(), IsFloat32);
  }

  // True for constants and copies of them: rounding them costs nothing.
  static bool IsConstant(mlir::Value v) {
    mlir::Operation* op = v.getDefiningOp();
    if (op == nullptr) return false;
    if (mlir::matchPattern(op, mlir::m_Constant())) return true;
    return td::FusionKindOf(op) == td::FusionKind::kInjective && llvm::all_of(op->getOperands(), IsConstant);
  }

  // True for a convolution of few taps: it is part of a generated kernel, which computes in float32.
  static bool HasFewTaps(mlir::Operation* op) { return IsChosen(op, exec::Algorithm::kFewTaps); }

  // True for a product that becomes a loop fused with the ops around it: bfloat16 would round values that are in
  // registers, and gain nothing.
  static bool IsFusedProduct(mlir::Operation* op) { return IsChosen(op, exec::Algorithm::kFusedProduct); }

  PrecisionRule RuleOf(mlir::Operation* op) const {
    if (!HasBfloat16Form(op->getName(), target_)) return PrecisionRule::kDeny;
    auto moved = lists_.find(op->getName().getStringRef());
    if (moved != lists_.end()) return moved->second;
    if (HasFewTaps(op) || IsFusedProduct(op)) return PrecisionRule::kDeny;
    return mlir::cast<td::PrecisionOp>(op).getPrecisionRule();
  }

  PrecisionRule Rule(mlir::Operation* op) const {
    auto rule = rules_.find(op);
    return rule == rules_.end() ? PrecisionRule::kDeny : rule->second;
  }

  // Returns all ops for which `enter` holds that can be reached from `start` through such ops, along float32 values
  // (with `any_type` along all values). An op of `start` is included only if it is reached from another one.
  static OpSet Reach(llvm::ArrayRef<mlir::Operation*> start, bool forward, const Predicate& enter,
                     bool any_type = false) {
    OpSet reached;
    llvm::SmallVector<mlir::Operation*> work(start);
    auto visit = [&](mlir::Operation* op) {
      if (op != nullptr && enter(op) && reached.insert(op).second) work.push_back(op);
    };
    while (!work.empty()) {
      mlir::Operation* op = work.pop_back_val();
      if (forward) {
        for (mlir::Value v : op->getResults()) {
          if (!any_type && !IsFloat32(v)) continue;
          for (mlir::Operation* user : v.getUsers()) visit(user);
        }
      } else {
        for (mlir::Value v : op->getOperands()) {
          if (any_type || IsFloat32(v)) visit(v.getDefiningOp());
        }
      }
    }
    return reached;
  }

  llvm::SmallVector<mlir::Operation*> InBlockOrder(const OpSet& set) {
    llvm::SmallVector<mlir::Operation*> ops;
    for (mlir::Operation& op : block_) {
      if (set.contains(&op)) ops.push_back(&op);
    }
    return ops;
  }

  // True for an op whose default list is the allow list (a product of a layer), whether it is painted (gets bfloat16
  // operands) or not.
  static bool IsProduct(mlir::Operation* op) {
    auto precision = mlir::dyn_cast<td::PrecisionOp>(op);
    return precision && precision.getPrecisionRule() == PrecisionRule::kAllow;
  }

  // Finds the products of layers, and all ops that depend on one of them.
  void FindProducts() {
    for (mlir::Operation& op : block_) {
      if (IsProduct(&op)) products_.push_back(&op);
    }
    behind_products_ = Reach(products_, /*forward=*/true, [](mlir::Operation*) { return true; });
  }

  // Denies (keeps in float32) the ops behind the last product of the forward pass, which lead only to losses, metrics
  // and other outputs, and the gradients between them and the first product of the backward pass.
  void DenyLosses() {
    llvm::SmallVector<mlir::Operation*> forward, backward;
    for (mlir::Operation* op : products_) (IsGradient(op) ? backward : forward).push_back(op);
    const OpSet in_front = Reach(
        forward, /*forward=*/false, [](mlir::Operation* op) { return !IsGradient(op); }, /*any_type=*/true);
    llvm::SmallVector<mlir::Operation*> losses;
    for (mlir::Operation& op : block_) {
      // Gradients are treated below, and constants are not denied.
      if (!rules_.count(&op) || IsGradient(&op) || IsFree(&op)) continue;
      if (!in_front.contains(&op) && !IsProduct(&op)) losses.push_back(&op);
    }
    const OpSet behind = Reach(
        backward, /*forward=*/true, [](mlir::Operation*) { return true; }, /*any_type=*/true);
    const auto in_front_of_products = [&](mlir::Operation* op) {
      return IsGradient(op) && !behind.contains(op) && !IsProduct(op);
    };
    const OpSet gradients = Reach(losses, /*forward=*/true, in_front_of_products, /*any_type=*/true);
    for (mlir::Operation* op : losses) Deny(op, "it leads to losses, metrics and outputs only");
    for (mlir::Operation* op : gradients) Deny(op, "a gradient of a loss, in front of the first product");
  }

  void DenyBehindFloat32() {
    llvm::SmallVector<mlir::Operation*> deny;
    for (mlir::Operation& op : block_) {
      if (rules_.count(&op) && Rule(&op) == PrecisionRule::kDeny && !IsFree(&op)) deny.push_back(&op);
    }
    auto enter = [&](mlir::Operation* op) { return IsLight(op) && !IsBiasOfPainted(op); };
    for (mlir::Operation* op : Reach(deny, /*forward=*/true, enter)) {
      if (Rule(op) == PrecisionRule::kInfer) Deny(op, "it reads what is computed in float32");
    }
    llvm::erase_if(deny, [](mlir::Operation* op) { return !HasFewTaps(op); });
    auto follows = [&](mlir::Operation* op) {
      return Rule(op) == PrecisionRule::kClear || Rule(op) == PrecisionRule::kInfer;
    };
    for (mlir::Operation* op : Reach(deny, /*forward=*/true, follows)) {
      Deny(op, "it follows a convolution of few taps, in one kernel that computes in float32");
    }
  }

  // True if `op` adds a bias to the result of an op of the allow list that nothing else reads. The library adds the
  // bias in float32, before it rounds.
  bool IsBiasOfPainted(mlir::Operation* op) const {
    auto add = mlir::dyn_cast<td::AddOp>(op);
    if (!add) return false;
    for (mlir::Value v : op->getOperands()) {
      auto library = mlir::dyn_cast_or_null<td::LibraryOp>(v.getDefiningOp());
      if (library && library.getLibraryCallSpec().takes_epilogue && Rule(library) == PrecisionRule::kAllow &&
          OnlyUser(v) == op && ChannelBiasOf(add, v)) {
        return true;
      }
    }
    return false;
  }

  // True if `op` is in the infer or clear list (PrecisionRule) and is not kept in float32 (denied).
  bool IsLight(mlir::Operation* op) const {
    PrecisionRule rule = Rule(op);
    return (rule == PrecisionRule::kInfer || rule == PrecisionRule::kClear) && !denied_.contains(op);
  }

  void PaintBetween() {
    auto light = [&](mlir::Operation* op) { return IsLight(op); };
    auto allowed = InBlockOrder(painted_);
    OpSet behind = Reach(allowed, /*forward=*/true, light);
    OpSet before = Reach(allowed, /*forward=*/false, light);
    for (mlir::Operation* op : behind) {
      if (before.contains(op)) Paint(op, "between products");
    }
  }

  void PaintNeighbours() {
    auto clear = [&](mlir::Operation* op) {
      return Rule(op) == PrecisionRule::kClear && !denied_.contains(op) && !IsFree(op);
    };
    OpSet before = Reach(InBlockOrder(painted_), /*forward=*/false, clear);
    // In reverse block order, so that all users are decided before their operands.
    for (mlir::Operation& op : llvm::reverse(block_)) {
      if (before.contains(&op) && (behind_products_.contains(&op) || OnlyPaintedRead(&op))) {
        Paint(&op, "in front of products, which round it");
      }
    }
    // In block order, so that every operand is decided before its users.
    for (mlir::Operation& op : block_) {
      if (!clear(&op) || painted_.contains(&op)) continue;
      bool any = false, all = true;
      for (mlir::Value v : op.getOperands()) {
        if (!IsFloat32(v) || IsConstant(v)) continue;
        // Sums over the batch (gradients of weights) are not rounded: td-paint-precision keeps them float32.
        bool rounded =
            v.getDefiningOp() != nullptr && painted_.contains(v.getDefiningOp()) && td::IsBatched(v.getType());
        any |= rounded;
        all &= rounded;
      }
      if (any && all) Paint(&op, "all that it reads is bfloat16");
    }
  }

  bool OnlyPaintedRead(mlir::Operation* op) const {
    return llvm::all_of(op->getUsers(), [&](mlir::Operation* user) { return painted_.contains(user); });
  }

  bool IsPainted(mlir::Value v) const { return v.getDefiningOp() && painted_.contains(v.getDefiningOp()); }

  // If `op` passes a gradient back through a relu or pooling that is painted (computed in bfloat16), returns that
  // gradient; else null.
  mlir::Value GradientOfPainted(mlir::Operation* op) const {
    if (auto select = mlir::dyn_cast<td::SelectOp>(op)) {
      auto sign = select.getCondition().getDefiningOp<td::CompareOp>();
      return sign && painted_.contains(sign) ? select.getLhs() : mlir::Value();
    }
    auto pool = mlir::dyn_cast<td::MaxPoolGradOp>(op);
    return pool && IsPainted(pool.getX()) ? pool.getDy() : mlir::Value();
  }

  void PaintGradientsOfPainted() {
    for (mlir::Operation& op : block_) {
      mlir::Value gradient = GradientOfPainted(&op);
      if (!gradient || Rule(&op) != PrecisionRule::kClear || denied_.contains(&op)) continue;
      Paint(&op, kGradientOfPainted);
      auto sum = gradient.getDefiningOp<td::AddOp>();
      const auto painted = [&](mlir::Value v) { return IsPainted(v); };
      if (sum && Rule(sum) == PrecisionRule::kInfer && llvm::any_of(sum->getOperands(), painted)) {
        Paint(sum, kGradientOfPainted);
      }
    }
  }

  // True for constants and copies of them, which need no paint: a cast behind them folds into the constant.
  static bool IsFree(mlir::Operation* op) { return op->getNumResults() > 0 && IsConstant(op->getResult(0)); }

  mlir::Block& block_;
  const PrecisionRules& lists_;
  const Target& target_;
  llvm::DenseMap<mlir::Operation*, PrecisionRule> rules_;
  llvm::SmallVector<mlir::Operation*> products_;
  OpSet painted_, denied_, behind_products_;
  llvm::DenseMap<mlir::Operation*, const char*> reasons_;
};

size_t EditDistance(llvm::StringRef a, llvm::StringRef b) { return a.edit_distance(b); }

// Returns " (did you mean max_pool?)" for the nearest name of an op, or "" if none is near.
std::string Suggestion(mlir::MLIRContext* context, llvm::StringRef name) {
  std::string best;
  size_t distance = 3;
  for (mlir::RegisteredOperationName op : context->getRegisteredOperations()) {
    if (op.getDialectNamespace() != "td" || !op.hasInterface<td::PrecisionOp>()) continue;
    llvm::StringRef candidate = op.getStringRef().drop_front(3);
    if (size_t d = EditDistance(name, candidate); d < distance) {
      distance = d;
      best = candidate.str();
    }
  }
  return best.empty() ? "; docs/reference/ops.md lists all" : absl::StrCat(" (did you mean ", best, "?)");
}

}  // namespace

bool IsFloat32(mlir::Value v) { return mlir::getElementTypeOrSelf(v.getType()).isF32(); }

absl::Status ReadPrecisionRules(mlir::ModuleOp module, const Target& target, PrecisionRules* lists) {
  const exec::PrecisionListsAttr given = exec::CompileConfigAttr::of(module).getPrecisionLists();
  if (!given) return absl::OkStatus();
  const std::tuple<llvm::StringLiteral, mlir::ArrayAttr, PrecisionRule> all[] = {
      {"allow", given.getAllow(), PrecisionRule::kAllow},
      {"infer", given.getInfer(), PrecisionRule::kInfer},
      {"clear", given.getClear(), PrecisionRule::kClear},
      {"deny", given.getDeny(), PrecisionRule::kDeny}};
  for (const auto& [list, names, rule] : all) {
    if (!names) continue;
    for (mlir::Attribute a : names) {
      llvm::StringRef name = mlir::cast<mlir::StringAttr>(a).getValue();
      std::string full = absl::StrCat("td.", name.str());
      auto op = mlir::RegisteredOperationName::lookup(full, module.getContext());
      if (!op) {
        return absl::InvalidArgumentError(absl::StrCat("mixed precision: the ", list.str(), " list names \"",
                                                       name.str(), "\", which is no op",
                                                       Suggestion(module.getContext(), name)));
      }
      if (rule != PrecisionRule::kDeny && !HasBfloat16Form(*op, target)) {
        return absl::InvalidArgumentError(absl::StrCat("mixed precision: the ", list.str(), " list names ", name.str(),
                                                       ", which always computes in float32; remove it from the list"));
      }
      if (!lists->try_emplace(full, rule).second) {
        return absl::InvalidArgumentError(
            absl::StrCat("mixed precision: ", name.str(), " stands in two lists; leave it in one"));
      }
    }
  }
  return absl::OkStatus();
}

PaintedOps PaintOps(mlir::Block& block, const PrecisionRules& lists, const Target& target) {
  return PrecisionPainter(block, lists, target).Run();
}

}  // namespace tandem
