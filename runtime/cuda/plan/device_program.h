#ifndef TANDEM_RUNTIME_CUDA_PLAN_DEVICE_PROGRAM_H_
#define TANDEM_RUNTIME_CUDA_PLAN_DEVICE_PROGRAM_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/cuda/device/cuda_device.h"
#include "runtime/cuda/libraries/library_calls.h"
#include "runtime/executable/executable.h"

namespace tandem {

// A program's kernels and library calls on one device, shared by all replicas there.
class DeviceProgram {
 public:
  // Errors: FailedPrecondition (exit code 2) when the executable has nothing for the device's compute capability, or
  // the driver is too old for its PTX; those of LibraryCallRunner::Prepare with the command's name and place in the
  // source.
  // `plan_file`: Session::Options::gpu_plans.
  static absl::StatusOr<std::unique_ptr<DeviceProgram>> Load(const Executable& executable,
                                                             std::shared_ptr<CudaDevice> device,
                                                             const std::string& plan_file);
  // Frees nothing on the device if the device was lost.
  ~DeviceProgram();

  // Returns the bytes of workspace that kernels and library calls need on one stream.
  uint64_t workspace_bytes() const { return workspace_bytes_; }

  struct Functions {
    CUfunction main = nullptr;
    CUfunction group = nullptr;  // the entry for grouped launches; null if the PTX has none
  };
  const Functions& functions(uint32_t kernel) const { return functions_[kernel]; }
  // Returns the prepared call of a command that is a library call.
  PreparedCall& call(uint32_t command) const { return *calls_[command]; }

 private:
  DeviceProgram() = default;
  absl::Status LoadKernels(const Executable& executable, CudaDevice& device);
  absl::Status PrepareCalls(const Executable& executable, const std::string& plan_file);

  std::shared_ptr<CudaDevice> device_;
  CudaModule module_;
  std::vector<Functions> functions_;                  // indexed by kernel
  std::unique_ptr<LibraryCallRunner> runner_;         // null if the program has no library calls
  std::vector<std::unique_ptr<PreparedCall>> calls_;  // indexed by command; null for other commands
  uint64_t workspace_bytes_ = 0;
};

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CUDA_PLAN_DEVICE_PROGRAM_H_
