// The matrix instructions of passes/codegen/gpu/device.h for walked blocks.
#ifndef TANDEM_RUNTIME_CUDA_TESTING_WALKED_MATRICES_H_
#define TANDEM_RUNTIME_CUDA_TESTING_WALKED_MATRICES_H_

#include <cstdint>

namespace tandem {

// The types in which LLVM passes <4 x i32> and <4 x float>.
using FourInts = uint32_t __attribute__((vector_size(16)));
using FourFloats = float __attribute__((vector_size(16)));

uint32_t WalkedPackBFloat16(float low, float high);
uint32_t WalkedRoundToTensorFloat32(float x);
FourInts WalkedLoadMatrices(const char* address);
FourInts WalkedLoadTransposed(const char* address);
FourFloats WalkedMultiplyAdd(uint32_t a0, uint32_t a1, uint32_t a2, uint32_t a3, uint32_t b0, uint32_t b1,
                             FourFloats c);
FourFloats WalkedMultiplyAddTensorFloat32(uint32_t a0, uint32_t a1, uint32_t a2, uint32_t a3, uint32_t b0, uint32_t b1,
                                          FourFloats c);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CUDA_TESTING_WALKED_MATRICES_H_
