#include "runtime/device_classes/device_classes.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/exit_code.h"
#include "base/status_macros.h"
#include "runtime/cpu/run/cpu_device_class.h"
#include "runtime/cuda/run/cuda_device_class.h"

namespace tandem {

absl::Span<const DeviceClass* const> DeviceClasses() {
  static const DeviceClass* const classes[] = {&CpuDeviceClass(), &CudaDeviceClass()};
  return classes;
}

absl::StatusOr<const DeviceClass*> FindDeviceClass(absl::string_view name) {
  for (const DeviceClass* device_class : DeviceClasses()) {
    if (device_class->name() == name) return device_class;
  }
  const std::string names = absl::StrJoin(DeviceClasses(), ", ", [](std::string* out, const DeviceClass* device_class) {
    absl::StrAppend(out, device_class->name());
  });
  return WithExitCode(absl::FailedPreconditionError(absl::StrCat("there are no devices of class \"", name,
                                                                 "\" in this program; it has the classes ", names)),
                      kExitUsage);
}

absl::StatusOr<std::unique_ptr<Session>> CreateSession(std::shared_ptr<const Executable> executable,
                                                       std::shared_ptr<VariableStore> variables,
                                                       Session::Options options) {
  if (executable == nullptr) return absl::InvalidArgumentError("a session needs an executable");
  TD_ASSIGN_OR_RETURN(const DeviceClass* device_class, FindDeviceClass(DeviceClassName(*executable)));
  return Session::Create(*device_class, std::move(executable), std::move(variables), std::move(options));
}

absl::StatusOr<const KernelLibrary*> KernelLibraryOf(absl::string_view device_class) {
  TD_ASSIGN_OR_RETURN(const DeviceClass* found, FindDeviceClass(device_class));
  return &found->kernel_library();
}

absl::StatusOr<std::vector<DeviceInfo>> ListDevices(absl::string_view device_class) {
  TD_ASSIGN_OR_RETURN(const DeviceClass* found, FindDeviceClass(device_class));
  return found->ListDevices();
}

std::vector<LoadedLibrary> ListLibraries() {
  std::vector<LoadedLibrary> libraries;
  for (const DeviceClass* device_class : DeviceClasses()) {
    for (LoadedLibrary& library : device_class->ListLibraries()) libraries.push_back(std::move(library));
  }
  std::sort(libraries.begin(), libraries.end(),
            [](const LoadedLibrary& a, const LoadedLibrary& b) { return a.name < b.name; });
  return libraries;
}

}  // namespace tandem
