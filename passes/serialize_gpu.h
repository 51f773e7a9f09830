// What an executable for GPUs has besides.
#ifndef TANDEM_PASSES_SERIALIZE_GPU_H_
#define TANDEM_PASSES_SERIALIZE_GPU_H_

#include <vector>

#include "absl/status/status.h"
#include "passes/serialize.h"
#include "runtime/executable.h"

namespace tandem {

// The PTX of all kernels, a segment for each architecture. Before any kernel is written.
void WriteGpuImages(const std::vector<GpuImage>& images, format::Index& index, std::vector<SegmentData>& segments);

// The launch of a kernel.
void WriteGpuLaunch(const KernelCode& code, const format::Index& index, format::Kernel& kernel);

// Plans of the program's library calls: one segment for all calls of the same sizes. Errors are the planner's.
absl::Status WriteLibraryPlans(const LibraryPlanner& planner, format::Program& program,
                               std::vector<SegmentData>& segments);

}  // namespace tandem

#endif  // TANDEM_PASSES_SERIALIZE_GPU_H_
