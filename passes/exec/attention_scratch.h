// The scratch memory of kernels of attention, beside operands and results. Free of MLIR types.
#ifndef TANDEM_PASSES_EXEC_ATTENTION_SCRATCH_H_
#define TANDEM_PASSES_EXEC_ATTENTION_SCRATCH_H_

#include <algorithm>
#include <cstdint>

#include "graph/ir/attention_shape.h"

namespace tandem {

// kAttentionQueries: queries whose scores are in memory at the same time. kAttentionPanel: columns of a packed matrix
// that lie together: [columns / kAttentionPanel][row][kAttentionPanel], the last panel narrower.
inline constexpr int64_t kAttentionQueries = 48, kAttentionPanel = 64;

// Offsets in floats into the scratch memory of a kernel, which works on one head of one example at a time. Rows are
// padded to whole cache lines. Products may touch a few rows behind the last one.
struct AttentionScratch {
  int64_t keys = 0, size = 0, value_size = 0;  // sizes of AttentionShape, padded
  int64_t score_row = 0;                       // floats from one query's scores to the next one's
  int64_t query = 0;                           // offset of a block's queries [queries of a block][size]
  int64_t keys_across = 0;                     // offset of the transposed keys [size][keys], in panels
  int64_t scores = 0;                          // offset of a block's scores, later weights [queries of a block][keys]
  int64_t values = 0;                          // forward: offset of the values [keys][value_size], in panels
  int64_t output = 0;                          // forward: offset of a block's results [queries of a block][value_size]
  int64_t keys_down = 0;                       // gradient: offset of the keys [keys][size], in panels
  int64_t values_across = 0;     // gradient: offset of the transposed values [value_size][keys], in panels
  int64_t dy = 0;                // gradient: offset of a block's dy [queries of a block][value_size]
  int64_t dscores = 0;           // gradient: offset of the scores' gradient, laid out as `scores`
  int64_t dquery = 0;            // gradient: offset of the queries' gradient, laid out as `query`
  int64_t dkey = 0, dvalue = 0;  // gradient: offsets of [keys][size] and [keys][value_size]
  int64_t floats = 0;            // size of the scratch memory in floats

  AttentionScratch(const AttentionShape& s, bool gradient)
      : keys(Up(s.keys)), size(Up(s.size)), value_size(Up(s.value_size)), score_row(keys + kLine) {
    const int64_t block = std::min(s.queries, kAttentionQueries) + kSlack, all_keys = keys + kSlack;
    query = Take(block * size);
    keys_across = Take(s.size * keys);
    scores = Take(block * score_row);
    if (gradient) {
      keys_down = Take(s.keys * size);
      values_across = Take(s.value_size * keys);
      dy = Take(block * value_size);
      dscores = Take(block * score_row);
      dquery = Take(block * size);
      dkey = Take(all_keys * size);
      dvalue = Take(all_keys * value_size);
    } else {
      values = Take(s.keys * value_size);
      output = Take(block * value_size);
    }
  }

 private:
  static constexpr int64_t kLine = 16, kSlack = 16;
  static int64_t Up(int64_t n) { return (n + kLine - 1) / kLine * kLine; }
  int64_t Take(int64_t count) {
    const int64_t at = floats;
    floats += Up(count);
    return at;
  }
};

}  // namespace tandem

#endif  // TANDEM_PASSES_EXEC_ATTENTION_SCRATCH_H_
