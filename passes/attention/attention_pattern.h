// Finds attention in a graph that is written as products, a softmax and the ops of their gradients.
#ifndef TANDEM_PASSES_ATTENTION_ATTENTION_PATTERN_H_
#define TANDEM_PASSES_ATTENTION_ATTENTION_PATTERN_H_

#include <optional>

#include "graph/ir/attention_shape.h"
#include "graph/ir/contract.h"
#include "graph/ir/norm.h"

namespace tandem {

// The operands of an attention, and the ops that td.attention and td.attention_grad replace.
struct AttentionPattern {
  mlir::Value query, key, value;
  mlir::Value keep;  // the mask, [b, keys] or [b, queries, keys]; null: no mask
  double scale = 1, low = 0;
  bool causal = false, heads_inside = false;
  td::BatchMatMulOp output;

  // The backward pass, if there is one. Gradients that nothing asks for are null.
  mlir::Value dy;
  mlir::Operation* first_of_gradient = nullptr;
  td::BatchMatMulOp dquery, dkey, dvalue;

  AttentionShape shape() const;
};

// Finds the attention that `weights` is the softmax of. Returns nothing if it cannot be one op, or if other ops read
// intermediate values that such an op does not store.
std::optional<AttentionPattern> FindAttention(td::SoftmaxOp weights);

}  // namespace tandem

#endif  // TANDEM_PASSES_ATTENTION_ATTENTION_PATTERN_H_
