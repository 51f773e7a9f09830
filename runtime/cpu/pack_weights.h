// Weights in the layouts that oneDNN's matrix products and convolutions read on CPUs with AVX-512. For 20 million
// numbers of ResNet-50's kernels its own reorder takes 20 and 14 ms where they become bfloat16 (forward kernels and
// those of input gradients, one thread of a loaded Xeon), 16 and 17 ms in float32; this 10.6 and 8.8, 14.2 and 12.7 ms.
#ifndef TANDEM_RUNTIME_CPU_PACK_WEIGHTS_H_
#define TANDEM_RUNTIME_CPU_PACK_WEIGHTS_H_

#include <cstdint>

namespace tandem {

// One float32 matrix of rows x columns per tap of a convolution's kernel (a dense layer has one), and where its panels
// go. A panel holds some columns of one tap's matrix, row by row, or where numbers become bfloat16 pairs of rows by
// pairs of rows, the two numbers of a column side by side. It is filled up with zeros to whole rows of columns and to
// `padded_rows` rows. Sums over rows read a panel from its beginning to its end.
struct WeightPanels {
  int64_t taps = 1, rows = 0, columns = 0;
  // Of the matrices, in elements; row_stride or column_stride is 1.
  int64_t tap_stride = 0, row_stride = 0, column_stride = 0;
  bool bfloat16 = false;  // of the panels
  int64_t padded_rows = 0, panel_columns = 0;
  // Where panels lie, in elements: panel p of tap t at p panel_stride + t panel_tap_stride.
  int64_t panel_stride = 0, panel_tap_stride = 0;

  int64_t panels() const { return (columns + panel_columns - 1) / panel_columns; }
};

constexpr int64_t kMaxPanelColumns = 64;  // and multiples of 16

// Whether this CPU packs into panels of float32, and of bfloat16.
bool PacksWeightPanels(bool bfloat16);

// Into how many parts the work is cut.
int64_t PackWeightsParts(const WeightPanels& w);
// Packs parts [begin, end). Rounds as the CPU's instruction does: to nearest even, and denormal numbers to zero.
void PackWeights(const WeightPanels& w, int64_t begin, int64_t end, const float* from, void* to);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CPU_PACK_WEIGHTS_H_
