#include "passes/attention/attention_pattern.h"

#include <utility>

#include "graph/ir/attention.h"
#include "graph/ir/binary.h"
#include "graph/ir/reduce.h"
#include "graph/ir/shape.h"
#include "mlir/IR/Matchers.h"
#include "passes/base/pass_util.h"

namespace tandem {
namespace {

using mlir::Value;
using td::BatchMatMulOp;

// A masked score this low gets the weight 0 next to any other score: exp of the difference is 0 in float32.
constexpr double kLowest = -1e8;

struct ProductForm {
  bool transpose_a, transpose_b, swap_a, swap_b, swap_output;
};

bool HasForm(BatchMatMulOp op, const ProductForm& f) {
  return op.getTransposeA() == f.transpose_a && op.getTransposeB() == f.transpose_b && op.getSwapA() == f.swap_a &&
         op.getSwapB() == f.swap_b && op.getSwapOutput() == f.swap_output;
}

// A product of a value and a number.
struct Scaled {
  Value value;
  double factor;
};
std::optional<Scaled> ScaledBy(Value v) {
  auto mul = v.getDefiningOp<td::MulOp>();
  if (!mul) return std::nullopt;
  for (int i = 0; i < 2; ++i) {
    if (std::optional<double> number = SplatOf(mul->getOperand(i))) return Scaled{mul->getOperand(1 - i), *number};
  }
  return std::nullopt;
}

bool IsIota(Value v, int64_t axis) {
  auto iota = v.getDefiningOp<td::IotaOp>();
  return iota && iota.getAxis() == axis;
}

// True if the condition, a tensor [b, heads, queries, keys], is "query position >= key position".
bool IsCausal(Value condition) {
  int64_t query_axis = 2, key_axis = 3;
  if (auto broadcast = condition.getDefiningOp<td::BroadcastOp>()) {
    if (broadcast.getDims() != llvm::ArrayRef<int64_t>({2, 3})) return false;
    condition = broadcast.getInput();
    query_axis = 0, key_axis = 1;
  }
  auto compare = condition.getDefiningOp<td::CompareOp>();
  return compare && compare.getPredicate() == td::ComparePredicate::kGe && IsIota(compare.getLhs(), query_axis) &&
         IsIota(compare.getRhs(), key_axis);
}

// If the condition on scores is the same for all heads, returns its tensor [b, keys] or [b, queries, keys]; else null.
Value KeptPlaces(Value condition) {
  auto broadcast = condition.getDefiningOp<td::BroadcastOp>();
  if (!broadcast || !td::IsBatched(broadcast.getInput().getType())) return nullptr;
  const llvm::ArrayRef<int64_t> dims = broadcast.getDims();
  const bool by_query = dims == llvm::ArrayRef<int64_t>({0, 2, 3});
  return by_query || dims == llvm::ArrayRef<int64_t>({0, 3}) ? broadcast.getInput() : Value();
}

// Finds the ops of an attention around its softmax: first those that compute the softmax's operand, then those that
// lead to the output, then the backward pass.
class Finder {
 public:
  explicit Finder(td::SoftmaxOp softmax) : softmax_(softmax) {}

  std::optional<AttentionPattern> Find() {
    if (!FindScores() || !FindOutput()) return std::nullopt;
    if (softmax_.getOutput().hasOneUse() || FindGradient()) return p_;
    return std::nullopt;
  }

 private:
  bool FindScores() {
    Value x = softmax_.getLogits();
    while (auto select = x.getDefiningOp<td::SelectOp>()) {
      if (!x.hasOneUse() || !TakeMask(select)) return false;
      x = select.getLhs();
    }
    if (!x.hasOneUse()) return false;
    if (std::optional<Scaled> scaled = ScaledBy(x)) {
      x = scaled->value;
      p_.scale = scaled->factor;
    }
    auto product = x.getDefiningOp<BatchMatMulOp>();
    if (!product || !x.hasOneUse() || td::TypeOf(x).getRank() != 4 || !td::IsBatched(x.getType())) return false;
    if (!td::TypeOf(x).getElementType().isF32()) return false;
    p_.heads_inside = product.getSwapA();
    if (!HasForm(product, {false, true, p_.heads_inside, p_.heads_inside, false})) return false;
    p_.query = product.getA();
    p_.key = product.getB();
    return td::IsBatched(p_.query.getType()) && td::IsBatched(p_.key.getType());
  }

  bool TakeMask(td::SelectOp select) {
    const std::optional<double> low = SplatOf(select.getRhs());
    if (!low || (is_masked_ && *low != p_.low)) return false;
    conditions_.push_back(select.getCondition());
    is_masked_ = true;
    p_.low = *low;
    if (IsCausal(select.getCondition())) return !std::exchange(p_.causal, true);
    if (p_.keep) return false;
    return static_cast<bool>(p_.keep = KeptPlaces(select.getCondition()));
  }

  bool FindOutput() {
    for (mlir::Operation* user : softmax_->getUsers()) {
      auto product = mlir::dyn_cast<BatchMatMulOp>(user);
      if (!product || product.getA() != softmax_.getOutput() || product.getB() == softmax_.getOutput()) continue;
      if (!HasForm(product, {false, false, false, p_.heads_inside, p_.heads_inside})) continue;
      if (p_.output) return false;
      p_.output = product;
      p_.value = product.getB();
    }
    if (!p_.output || !td::IsBatched(p_.value.getType())) return false;
    // Without `keep`, kernels of causal attention skip later positions, which gives the same result only if their
    // scores are low enough.
    return !p_.causal || (p_.shape().queries == p_.shape().keys && (p_.keep || p_.low <= kLowest));
  }

