// Library calls on a GPU: cuBLASLt, cuDNN and small kernels behind one interface.
//
// A call is prepared once, when an executable is loaded: descriptors, algorithms and plans are chosen there. Enqueue
// then only issues work on a stream; it allocates nothing, waits for nothing and is legal while the stream is captured.
// Results are the same bits in every run on one kind of device with one version of the libraries: algorithms come from
// the libraries' heuristics (or a recorded measurement), none uses atomics, and no two calls share a workspace at a
// time.
#ifndef TANDEM_RUNTIME_CUDA_LIBRARIES_LIBRARY_CALLS_H_
#define TANDEM_RUNTIME_CUDA_LIBRARIES_LIBRARY_CALLS_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/cuda/driver/cuda_types.h"
#include "runtime/cuda/driver/driver_api.h"
#include "runtime/format/index.h"

namespace tandem {

class PreparedCall {
 public:
  virtual ~PreparedCall() = default;
  // Returns the bytes of device memory that Enqueue needs for itself, 256-byte aligned. Calls on one stream may share
  // it.
  virtual uint64_t workspace_bytes() const = 0;
  // Returns a name for traces and dumps: "cuBLASLt", "cuDNN eng62_k2=4", "kernel".
  virtual const std::string& implementation() const = 0;
  // Issues the call. Operands are in the order of the command's, 16-byte aligned, each as large as CheckLibraryCall
  // says. The context must be the one that the call was prepared in.
  virtual absl::Status Enqueue(absl::Span<const CUdeviceptr> inputs, absl::Span<const CUdeviceptr> outputs,
                               CUdeviceptr workspace, CUstream stream) = 0;
};

class PlanChoices;

// Prepares the library calls of one device. The libraries are loaded when the first call needs them (LoadCublasLt,
// LoadCudnn): a model without convolutions needs no cuDNN.
class LibraryCallRunner {
 public:
  struct Options {
    // Measures the candidates of every call on the device, once, and takes the fastest. The choice depends on the
    // measurement; `choices` makes later sessions repeat it.
    bool autotune = false;
    // Choices read from here are used before anything else; with `autotune`, new ones are added. May be null. Must live
    // as long as Prepare is called.
    PlanChoices* choices = nullptr;
    std::string device_name;  // "NVIDIA H200": a choice holds for one kind of device
  };
  // Makes a runner for the device whose context is current, now and in all later calls. `driver` must outlive the
  // runner, and the runner its prepared calls.
  static absl::StatusOr<std::unique_ptr<LibraryCallRunner>> Create(const DriverApi* driver, Options options);

  virtual ~LibraryCallRunner() = default;

  // Prepares a call. `plan_bytes`: cuDNN's plan from the executable, or empty. When this device does not accept the
  // plan, one is built anew. Errors: InvalidArgument for a call that CheckLibraryCall rejects; FailedPrecondition, one
  // sentence, for a library that is missing or too old; Unimplemented for what the library cannot compute;
  // ResourceExhausted.
  virtual absl::StatusOr<std::unique_ptr<PreparedCall>> Prepare(const format::LibraryCall& call,
                                                                absl::string_view plan_bytes) = 0;
};

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CUDA_LIBRARIES_LIBRARY_CALLS_H_
