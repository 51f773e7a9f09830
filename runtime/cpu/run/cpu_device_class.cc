#include "runtime/cpu/run/cpu_device_class.h"

#include <utility>

#include "runtime/cpu/onednn/kernel_library.h"
#include "runtime/cpu/onednn/list_libraries.h"
#include "runtime/cpu/run/cpu_session.h"

namespace tandem {
namespace {

class Cpu final : public DeviceClass {
 public:
  absl::string_view name() const override { return "cpu"; }
  absl::StatusOr<std::unique_ptr<Session>> NewSession(std::shared_ptr<const Executable> executable,
                                                      std::shared_ptr<VariableStore> variables,
                                                      Session::Options options) const override {
    return NewCpuSession(std::move(executable), std::move(variables), std::move(options));
  }
  const KernelLibrary& kernel_library() const override { return CpuKernelLibrary(); }
  absl::StatusOr<std::vector<DeviceInfo>> ListDevices() const override {
    return absl::UnimplementedError(
        "devices of class \"cpu\" are shares of this process: there are as many as are asked for");
  }
  std::vector<LoadedLibrary> ListLibraries() const override { return ListCpuLibraries(); }
};

}  // namespace

const DeviceClass& CpuDeviceClass() {
  static const DeviceClass& device_class = *new Cpu;
  return device_class;
}

}  // namespace tandem
