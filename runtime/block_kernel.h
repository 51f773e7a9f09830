// What kernels over blocks get beside their operands and results.
#ifndef TANDEM_RUNTIME_BLOCK_KERNEL_H_
#define TANDEM_RUNTIME_BLOCK_KERNEL_H_

#include <cstdint>

namespace tandem {

// Behind the result's buffer come those of so many float32 matrices of its shape, whose same rows the caller is about
// to write when the kernel returns: it may fetch them meanwhile, for a write, because what other cores have read is
// slow to write. Any address will do, also that of the result.
inline constexpr int kFetchedMatrices = 3;

// Input channels of a convolution's weight gradient whose rows, for all taps, a kernel computes from one copy of its
// operands: that many in a call are fastest. A copy of dy serves all taps.
constexpr int64_t ImageBlockChannels(int64_t taps) { return taps == 1 ? 128 : 64; }

}  // namespace tandem

#endif  // TANDEM_RUNTIME_BLOCK_KERNEL_H_
