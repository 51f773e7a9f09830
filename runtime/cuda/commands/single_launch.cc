#include "runtime/cuda/commands/single_launch.h"

#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
#include "runtime/commands/gpu_launch.h"

namespace tandem {

SingleLaunch::SingleLaunch(const CudaContext& context, uint32_t kernel, const std::vector<uint32_t>& arguments,
                           uint64_t count, CUdeviceptr guard)
    : kernel(kernel), count(static_cast<int64_t>(count)) {
  for (uint32_t b : arguments) values.push_back(context.Address(b));
  for (uint64_t v : {uint64_t{0}, uint64_t{0}, uint64_t{0}, uint64_t{context.memory.counters()}, uint64_t{guard}}) {
    values.push_back(v);
  }
  for (uint64_t& v : values) pointers.push_back(&v);
}

absl::Status SingleLaunch::Launch(const CudaContext& context, int64_t rows, int64_t row_offset, CUstream stream,
                                  absl::FunctionRef<void(uint64_t workspace)> declare) {
  const format::Kernel& k = context.index().kernels[kernel];
  const format::GpuLaunch& gpu = *k.gpu;
  const DeviceProgram::Functions& functions = context.program.functions(kernel);
  const int64_t end = k.domain == format::Domain::kRows ? rows : k.domain == format::Domain::kOnce ? 1 : count;
  values[values.size() - 4] = end;
  values[values.size() - 3] = row_offset;
  const uint64_t grid = GpuGrid(gpu, end);
  if (grid > std::numeric_limits<int32_t>::max()) {
    return absl::InvalidArgumentError(absl::StrCat("kernel ", k.symbol, " would need ", grid, " blocks"));
  }
  declare(gpu.scratch_bytes);
  TD_CU(context.driver(), cuLaunchKernel(functions.main, static_cast<unsigned>(grid), 1, 1, gpu.block, 1, 1,
                                         gpu.shared_bytes, stream, pointers.data(), nullptr));
  return absl::OkStatus();
}

absl::Status CheckKernelIsForGpu(const CudaContext& context, const format::Command& table, uint32_t kernel) {
  if (context.index().kernels[kernel].gpu.has_value()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat(context.executable.name(), ": command ", table.name, ": its kernel was not compiled for a GPU"));
}

}  // namespace tandem
