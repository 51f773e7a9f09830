// Our own declarations of CUDA's libraries against NVIDIA's headers, where the build found them: numbers, layouts, and
// the sizes of every function's parameters. A wrong one would show on a GPU only, and as anything.
#include <array>
#include <cstddef>
#include <string>

#include "gtest/gtest.h"
#include "runtime/cuda/communicator/nccl_api.h"
#include "runtime/cuda/driver/driver_api.h"
#include "runtime/cuda/libraries/cublaslt_api.h"

// NVIDIA's macros would rename functions to their latest version; ours names each version that it means.
#define __CUDA_API_VERSION_INTERNAL
#if __has_include(<cuda.h>)
#include <cuda.h>
#define TANDEM_HAS_DRIVER_HEADER 1
#endif
#if __has_include(<cublasLt.h>)
#include <cublasLt.h>
#define TANDEM_HAS_CUBLASLT_HEADER 1
#endif
#if __has_include(<nccl.h>)
#include <nccl.h>
#define TANDEM_HAS_NCCL_HEADER 1
#endif

namespace {

template <typename T>
constexpr size_t SizeOf() {
  if constexpr (std::is_void_v<T>)
    return 0;
  else
    return sizeof(T);
}

// The result's size, then the parameters'.
template <typename R, typename... A>
std::string Sizes(R (*)(A...)) {
  std::string text = std::to_string(SizeOf<R>());
  ((text += " " + std::to_string(sizeof(A)) + (std::is_pointer_v<A> ? "p" : "")), ...);
  return text;
}

TEST(DeclarationsTest, Driver) {
#ifdef TANDEM_HAS_DRIVER_HEADER
#define TANDEM_COMPARE(name, parameters) \
  EXPECT_EQ(Sizes(tandem::DriverApi().name), Sizes(static_cast<decltype(&::name)>(nullptr))) << #name;
  TANDEM_CUDA_DRIVER_API(TANDEM_COMPARE)
#undef TANDEM_COMPARE
  EXPECT_EQ(tandem::kCudaOutOfMemory, CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(tandem::kCudaNotReady, CUDA_ERROR_NOT_READY);
  EXPECT_EQ(tandem::kCudaStubLibrary, CUDA_ERROR_STUB_LIBRARY);
  EXPECT_EQ(tandem::kCudaNoDevice, CUDA_ERROR_NO_DEVICE);
  EXPECT_EQ(tandem::kCudaInvalidPtx, CUDA_ERROR_INVALID_PTX);
  EXPECT_EQ(tandem::kCudaUnsupportedPtxVersion, CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
  EXPECT_EQ(tandem::kCudaNoBinaryForGpu, CUDA_ERROR_NO_BINARY_FOR_GPU);
  EXPECT_EQ(tandem::kCudaNotFound, CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(tandem::kCudaIllegalAddress, CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(tandem::kCudaLaunchFailed, CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_EQ(tandem::kCudaLaunchTimeout, CUDA_ERROR_LAUNCH_TIMEOUT);
  EXPECT_EQ(tandem::kCudaHardwareStackError, CUDA_ERROR_HARDWARE_STACK_ERROR);
  EXPECT_EQ(tandem::kCudaEccUncorrectable, CUDA_ERROR_ECC_UNCORRECTABLE);
  EXPECT_EQ(tandem::kCudaNvlinkUncorrectable, CUDA_ERROR_NVLINK_UNCORRECTABLE);
  EXPECT_EQ(tandem::kCudaContextIsDestroyed, CUDA_ERROR_CONTEXT_IS_DESTROYED);
  EXPECT_EQ(tandem::kCudaDeviceUnavailable, CUDA_ERROR_DEVICE_UNAVAILABLE);
  EXPECT_EQ(tandem::kCudaSystemNotReady, CUDA_ERROR_SYSTEM_NOT_READY);
  EXPECT_EQ(tandem::kCudaSystemDriverMismatch, CUDA_ERROR_SYSTEM_DRIVER_MISMATCH);
  EXPECT_EQ(tandem::kCudaCaptureUnsupported, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(tandem::kCudaCaptureInvalidated, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  EXPECT_EQ(tandem::kCudaCaptureIsolation, CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
  EXPECT_EQ(tandem::kCudaCapturedEvent, CUDA_ERROR_CAPTURED_EVENT);
  EXPECT_EQ(tandem::kCudaAttributeMultiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  EXPECT_EQ(tandem::kCudaAttributeComputeMajor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  EXPECT_EQ(tandem::kCudaAttributeComputeMinor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  EXPECT_EQ(tandem::kCudaAttributeMaxSharedPerBlockOptin, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  EXPECT_EQ(tandem::kCudaFunctionMaxDynamicShared, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
  EXPECT_EQ(tandem::kCudaJitErrorLogBuffer, CU_JIT_ERROR_LOG_BUFFER);
  EXPECT_EQ(tandem::kCudaJitErrorLogBufferSize, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
  EXPECT_EQ(tandem::kCudaStreamNonBlocking, static_cast<unsigned>(CU_STREAM_NON_BLOCKING));
  EXPECT_EQ(tandem::kCudaEventDisableTiming, static_cast<unsigned>(CU_EVENT_DISABLE_TIMING));
  EXPECT_EQ(tandem::kCudaHostAllocPortable, static_cast<unsigned>(CU_MEMHOSTALLOC_PORTABLE));
  EXPECT_EQ(tandem::kCudaCaptureThreadLocal, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
  EXPECT_EQ(tandem::kCudaCaptureStatusActive, CU_STREAM_CAPTURE_STATUS_ACTIVE);
#else
  GTEST_SKIP() << "NVIDIA's header is not here: ./setup --cuda, or a toolkit";
#endif
}

TEST(DeclarationsTest, CublasLt) {
#ifdef TANDEM_HAS_CUBLASLT_HEADER
#define TANDEM_COMPARE(result, name, parameters) \
  EXPECT_EQ(Sizes(tandem::CublasLtApi().name), Sizes(static_cast<decltype(&::name)>(nullptr))) << #name;
  TANDEM_CUBLASLT_FUNCTIONS(TANDEM_COMPARE)
#undef TANDEM_COMPARE
  EXPECT_EQ(sizeof(tandem::cublasLtMatmulAlgo_t), sizeof(::cublasLtMatmulAlgo_t));
  EXPECT_EQ(sizeof(tandem::cublasLtMatmulHeuristicResult_t), sizeof(::cublasLtMatmulHeuristicResult_t));
  using Ours = tandem::cublasLtMatmulHeuristicResult_t;
  EXPECT_EQ(offsetof(Ours, workspaceSize), offsetof(::cublasLtMatmulHeuristicResult_t, workspaceSize));
  EXPECT_EQ(offsetof(Ours, state), offsetof(::cublasLtMatmulHeuristicResult_t, state));
  namespace lt = tandem::cublaslt;
  EXPECT_EQ(lt::kSuccess, CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(lt::kAllocFailed, CUBLAS_STATUS_ALLOC_FAILED);
  EXPECT_EQ(lt::kInvalidValue, CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(lt::kExecutionFailed, CUBLAS_STATUS_EXECUTION_FAILED);
  EXPECT_EQ(lt::kNotSupported, CUBLAS_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(lt::kFloat32, CUDA_R_32F);
  EXPECT_EQ(lt::kBFloat16, CUDA_R_16BF);
  EXPECT_EQ(lt::kCompute32F, CUBLAS_COMPUTE_32F);
  EXPECT_EQ(lt::kCompute32FPedantic, CUBLAS_COMPUTE_32F_PEDANTIC);
  EXPECT_EQ(lt::kCompute32FFastTf32, CUBLAS_COMPUTE_32F_FAST_TF32);
  EXPECT_EQ(lt::kOperationN, CUBLAS_OP_N);
  EXPECT_EQ(lt::kOperationT, CUBLAS_OP_T);
  EXPECT_EQ(lt::kDescTransA, CUBLASLT_MATMUL_DESC_TRANSA);
  EXPECT_EQ(lt::kDescTransB, CUBLASLT_MATMUL_DESC_TRANSB);
  EXPECT_EQ(lt::kDescEpilogue, CUBLASLT_MATMUL_DESC_EPILOGUE);
  EXPECT_EQ(lt::kDescBiasPointer, CUBLASLT_MATMUL_DESC_BIAS_POINTER);
  EXPECT_EQ(lt::kDescBiasDataType, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE);
  EXPECT_EQ(lt::kLayoutBatchCount, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT);
  EXPECT_EQ(lt::kLayoutStridedBatchOffset, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET);
#if CUBLAS_VERSION >= 120900
  EXPECT_EQ(lt::kLayoutBatchMode, CUBLASLT_MATRIX_LAYOUT_BATCH_MODE);
  EXPECT_EQ(lt::kBatchModePointerArray, static_cast<uint32_t>(CUBLASLT_BATCH_MODE_POINTER_ARRAY));
#endif
  EXPECT_EQ(lt::kPrefMaxWorkspaceBytes, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES);
  EXPECT_EQ(lt::kPrefReductionSchemeMask, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK);
  EXPECT_EQ(lt::kPrefMinAlignmentA, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES);
  EXPECT_EQ(lt::kPrefMinAlignmentB, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES);
  EXPECT_EQ(lt::kPrefMinAlignmentC, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES);
  EXPECT_EQ(lt::kPrefMinAlignmentD, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES);
  EXPECT_EQ(lt::kReductionInplace, static_cast<uint32_t>(CUBLASLT_REDUCTION_SCHEME_INPLACE));
  EXPECT_EQ(lt::kReductionComputeType, static_cast<uint32_t>(CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE));
  EXPECT_EQ(lt::kEpilogueDefault, static_cast<uint32_t>(CUBLASLT_EPILOGUE_DEFAULT));
  EXPECT_EQ(lt::kEpilogueRelu, static_cast<uint32_t>(CUBLASLT_EPILOGUE_RELU));
  EXPECT_EQ(lt::kEpilogueBias, static_cast<uint32_t>(CUBLASLT_EPILOGUE_BIAS));
  EXPECT_EQ(lt::kEpilogueRelu + lt::kEpilogueBias, static_cast<uint32_t>(CUBLASLT_EPILOGUE_RELU_BIAS));
  EXPECT_EQ(lt::kEpilogueGelu, static_cast<uint32_t>(CUBLASLT_EPILOGUE_GELU));
  const uint32_t relu_mask_bias = lt::kEpilogueRelu + lt::kEpilogueAux + lt::kEpilogueBias;
  EXPECT_EQ(relu_mask_bias, static_cast<uint32_t>(CUBLASLT_EPILOGUE_RELU_AUX_BIAS));
  const uint32_t gelu_input_bias = lt::kEpilogueGelu + lt::kEpilogueAux + lt::kEpilogueBias;
  EXPECT_EQ(gelu_input_bias, static_cast<uint32_t>(CUBLASLT_EPILOGUE_GELU_AUX_BIAS));
  const uint32_t relu_gradient = lt::kEpilogueReluGrad + lt::kEpilogueAux;
  EXPECT_EQ(relu_gradient, static_cast<uint32_t>(CUBLASLT_EPILOGUE_DRELU));
  EXPECT_EQ(relu_gradient + lt::kEpilogueBiasGrad, static_cast<uint32_t>(CUBLASLT_EPILOGUE_DRELU_BGRAD));
  const uint32_t gelu_gradient = lt::kEpilogueGeluGrad + lt::kEpilogueAux;
  EXPECT_EQ(gelu_gradient, static_cast<uint32_t>(CUBLASLT_EPILOGUE_DGELU));
  EXPECT_EQ(gelu_gradient + lt::kEpilogueBiasGrad, static_cast<uint32_t>(CUBLASLT_EPILOGUE_DGELU_BGRAD));
  EXPECT_EQ(lt::kEpilogueBiasGradA, static_cast<uint32_t>(CUBLASLT_EPILOGUE_BGRADA));
  EXPECT_EQ(lt::kEpilogueBiasGradB, static_cast<uint32_t>(CUBLASLT_EPILOGUE_BGRADB));
  EXPECT_EQ(lt::kDescAuxPointer, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER);
  EXPECT_EQ(lt::kDescAuxLeadingDimension, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD);
#else
  GTEST_SKIP() << "NVIDIA's header is not here: ./setup --cuda, or a toolkit";
#endif
}

TEST(DeclarationsTest, Nccl) {
#ifdef TANDEM_HAS_NCCL_HEADER
#define TANDEM_COMPARE(result, name, parameters) \
  EXPECT_EQ(Sizes(tandem::NcclApi().name), Sizes(static_cast<decltype(&::name)>(nullptr))) << #name;
  TANDEM_NCCL_FUNCTIONS(TANDEM_COMPARE)
#undef TANDEM_COMPARE
  namespace own = tandem::nccl;
  EXPECT_EQ(own::kSuccess, ncclSuccess);
  EXPECT_EQ(own::kUnhandledCudaError, ncclUnhandledCudaError);
  EXPECT_EQ(own::kSystemError, ncclSystemError);
  EXPECT_EQ(own::kRemoteError, ncclRemoteError);
  EXPECT_EQ(own::kInProgress, ncclInProgress);
  EXPECT_EQ(own::kUInt8, ncclUint8);
  EXPECT_EQ(own::kInt32, ncclInt32);
  EXPECT_EQ(own::kInt64, ncclInt64);
  EXPECT_EQ(own::kFloat32, ncclFloat32);
  EXPECT_EQ(own::kFloat64, ncclFloat64);
  EXPECT_EQ(own::kSum, ncclSum);
  EXPECT_EQ(own::kMax, ncclMax);
#else
  GTEST_SKIP() << "NVIDIA's header is not here: ./setup --cuda, or a toolkit";
#endif
}

}  // namespace
