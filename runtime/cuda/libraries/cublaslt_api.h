// The functions of cuBLASLt that Tandem calls, bound when the program runs. Declarations are our own: values and
// layouts are those of cublasLt.h 12 and 13.
#ifndef TANDEM_RUNTIME_CUDA_LIBRARIES_CUBLASLT_API_H_
#define TANDEM_RUNTIME_CUDA_LIBRARIES_CUBLASLT_API_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/cuda/driver/cuda_types.h"
#include "runtime/cuda/driver/scoped_table.h"

namespace tandem {

using cublasStatus_t = int;
using cublasLtHandle_t = struct CublasLtHandleSt*;
using cublasLtMatmulDesc_t = struct CublasLtMatmulDescSt*;
using cublasLtMatrixLayout_t = struct CublasLtMatrixLayoutSt*;
using cublasLtMatmulPreference_t = struct CublasLtMatmulPreferenceSt*;

// An algorithm with its settings: plain bytes, valid for one version of the library.
struct cublasLtMatmulAlgo_t {
  uint64_t data[8];
};

struct cublasLtMatmulHeuristicResult_t {
  cublasLtMatmulAlgo_t algo;
  size_t workspaceSize;
  cublasStatus_t state;  // the other fields are valid only if this is success
  float wavesCount;
  int reserved[4];
};

namespace cublaslt {

inline constexpr cublasStatus_t kSuccess = 0, kNotInitialized = 1, kAllocFailed = 3, kInvalidValue = 7,
                                kArchMismatch = 8, kExecutionFailed = 13, kInternalError = 14, kNotSupported = 15;
// Values of cudaDataType.
inline constexpr int kFloat32 = 0, kBFloat16 = 14;
// Values of cublasComputeType_t. Pedantic forbids algorithms that round operands, even if environment variables allow
// them.
inline constexpr int kCompute32F = 68, kCompute32FPedantic = 69, kCompute32FFastTf32 = 77;
// Values of cublasOperation_t.
inline constexpr int32_t kOperationN = 0, kOperationT = 1;
// Values of cublasLtMatmulDescAttributes_t.
inline constexpr int kDescTransA = 3, kDescTransB = 4, kDescEpilogue = 7, kDescBiasPointer = 8, kDescAuxPointer = 11,
                     kDescAuxLeadingDimension = 12, kDescBiasDataType = 26;
// Values of cublasLtMatrixLayoutAttribute_t.
inline constexpr int kLayoutBatchCount = 5, kLayoutStridedBatchOffset = 6, kLayoutBatchMode = 8;
// Value of cublasLtBatchMode_t, from 12.9 on: operands are arrays of the matrices' addresses in device memory.
inline constexpr uint32_t kBatchModePointerArray = 1;
// Values of cublasLtMatmulPreferenceAttributes_t.
inline constexpr int kPrefMaxWorkspaceBytes = 1, kPrefReductionSchemeMask = 3, kPrefMinAlignmentA = 5,
                     kPrefMinAlignmentB = 6, kPrefMinAlignmentC = 7, kPrefMinAlignmentD = 8;
// Values of cublasLtReductionScheme_t.
inline constexpr uint32_t kReductionNone = 0, kReductionInplace = 1, kReductionComputeType = 2,
                          kReductionOutputType = 4;
// Bits of cublasLtEpilogue_t, whose values are sums of them. Relu, Gelu and their gradients are the function that is
// applied to the product; GELU is the tanh form. Aux says that the function saves or reads the auxiliary matrix. The
// others say which sums are the gradient of a bias: BiasGrad sums the result's rows; BiasGradA and BiasGradB sum A or B
// over the dimension that the product sums over.
inline constexpr uint32_t kEpilogueDefault = 1, kEpilogueRelu = 2, kEpilogueBias = 4, kEpilogueReluGrad = 8,
                          kEpilogueBiasGrad = 16, kEpilogueGelu = 32, kEpilogueGeluGrad = 64, kEpilogueAux = 128,
                          kEpilogueBiasGradA = 256, kEpilogueBiasGradB = 512;

}  // namespace cublaslt

// The list of functions: X(result, name, arguments) for each.
#define TANDEM_CUBLASLT_FUNCTIONS(X)                                                                                   \
  X(size_t, cublasLtGetVersion, ())                                                                                    \
  X(const char*, cublasLtGetStatusName, (cublasStatus_t status))                                                       \
  X(cublasStatus_t, cublasLtCreate, (cublasLtHandle_t * handle))                                                       \
  X(cublasStatus_t, cublasLtDestroy, (cublasLtHandle_t handle))                                                        \
  X(cublasStatus_t, cublasLtMatmulDescCreate, (cublasLtMatmulDesc_t * desc, int compute_type, int scale_type))         \
  X(cublasStatus_t, cublasLtMatmulDescDestroy, (cublasLtMatmulDesc_t desc))                                            \
  X(cublasStatus_t, cublasLtMatmulDescSetAttribute,                                                                    \
    (cublasLtMatmulDesc_t desc, int attribute, const void* value, size_t bytes))                                       \
  X(cublasStatus_t, cublasLtMatrixLayoutCreate,                                                                        \
    (cublasLtMatrixLayout_t * layout, int type, uint64_t rows, uint64_t columns, int64_t leading_dimension))           \
  X(cublasStatus_t, cublasLtMatrixLayoutDestroy, (cublasLtMatrixLayout_t layout))                                      \
  X(cublasStatus_t, cublasLtMatrixLayoutSetAttribute,                                                                  \
    (cublasLtMatrixLayout_t layout, int attribute, const void* value, size_t bytes))                                   \
  X(cublasStatus_t, cublasLtMatmulPreferenceCreate, (cublasLtMatmulPreference_t * preference))                         \
  X(cublasStatus_t, cublasLtMatmulPreferenceDestroy, (cublasLtMatmulPreference_t preference))                          \
  X(cublasStatus_t, cublasLtMatmulPreferenceSetAttribute,                                                              \
    (cublasLtMatmulPreference_t preference, int attribute, const void* value, size_t bytes))                           \
  X(cublasStatus_t, cublasLtMatmulAlgoGetHeuristic,                                                                    \
    (cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,           \
     cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d, cublasLtMatmulPreference_t preference, int requested,         \
     cublasLtMatmulHeuristicResult_t* results, int* found))                                                            \
  X(cublasStatus_t, cublasLtMatmulAlgoCheck,                                                                           \
    (cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,           \
     cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d, const cublasLtMatmulAlgo_t* algorithm,                        \
     cublasLtMatmulHeuristicResult_t* result))                                                                         \
  X(cublasStatus_t, cublasLtMatmul,                                                                                    \
    (cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, const void* alpha, const void* a,                             \
     cublasLtMatrixLayout_t a_layout, const void* b, cublasLtMatrixLayout_t b_layout, const void* beta, const void* c, \
     cublasLtMatrixLayout_t c_layout, void* d, cublasLtMatrixLayout_t d_layout, const cublasLtMatmulAlgo_t* algorithm, \
     void* workspace, size_t workspace_bytes, CUstream stream))

struct CublasLtApi {
#define TANDEM_MEMBER(R, N, A) R(*N) A = nullptr;
  TANDEM_CUBLASLT_FUNCTIONS(TANDEM_MEMBER)
#undef TANDEM_MEMBER
};

// Returns the library's table, which lives for ever. Without `path` the library is searched for once per process
// (TANDEM_LIBCUBLASLT, then libcublasLt.so.13 and .12) and later calls return the first call's result.
absl::StatusOr<const CublasLtApi*> LoadCublasLt(const std::string& path = "");

using ScopedCublasLt = ScopedTable<CublasLtApi>;

// Returns OK for success, else ResourceExhausted (allocation) or Internal: "cuBLASLt cannot <what>: CUBLAS_STATUS_...".
absl::Status CublasLtStatus(const CublasLtApi& api, cublasStatus_t status, const std::string& what);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CUDA_LIBRARIES_CUBLASLT_API_H_
