// The ops that attention is written in: products, a softmax, and what their gradients are made of.
#ifndef TANDEM_PASSES_ATTENTION_ATTENTION_PATTERN_H_
#define TANDEM_PASSES_ATTENTION_ATTENTION_PATTERN_H_

#include <optional>

#include "graph/ir/attention_shape.h"
#include "graph/ir/contract.h"
#include "graph/ir/norm.h"

namespace tandem {

// Values of the step, and the ops whose results td.attention and td.attention_grad have.
struct AttentionPattern {
  mlir::Value query, key, value;
  mlir::Value keep;  // [b, keys] or [b, queries, keys], or null
  double scale = 1, low = 0;
  bool causal = false, heads_inside = false;
  td::BatchMatMulOp output;

  // The backward pass, where there is one: gradients that nothing asks for are null.
  mlir::Value dy;
  mlir::Operation* first_of_gradient = nullptr;
  td::BatchMatMulOp dquery, dkey, dvalue;

  AttentionShape shape() const;
};

// Nothing where `weights` are not those of an attention that can be one op, or where something else reads what it would
// not keep in memory.
std::optional<AttentionPattern> FindAttention(td::SoftmaxOp weights);

}  // namespace tandem

#endif  // TANDEM_PASSES_ATTENTION_ATTENTION_PATTERN_H_
