// What a dump says about programs for GPUs: images, launches, streams and plans.
#ifndef TANDEM_TOOLS_DUMP_GPU_DUMP_H_
#define TANDEM_TOOLS_DUMP_GPU_DUMP_H_

#include <string>

#include "nlohmann/json.hpp"
#include "runtime/executable/executable.h"

namespace tandem {

// Adds "gpu" to the dump and "launch" to its kernels. Nothing for programs for CPUs.
void AddGpuJson(const Executable& executable, nlohmann::ordered_json* dump);

// The lines for people; empty for programs for CPUs.
std::string GpuText(const nlohmann::ordered_json& dump);
// "grid 12 x 128 threads, ..." of a kernel of the dump; empty for CPUs. The grid is that of the compiled batch, or for
// kernels over elements that of the first launch.
std::string GpuLaunchText(const nlohmann::ordered_json& kernel);

}  // namespace tandem

#endif  // TANDEM_TOOLS_DUMP_GPU_DUMP_H_
