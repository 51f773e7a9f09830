// What kernels over blocks get beside their operands and results.
#ifndef TANDEM_RUNTIME_BLOCK_KERNEL_H_
#define TANDEM_RUNTIME_BLOCK_KERNEL_H_

namespace tandem {

// Behind the result's buffer come those of so many float32 matrices of its shape, whose same rows the caller is about
// to write when the kernel returns: it may fetch them meanwhile, for a write, because what other cores have read is
// slow to write. Any address will do, also that of the result.
inline constexpr int kFetchedMatrices = 3;

}  // namespace tandem

#endif  // TANDEM_RUNTIME_BLOCK_KERNEL_H_
