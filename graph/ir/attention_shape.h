// Sizes of an attention op, and the memory layout of its tensors. Free of MLIR types.
#ifndef TANDEM_GRAPH_IR_ATTENTION_SHAPE_H_
#define TANDEM_GRAPH_IR_ATTENTION_SHAPE_H_

#include <cstdint>

namespace tandem {

// The sizes for one example: for each head, `queries` rows of `size` numbers attend to `keys` rows of `size` numbers,
// and the results are mixtures of `keys` values of `value_size` numbers.
struct AttentionShape {
  int64_t heads = 0, queries = 0, keys = 0, size = 0, value_size = 0;
  bool heads_inside = false;  // rows are [position, head], as dense layers produce them; else [head, position]

  // Distance in elements from one position to the next, for rows of `width` numbers.
  int64_t position_stride(int64_t width) const { return heads_inside ? heads * width : width; }
  // Distance in elements from one head to the next; each head has `positions` rows.
  int64_t head_stride(int64_t positions, int64_t width) const { return heads_inside ? width : positions * width; }
  int64_t scores() const { return heads * queries * keys; }
};

}  // namespace tandem

#endif  // TANDEM_GRAPH_IR_ATTENTION_SHAPE_H_
