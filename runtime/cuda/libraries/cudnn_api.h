// The interface to cuDNN: convolutions as execution plans. It is implemented by cudnn-frontend where the build found
// CUDA's headers (cudnn_frontend_plans.cc), by an error that says so where it did not (no_cudnn.cc), or by a fake in
// tests.
//
// A plan works on tensors of one element type, the call's operand type: x and y are NHWC, the kernel is KRSC ([output
// channels, height, width, input channels]), and so is a bias. The kernels of library_kernels.h do the rest around the
// plan (HWIO kernels, float32 results of bfloat16 operands).
#ifndef TANDEM_RUNTIME_CUDA_LIBRARIES_CUDNN_API_H_
#define TANDEM_RUNTIME_CUDA_LIBRARIES_CUDNN_API_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/cuda/driver/cuda_types.h"
#include "runtime/cuda/driver/scoped_table.h"
#include "runtime/format/index.h"

namespace tandem {

// A plan as it is stored in an executable.
struct CudnnPlan {
  std::string bytes;  // engine and settings (cudnn_plan_text.h)
  uint64_t workspace_bytes = 0;
  std::string name;  // cuDNN's name of the engine and its settings: "eng62_k2=4_k13=0"
};

// The tensors that a plan reads and writes, by their roles in the forward convolution: a gradient reads y as dy and
// writes x as dx or kernel as dkernel.
struct CudnnTensors {
  CUdeviceptr x = 0, kernel = 0, y = 0;
  // The bias of a Conv2D with an epilogue. Relu without a bias has one too, of zeros: cuDNN's engines support relu only
  // after a bias, and need a GPU's run-time compiler for other patterns.
  CUdeviceptr bias = 0;
};

// A plan on a device.
class CudnnLoadedPlan {
 public:
  virtual ~CudnnLoadedPlan() = default;
  virtual uint64_t workspace_bytes() const = 0;
  virtual const std::string& name() const = 0;
  // Enqueues the plan; legal while the stream is captured. `workspace` is 256-byte aligned.
  virtual absl::Status Enqueue(const CudnnTensors& tensors, CUdeviceptr workspace, CUstream stream) = 0;
};

// cuDNN on the device whose context is current when it is opened, and whenever it is used.
class CudnnDevice {
 public:
  virtual ~CudnnDevice() = default;
  // Loads a plan that was compiled before. Errors: FailedPrecondition when this device or version does not accept it.
  virtual absl::StatusOr<std::unique_ptr<CudnnLoadedPlan>> Load(const format::LibraryCall& call,
                                                                absl::string_view bytes) = 0;
  // Builds plans for the call, in the order of cuDNN's heuristic, at most `limit` of them and none that needs more than
  // `max_workspace` bytes. All repeat their results bit for bit. Errors: Unimplemented when cuDNN has none.
  virtual absl::StatusOr<std::vector<std::unique_ptr<CudnnLoadedPlan>>> Build(const format::LibraryCall& call,
                                                                              int limit, uint64_t max_workspace) = 0;
  // Builds only the plan whose name (CudnnLoadedPlan::name) is `name`, of all plans that cuDNN has for the call.
  // Errors: NotFound.
  virtual absl::StatusOr<std::unique_ptr<CudnnLoadedPlan>> BuildNamed(const format::LibraryCall& call,
                                                                      const std::string& name,
                                                                      uint64_t max_workspace) = 0;
};

class CudnnApi {
 public:
  virtual ~CudnnApi() = default;
  virtual absl::StatusOr<std::unique_ptr<CudnnDevice>> OpenDevice() const = 0;
  // Makes a plan for devices of compute capability sm / 10, without a device. Errors: Unimplemented when `sm` is an
  // architecture whose properties are not known here or cuDNN has no plan.
  virtual absl::StatusOr<CudnnPlan> Compile(const format::LibraryCall& call, int sm) const = 0;
  // Returns a text such as "cuDNN 9.19.0". A measured choice of plans holds for one version only.
  virtual std::string version() const = 0;
};

// Returns cuDNN of this machine, which lives for ever. It is searched for once per process (TANDEM_LIBCUDNN, then
// libcudnn.so.9).
absl::StatusOr<const CudnnApi*> LoadCudnn();

// Makes the plan for `call` (a convolution for which LibraryOf returns cuDNN) on devices of compute capability `sm` /
// 10 (75, 90). Works without a GPU. Errors: those of LoadCudnn and CudnnApi::Compile: then the executable has no plan,
// and the device builds one when it is loaded. Unimplemented also for calls that are not cuDNN's.
absl::StatusOr<CudnnPlan> CompileCudnnPlan(const format::LibraryCall& call, int sm);

using ScopedCudnn = ScopedTable<CudnnApi>;

// The most workspace that a plan may ask for. NHWC float32 without TensorFloat-32 runs on engines that change the
// layout of x and y, which takes about a gigabyte for the largest layers of ResNet-50 at batch 256.
inline constexpr uint64_t kMaxPlanWorkspace = uint64_t{2} << 30;

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CUDA_LIBRARIES_CUDNN_API_H_