  // Matches the gradient of the scores, weights * (dweights - sum(dweights * weights)), masked and scaled, and the
  // products that read it.
  bool FindGradient() {
    Value weights = softmax_.getOutput(), scores_grad;
    for (mlir::Operation* user : weights.getUsers()) {
      if (user == p_.output) continue;
      if (auto product = mlir::dyn_cast<BatchMatMulOp>(user)) {
        if (p_.dvalue || product.getA() != weights) return false;
        if (!HasForm(product, {true, false, false, p_.heads_inside, p_.heads_inside})) return false;
        p_.dvalue = product;
      } else if (!mlir::isa<td::MulOp>(user)) {
        return false;
      } else if (auto sub = OtherOperand(user, weights).getDefiningOp<td::SubOp>()) {
        if (scores_grad) return false;
        scores_grad = user->getResult(0);
        if (!FindWeightsGrad(sub, weights)) return false;
      }
    }
    if (p_.dvalue && !TakeDy(p_.dvalue.getB(), p_.dvalue)) return false;
    // td.attention_grad reads the output, so ops that look like the gradient but come before the output do not count.
    return p_.dy && p_.output->isBeforeInBlock(p_.first_of_gradient) && (!scores_grad || FindProducts(scores_grad)) &&
           weights_users_ == UsersOf(weights);
  }

  static Value OtherOperand(mlir::Operation* op, Value one) { return op->getOperand(op->getOperand(0) == one ? 1 : 0); }
  static size_t UsersOf(Value v) { return std::distance(v.use_begin(), v.use_end()); }

  // Matches sub = dweights - broadcast(sum(dweights * weights)).
  bool FindWeightsGrad(td::SubOp sub, Value weights) {
    Value grad = sub.getLhs();
    auto broadcast = sub.getRhs().getDefiningOp<td::BroadcastOp>();
    auto sum = broadcast ? broadcast.getInput().getDefiningOp<td::ReduceOp>() : nullptr;
    auto mul = sum ? sum.getInput().getDefiningOp<td::MulOp>() : nullptr;
    if (!mul || sum.getKind() != td::ReduceKind::kSum || sum.getAxes() != llvm::ArrayRef<int64_t>({3})) return false;
    if (broadcast.getDims() != llvm::ArrayRef<int64_t>({0, 1, 2})) return false;
    const bool products =
        (mul.getLhs() == grad && mul.getRhs() == weights) || (mul.getRhs() == grad && mul.getLhs() == weights);
    for (mlir::Operation* op : {sub.getOperation(), broadcast.getOperation(), sum.getOperation(), mul.getOperation()}) {
      if (!op->hasOneUse()) return false;
    }
    auto product = grad.getDefiningOp<BatchMatMulOp>();
    if (!products || !product || UsersOf(grad) != 2 || product.getB() != p_.value) return false;
    if (!HasForm(product, {false, true, p_.heads_inside, p_.heads_inside, false})) return false;
    weights_users_ += 2;
    return TakeDy(product.getA(), product);
  }

  bool TakeDy(Value dy, mlir::Operation* reader) {
    if (p_.dy && p_.dy != dy) return false;
    p_.dy = dy;
    if (!p_.first_of_gradient || reader->isBeforeInBlock(p_.first_of_gradient)) p_.first_of_gradient = reader;
    weights_users_ += reader == p_.dvalue ? 1 : 0;
    return true;
  }

  // Matches the products of the scores' gradient, masked and scaled like the scores, with keys and queries.
  bool FindProducts(Value grad) {
    for (Value condition : conditions_) {
      if (!grad.hasOneUse()) return false;
      auto select = mlir::dyn_cast<td::SelectOp>(*grad.user_begin());
      if (!select || select.getCondition() != condition || select.getLhs() != grad || SplatOf(select.getRhs()) != 0.0) {
        return false;
      }
      grad = select.getResult();
    }
    if (p_.scale != 1) {
      if (!grad.hasOneUse()) return false;
      Value scaled = (*grad.user_begin())->getResult(0);
      const std::optional<Scaled> factor = ScaledBy(scaled);
      if (!factor || factor->value != grad || factor->factor != p_.scale) return false;
      grad = scaled;
    }
    for (mlir::Operation* user : grad.getUsers()) {
      auto product = mlir::dyn_cast<BatchMatMulOp>(user);
      if (!product || product.getA() != grad) return false;
      const bool of_key = product.getTransposeA();
      BatchMatMulOp& taken = of_key ? p_.dkey : p_.dquery;
      if (taken || product.getB() != (of_key ? p_.query : p_.key)) return false;
      if (!HasForm(product, {of_key, false, false, p_.heads_inside, p_.heads_inside})) return false;
      taken = product;
    }
    return true;
  }

  td::SoftmaxOp softmax_;
  AttentionPattern p_;
  bool is_masked_ = false;
  llvm::SmallVector<Value> conditions_;  // conditions of the selects that mask the scores, the last one first
  // Number of uses of the attention weights that are part of the pattern. The first is the product that computes the
  // output.
  size_t weights_users_ = 1;
};

}  // namespace

AttentionShape AttentionPattern::shape() const { return td::AttentionShapeOf(query, key, value, heads_inside); }

std::optional<AttentionPattern> FindAttention(td::SoftmaxOp weights) { return Finder(weights).Find(); }

}  // namespace tandem
