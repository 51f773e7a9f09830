// Sizes that callers of kernels over blocks of rows (Domain::kBlocks) and the code generation of these kernels share.
#ifndef TANDEM_RUNTIME_COMMANDS_BLOCK_KERNEL_H_
#define TANDEM_RUNTIME_COMMANDS_BLOCK_KERNEL_H_

#include <cstdint>

namespace tandem {

// The number of extra arguments of such a kernel, after its result: float32 matrices of the result's shape. When the
// kernel returns, its caller writes the same rows of these matrices. The kernel may prefetch the rows for writing,
// because memory that other cores have read is slow to write. Any address is allowed, also that of the result.
inline constexpr int kFetchedMatrices = 3;

// The number of input channels whose weight gradient (of a convolution, for all `taps`) a kernel should compute in one
// call. It copies its operands once per call, and this many channels are fastest. One copy of dy serves all taps.
constexpr int64_t ImageBlockChannels(int64_t taps) { return taps == 1 ? 128 : 64; }

}  // namespace tandem

#endif  // TANDEM_RUNTIME_COMMANDS_BLOCK_KERNEL_H_
