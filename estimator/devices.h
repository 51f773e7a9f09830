// What this machine can compute with.
//
//   const MachineDevices machine = ListDevices();
//   if (machine.gpus.empty()) TD_LOG(INFO) << machine.no_gpu;
#ifndef TANDEM_ESTIMATOR_DEVICES_H_
#define TANDEM_ESTIMATOR_DEVICES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/cpu_info.h"
#include "base/loaded_library.h"

namespace tandem {

struct GpuDevice {
  std::string name;            // as in MirroredStrategy({"gpu:0"})
  std::string model;           // "NVIDIA H200"
  int compute_capability = 0;  // 90 for 9.0
  uint64_t memory_bytes = 0;
  std::string driver;  // the newest CUDA that its driver knows: "12.4"
};

struct MachineDevices {
  CpuInfo cpu;
  // What cpu:native stands for: "cpu:znver4", and the features that code for it uses, in LLVM's spelling
  // ("sse4.1", "lzcnt"). Empty with the reason in `cpu_problem` for a CPU that there is no target for.
  std::string cpu_target;
  std::vector<std::string> cpu_target_features;
  std::string cpu_problem;
  // Those that CUDA_VISIBLE_DEVICES leaves. Without any, why no GPU is usable: no driver, an old one, no device, or a
  // program that was built without GPUs.
  std::vector<GpuDevice> gpus;
  std::string no_gpu;
  // Of the compiler and of the devices, with versions and files. Those that are found when the program runs and are not
  // there have the reason in `problem`.
  std::vector<LoadedLibrary> libraries;
};

// Takes no memory on any GPU. Nothing fails here: what cannot be found out is empty, with a reason beside it.
MachineDevices ListDevices();

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_DEVICES_H_
