// The devices that this machine can compute with.
//
//   const MachineDevices machine = ListDevices();
//   if (machine.gpus.empty()) TD_LOG(INFO) << machine.no_gpu;
#ifndef TANDEM_ESTIMATOR_DEVICES_H_
#define TANDEM_ESTIMATOR_DEVICES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tandem/base/api.h"
#include "tandem/base/cpu_info.h"
#include "tandem/base/loaded_library.h"

namespace TANDEM_API tandem {

// An NVIDIA GPU.
struct GpuDevice {
  std::string name;            // the name to give to a strategy: "gpu:0"
  std::string model;           // the product: "NVIDIA H200"
  int compute_capability = 0;  // for example 90 for 9.0
  uint64_t memory_bytes = 0;
  std::string driver;  // the newest CUDA version that its driver supports: "12.4"
};

// What ListDevices found.
struct MachineDevices {
  CpuInfo cpu;
  // The target that cpu:native stands for, "cpu:znver4", and the CPU features that its code uses, in LLVM's spelling
  // ("sse4.1", "lzcnt"). Empty, with the reason in `cpu_problem`, if there is no target for this CPU.
  std::string cpu_target;
  std::vector<std::string> cpu_target_features;
  std::string cpu_problem;
  // The GPUs that CUDA_VISIBLE_DEVICES leaves. If there are none, `no_gpu` says why: no driver, an old one, no device.
  std::vector<GpuDevice> gpus;
  std::string no_gpu;
  // Libraries of the compiler and of the devices, with versions and files. A library that is loaded at run time and was
  // not found has the reason in `problem`.
  std::vector<LoadedLibrary> libraries;
};

// Takes no memory on any GPU and never fails: what cannot be found out is empty, with a reason beside it.
MachineDevices ListDevices();

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_DEVICES_H_
