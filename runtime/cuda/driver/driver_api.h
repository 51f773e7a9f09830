// The CUDA driver as a table of functions, loaded at run time: a binary with it runs on machines without a GPU.
#ifndef TANDEM_RUNTIME_CUDA_DRIVER_DRIVER_API_H_
#define TANDEM_RUNTIME_CUDA_DRIVER_DRIVER_API_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/cuda/driver/cuda_types.h"
#include "runtime/cuda/driver/scoped_table.h"

namespace tandem {

// X(symbol, (parameters)) for the functions of libcuda.so.1 that are used. The names with _v2 are the ones behind
// cuda.h's macros. All return CUresult.
// clang-format off
#define TANDEM_CUDA_DRIVER_API(X)                                                                                     \
  X(cuInit, (unsigned flags))                                                                                         \
  X(cuDriverGetVersion, (int* version))                                                                               \
  X(cuGetErrorName, (CUresult error, const char** name))                                                              \
  X(cuGetErrorString, (CUresult error, const char** text))                                                            \
  X(cuDeviceGetCount, (int* count))                                                                                   \
  X(cuDeviceGet, (CUdevice* device, int ordinal))                                                                     \
  X(cuDeviceGetName, (char* name, int length, CUdevice device))                                                       \
  X(cuDeviceGetAttribute, (int* value, int attribute, CUdevice device))                                               \
  X(cuDeviceTotalMem_v2, (size_t* bytes, CUdevice device))                                                            \
  X(cuDevicePrimaryCtxRetain, (CUcontext* context, CUdevice device))                                                  \
  X(cuDevicePrimaryCtxRelease_v2, (CUdevice device))                                                                  \
  X(cuCtxSetCurrent, (CUcontext context))                                                                             \
  X(cuMemGetInfo_v2, (size_t* free, size_t* total))                                                                   \
  X(cuMemAlloc_v2, (CUdeviceptr* address, size_t bytes))                                                              \
  X(cuMemFree_v2, (CUdeviceptr address))                                                                              \
  X(cuMemHostAlloc, (void** address, size_t bytes, unsigned flags))                                                   \
  X(cuMemFreeHost, (void* address))                                                                                   \
  X(cuMemcpyHtoDAsync_v2, (CUdeviceptr to, const void* from, size_t bytes, CUstream stream))                          \
  X(cuMemcpyDtoHAsync_v2, (void* to, CUdeviceptr from, size_t bytes, CUstream stream))                                \
  X(cuMemcpyDtoDAsync_v2, (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream))                          \
  X(cuMemcpyPeerAsync, (CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context, size_t bytes, \
                        CUstream stream))                                                                             \
  X(cuMemsetD8Async, (CUdeviceptr to, unsigned char value, size_t count, CUstream stream))                            \
  X(cuMemsetD32Async, (CUdeviceptr to, unsigned value, size_t count, CUstream stream))                                \
  X(cuMemsetD2D32Async, (CUdeviceptr to, size_t pitch, unsigned value, size_t width, size_t height, CUstream stream)) \
  X(cuModuleLoadDataEx, (CUmodule* module, const void* image, unsigned num_options, int* options, void** values))     \
  X(cuModuleUnload, (CUmodule module))                                                                                \
  X(cuModuleGetFunction, (CUfunction* function, CUmodule module, const char* name))                                   \
  X(cuFuncSetAttribute, (CUfunction function, int attribute, int value))                                              \
  X(cuLaunchKernel, (CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,        \
                     unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream stream, void** params,       \
                     void** extra))                                                                                   \
  X(cuStreamCreate, (CUstream* stream, unsigned flags))                                                               \
  X(cuStreamDestroy_v2, (CUstream stream))                                                                            \
  X(cuStreamSynchronize, (CUstream stream))                                                                           \
  X(cuStreamQuery, (CUstream stream))                                                                                 \
  X(cuStreamWaitEvent, (CUstream stream, CUevent event, unsigned flags))                                              \
  X(cuStreamBeginCapture_v2, (CUstream stream, int mode))                                                             \
  X(cuStreamEndCapture, (CUstream stream, CUgraph* graph))                                                            \
  X(cuStreamIsCapturing, (CUstream stream, int* status))                                                              \
  X(cuEventCreate, (CUevent* event, unsigned flags))                                                                  \
  X(cuEventDestroy_v2, (CUevent event))                                                                               \
  X(cuEventRecord, (CUevent event, CUstream stream))                                                                  \
  X(cuEventSynchronize, (CUevent event))                                                                              \
  X(cuEventQuery, (CUevent event))                                                                                    \
  X(cuEventElapsedTime, (float* milliseconds, CUevent begin, CUevent end))                                            \
  X(cuGraphInstantiateWithFlags, (CUgraphExec* exec, CUgraph graph, unsigned long long flags))                        \
  X(cuGraphLaunch, (CUgraphExec exec, CUstream stream))                                                               \
  X(cuGraphExecDestroy, (CUgraphExec exec))                                                                           \
  X(cuGraphDestroy, (CUgraph graph))
// clang-format on

struct DriverApi {
#define TANDEM_MEMBER(name, parameters) CUresult(*name) parameters = nullptr;
  TANDEM_CUDA_DRIVER_API(TANDEM_MEMBER)
#undef TANDEM_MEMBER
};

// Returns the driver of this machine: libcuda.so.1, bound, initialised and recent enough for the PTX of executables. It
// is loaded once; thread-safe. Errors (FailedPrecondition, exit code 2), each with advice: no driver, a driver that
// lacks a function or is too old, no GPU, or CUDA_VISIBLE_DEVICES that hides all of them.
absl::StatusOr<const DriverApi*> LoadDriver();

using ScopedDriver = ScopedTable<DriverApi>;

// Binds and initialises the driver in the library `path`, as LoadDriver does once.
absl::StatusOr<DriverApi> BindDriver(const std::string& path);
// Calls cuInit, and checks that the driver is recent enough and that there is a GPU.
absl::Status InitDriver(const DriverApi& driver);

// Returns OK, or the error "<call up to its parenthesis>: CUDA_ERROR_NAME (the driver's sentence)". Kinds:
//   ResourceExhausted   device memory (exit code 2: the configuration does not fit the GPU)
//   FailedPrecondition  no such device, a driver that does not fit
//   Unavailable         the GPU was lost: ECC and link errors, a device that went away, a context destroyed, a timeout
//                       (exit code 75: starting again may help)
//   Internal            all others
absl::Status CudaStatus(const DriverApi& driver, CUresult result, absl::string_view call);

// Returns from the function with the error of `call`, e.g. TD_CU(*driver, cuMemFree_v2(address)).
#define TD_CU(driver, call)                                                   \
  do {                                                                        \
    if (::tandem::CUresult td_cu_result = (driver).call; td_cu_result != 0) { \
      return ::tandem::CudaStatus((driver), td_cu_result, #call);             \
    }                                                                         \
  } while (false)

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CUDA_DRIVER_DRIVER_API_H_
