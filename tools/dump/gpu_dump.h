// The parts of a dump for GPU programs: images, launches, streams and plans.
#ifndef TANDEM_TOOLS_DUMP_GPU_DUMP_H_
#define TANDEM_TOOLS_DUMP_GPU_DUMP_H_

#include <string>

#include "nlohmann/json.hpp"
#include "runtime/executable/executable.h"

namespace tandem {

// Adds the key "gpu" to the dump, and the key "launch" to its kernels. Adds nothing for CPU programs.
void AddGpuJson(const Executable& executable, nlohmann::ordered_json* dump);

// Returns the lines of the text dump that describe the GPU program; empty for CPU programs.
std::string GpuText(const nlohmann::ordered_json& dump);
// Returns "grid 12 x 128 threads, ..." for a kernel of the dump; empty for CPU programs. The grid is for the batch size
// that the program was compiled for, or, for kernels over elements, for the first launch.
std::string GpuLaunchText(const nlohmann::ordered_json& kernel);

}  // namespace tandem

#endif  // TANDEM_TOOLS_DUMP_GPU_DUMP_H_
