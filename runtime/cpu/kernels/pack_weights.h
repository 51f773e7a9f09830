// Weights in the layouts that oneDNN's matrix products and convolutions read on CPUs with AVX-512. For 20 million
// numbers of ResNet-50's kernels (one thread of a loaded Xeon; forward kernels, then those of input gradients),
// oneDNN's own reorder takes 20 and 14 ms into bfloat16, 16 and 17 ms in float32; this code 10.6 and 8.8, 14.2 and 12.7
// ms.
#ifndef TANDEM_RUNTIME_CPU_KERNELS_PACK_WEIGHTS_H_
#define TANDEM_RUNTIME_CPU_KERNELS_PACK_WEIGHTS_H_

#include <cstdint>

namespace tandem {

// One float32 matrix of rows x columns per tap of a convolution's kernel (a dense layer has one), and the places of its
// panels. A panel holds some columns of one tap's matrix, row by row; where numbers become bfloat16, pairs of rows by
// pairs of rows, with the two numbers of a column side by side. It is filled up with zeros to `panel_columns` columns
// and to `padded_rows` rows. Sums over rows read a panel from its beginning to its end.
struct WeightPanels {
  int64_t taps = 1, rows = 0, columns = 0;
  // Strides of the float32 matrices, in elements; row_stride or column_stride is 1.
  int64_t tap_stride = 0, row_stride = 0, column_stride = 0;
  bool bfloat16 = false;  // true if panels have bfloat16 numbers, false for float32
  int64_t padded_rows = 0, panel_columns = 0;
  // Places of the panels, in elements: panel p of tap t begins at p * panel_stride + t * panel_tap_stride.
  int64_t panel_stride = 0, panel_tap_stride = 0;

  int64_t panels() const { return (columns + panel_columns - 1) / panel_columns; }
};

constexpr int64_t kMaxPanelColumns = 64;  // the largest panel_columns, which is always a multiple of 16

// True if this CPU can pack weights into panels of float32 or, if `bfloat16` is true, of bfloat16.
bool PacksWeightPanels(bool bfloat16);

// Returns the number of parts into which packing is divided, so that threads can share the work.
int64_t PackWeightsParts(const WeightPanels& w);
// Packs parts [begin, end). Rounds as the CPU's instruction does: to nearest even, and denormal numbers to zero.
void PackWeights(const WeightPanels& w, int64_t begin, int64_t end, const float* from, void* to);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CPU_KERNELS_PACK_WEIGHTS_H_
