// How a device class's kernel libraries (oneDNN; cuBLASLt and cuDNN) compute a call: all that the compiler has to know
// of them before it can write a program. The compiler finds them in the table of device classes
// (runtime/device_classes/device_classes.h), so that it knows neither libraries nor drivers.
#ifndef TANDEM_RUNTIME_SESSION_KERNEL_LIBRARY_H_
#define TANDEM_RUNTIME_SESSION_KERNEL_LIBRARY_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/format/index.h"

namespace tandem {

// A library's own choice for a call, made ahead of time, without a device.
struct LibraryPlan {
  std::string bytes;
  uint64_t workspace_bytes = 0;
  std::string implementation;  // "cudnn eng62_k2=4"
};

// The calls that are passed to these functions are valid (CheckLibraryCall). If their algorithm does not compute them,
// the functions return an error that says so.
class KernelLibrary {
 public:
  virtual ~KernelLibrary() = default;

  // Returns the name under which programs record the implementation that computes the call with its algorithm:
  // "brgconv:avx512_core", "unpacked_gemm", "cublaslt". On a CPU, an implementation with "ref" in its name is slow by
  // orders of magnitude and must not be in a program.
  virtual absl::StatusOr<std::string> ImplementationOf(const format::LibraryCall& call) const = 0;

  // Returns the bytes that a PackWeights call writes. `call` may also be one that reads packed weights, whose
  // PackWeights call is PackingFor (library_calls/pack_weights.h). 0 where the library reads weights as they are.
  virtual absl::StatusOr<uint64_t> PackedWeightsBytes(const format::LibraryCall& call) const = 0;
  // True if the layout that a PackWeights call makes is one of panels, which Algorithm::PackPanels writes.
  virtual bool PacksPanels(const format::LibraryCall& call) const = 0;

  // Limits the library to a program's instructions. To be called before the library is asked anything about the
  // program. FailedPrecondition (exit code 2) if the process already has another limit, which cannot be changed.
  virtual absl::Status UseInstructions(format::InstructionSet instructions) const = 0;

  // Returns the plan for devices of compute capability `sm` / 10. Returns nothing if the library needs no plan, or
  // cannot make it here: then the plan is made when the executable is loaded.
  virtual absl::StatusOr<std::optional<LibraryPlan>> Plan(const format::LibraryCall& call, int sm) const = 0;
  // Returns the version of the library, "cuDNN 9.19.0", on which plans depend besides the calls. Empty if there are no
  // plans.
  virtual std::string PlannerVersion() const = 0;
};

}  // namespace tandem

#endif  // TANDEM_RUNTIME_SESSION_KERNEL_LIBRARY_H_
