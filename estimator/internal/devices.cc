#include "estimator/devices.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "passes/codegen/cpu_target.h"
#include "passes/codegen/llvm_library.h"
#include "runtime/device_classes/device_classes.h"

namespace tandem {

MachineDevices ListDevices() {
  MachineDevices machine = {.cpu = ReadCpuInfo()};
  if (absl::StatusOr<CpuTarget> target = HostCpuTarget(); target.ok()) {
    machine.cpu_target = absl::StrCat("cpu:", target->cpu);
    machine.cpu_target_features = std::move(target->required);
  } else {
    machine.cpu_problem = std::string(target.status().message());
  }
  const absl::StatusOr<std::vector<DeviceInfo>> gpus = ListDevices("gpu");
  if (!gpus.ok()) {
    machine.no_gpu = std::string(gpus.status().message());
  } else {
    for (const DeviceInfo& gpu : *gpus) {
      machine.gpus.push_back({.name = absl::StrCat("gpu:", machine.gpus.size()),
                              .model = gpu.model,
                              .compute_capability = gpu.compute_capability,
                              .memory_bytes = gpu.memory_bytes,
                              .driver = gpu.driver});
    }
  }
  machine.libraries = ListLibraries();
  machine.libraries.insert(machine.libraries.begin(), LlvmLibrary());
  return machine;
}

}  // namespace tandem
