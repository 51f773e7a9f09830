// Writes the parts of an executable that only those for GPUs have.
#ifndef TANDEM_PASSES_SERIALIZE_SERIALIZE_GPU_H_
#define TANDEM_PASSES_SERIALIZE_SERIALIZE_GPU_H_

#include <vector>

#include "absl/status/status.h"
#include "passes/serialize/serialize.h"
#include "runtime/executable/executable.h"

namespace tandem {

// Writes the PTX of all kernels, a segment for each architecture. Call it before any kernel is written.
void WriteGpuImages(const std::vector<GpuImage>& images, format::Index& index, std::vector<SegmentData>& segments);

// Writes the launch of a kernel (grid, block) into its table.
void WriteGpuLaunch(const KernelCode& code, const format::Index& index, format::Kernel& kernel);

// Writes the plans of the program's library calls: one segment for all equal calls. Errors are the planner's.
absl::Status WriteLibraryPlans(const LibraryPlanner& planner, format::Program& program,
                               std::vector<SegmentData>& segments);

}  // namespace tandem

#endif  // TANDEM_PASSES_SERIALIZE_SERIALIZE_GPU_H_
