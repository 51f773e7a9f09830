#include "runtime/cuda/run/cuda_device_class.h"

#include <utility>

#include "runtime/cuda/device/kernel_library.h"
#include "runtime/cuda/device/list_gpus.h"
#include "runtime/cuda/device/list_libraries.h"
#include "runtime/cuda/run/cuda_session.h"

namespace tandem {
namespace {

class Cuda final : public DeviceClass {
 public:
  absl::string_view name() const override { return "gpu"; }
  absl::StatusOr<std::unique_ptr<Session>> NewSession(std::shared_ptr<const Executable> executable,
                                                      std::shared_ptr<VariableStore> variables,
                                                      Session::Options options) const override {
    return NewCudaSession(std::move(executable), std::move(variables), std::move(options));
  }
  const KernelLibrary& kernel_library() const override { return CudaKernelLibrary(); }
  absl::StatusOr<std::vector<DeviceInfo>> ListDevices() const override { return ListGpus(); }
  std::vector<LoadedLibrary> ListLibraries() const override { return ListCudaLibraries(); }
};

}  // namespace

const DeviceClass& CudaDeviceClass() {
  static const DeviceClass& device_class = *new Cuda;
  return device_class;
}

}  // namespace tandem
