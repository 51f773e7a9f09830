// The types and numbers of the CUDA driver API that the runtime uses, declared here so that the build needs no CUDA
// header. Source: NVIDIA, "CUDA Driver API" reference (CUDA 13). The values are part of the driver's binary interface.
#ifndef TANDEM_RUNTIME_CUDA_DRIVER_CUDA_TYPES_H_
#define TANDEM_RUNTIME_CUDA_DRIVER_CUDA_TYPES_H_

#include <cstddef>
#include <cstdint>

// The structs have the names that cuda.h gives them, so that files that also include cuda.h have the same handle types.
struct CUctx_st;
struct CUmod_st;
struct CUfunc_st;
struct CUstream_st;
struct CUevent_st;
struct CUgraph_st;
struct CUgraphExec_st;

namespace tandem {

using CUresult = int;
using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUcontext = ::CUctx_st*;
using CUmodule = ::CUmod_st*;
using CUfunction = ::CUfunc_st*;
using CUstream = ::CUstream_st*;
using CUevent = ::CUevent_st*;
using CUgraph = ::CUgraph_st*;
using CUgraphExec = ::CUgraphExec_st*;

// Values of CUresult.
inline constexpr CUresult kCudaSuccess = 0;
inline constexpr CUresult kCudaInvalidValue = 1;
inline constexpr CUresult kCudaOutOfMemory = 2;
inline constexpr CUresult kCudaNotInitialized = 3;
inline constexpr CUresult kCudaStubLibrary = 34;
inline constexpr CUresult kCudaRequiresNewerDriver = 36;
inline constexpr CUresult kCudaDeviceUnavailable = 46;
inline constexpr CUresult kCudaNoDevice = 100;
inline constexpr CUresult kCudaInvalidDevice = 101;
inline constexpr CUresult kCudaInvalidImage = 200;
inline constexpr CUresult kCudaInvalidContext = 201;
inline constexpr CUresult kCudaNoBinaryForGpu = 209;
inline constexpr CUresult kCudaEccUncorrectable = 214;
inline constexpr CUresult kCudaInvalidPtx = 218;
inline constexpr CUresult kCudaNvlinkUncorrectable = 220;
inline constexpr CUresult kCudaUnsupportedPtxVersion = 222;
inline constexpr CUresult kCudaInvalidHandle = 400;
inline constexpr CUresult kCudaNotFound = 500;
inline constexpr CUresult kCudaNotReady = 600;
inline constexpr CUresult kCudaIllegalAddress = 700;
inline constexpr CUresult kCudaLaunchOutOfResources = 701;
inline constexpr CUresult kCudaLaunchTimeout = 702;
inline constexpr CUresult kCudaContextIsDestroyed = 709;
inline constexpr CUresult kCudaHardwareStackError = 714;
inline constexpr CUresult kCudaLaunchFailed = 719;
inline constexpr CUresult kCudaSystemNotReady = 802;
inline constexpr CUresult kCudaSystemDriverMismatch = 803;
inline constexpr CUresult kCudaCaptureUnsupported = 900;
inline constexpr CUresult kCudaCaptureInvalidated = 901;
inline constexpr CUresult kCudaCaptureUnmatched = 903;
inline constexpr CUresult kCudaCaptureUnjoined = 904;
inline constexpr CUresult kCudaCaptureIsolation = 905;
inline constexpr CUresult kCudaCapturedEvent = 907;
inline constexpr CUresult kCudaUnknown = 999;

// Values of CUdevice_attribute.
inline constexpr int kCudaAttributeMultiprocessors = 16;
inline constexpr int kCudaAttributeComputeMajor = 75;
inline constexpr int kCudaAttributeComputeMinor = 76;
inline constexpr int kCudaAttributeMaxSharedPerBlockOptin = 97;

// Values of CUfunction_attribute.
inline constexpr int kCudaFunctionMaxDynamicShared = 8;

// Values of CUjit_option.
inline constexpr int kCudaJitInfoLogBuffer = 3;
inline constexpr int kCudaJitInfoLogBufferSize = 4;
inline constexpr int kCudaJitErrorLogBuffer = 5;
inline constexpr int kCudaJitErrorLogBufferSize = 6;

// Flags of cuStreamCreate, cuEventCreate, cuMemHostAlloc; modes of capture.
inline constexpr unsigned kCudaStreamNonBlocking = 1;
inline constexpr unsigned kCudaEventDefault = 0;
inline constexpr unsigned kCudaEventDisableTiming = 2;
inline constexpr unsigned kCudaHostAllocPortable = 1;
inline constexpr int kCudaCaptureThreadLocal = 1;
inline constexpr int kCudaCaptureStatusNone = 0;
inline constexpr int kCudaCaptureStatusActive = 1;

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CUDA_DRIVER_CUDA_TYPES_H_
