// Library calls of products that unpacked_gemm.h computes instead of oneDNN.
#ifndef TANDEM_RUNTIME_CPU_ONEDNN_UNPACKED_GEMM_CALL_H_
#define TANDEM_RUNTIME_CPU_ONEDNN_UNPACKED_GEMM_CALL_H_

#include <memory>

#include "runtime/cpu/onednn/onednn_primitives.h"
#include "runtime/format/index.h"

namespace tandem {

inline constexpr char kUnpackedGemmName[] = "unpacked_gemm";
std::unique_ptr<OneDnnPrimitive> MakeUnpackedGemm(const format::MatMul& c);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CPU_ONEDNN_UNPACKED_GEMM_CALL_H_
