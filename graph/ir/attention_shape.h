// Sizes of an attention and where its tensors' elements lie. Free of MLIR types.
#ifndef TANDEM_GRAPH_IR_ATTENTION_SHAPE_H_
#define TANDEM_GRAPH_IR_ATTENTION_SHAPE_H_

#include <cstdint>

namespace tandem {

// Of one example: `queries` rows of `size` numbers for each head attend to `keys` rows of `size`, and get mixtures of
// as many values of `value_size` numbers.
struct AttentionShape {
  int64_t heads = 0, queries = 0, keys = 0, size = 0, value_size = 0;
  bool heads_inside = false;  // rows are [position, head], as dense layers give them; else [head, position]

  // Elements from a position to the next one, of rows of `width` numbers.
  int64_t position_stride(int64_t width) const { return heads_inside ? heads * width : width; }
  // From a head to the next one, of `positions` rows each.
  int64_t head_stride(int64_t positions, int64_t width) const { return heads_inside ? width : positions * width; }
  int64_t scores() const { return heads * queries * keys; }
};

}  // namespace tandem

#endif  // TANDEM_GRAPH_IR_ATTENTION_SHAPE_H_
