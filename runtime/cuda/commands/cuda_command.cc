#include "runtime/cuda/commands/cuda_command.h"

namespace tandem {

int64_t ElementsOf(const format::Buffer& buffer) {
  int64_t n = 1;
  for (size_t i = buffer.row_bytes > 0 ? 1 : 0; i < buffer.shape.size(); ++i) n *= buffer.shape[i];
  return n;
}

absl::Status CheckFinite(const CudaContext& context, uint32_t buffer, int64_t rows, CUstream stream) {
  const format::Buffer& b = context.Buffer(buffer);
  const int64_t n = ElementsOf(b) * (b.row_bytes > 0 ? rows : 1);
  return context.memory.device().kernels().CheckFinite(b.dtype, context.Address(buffer), n, context.memory.flag(),
                                                       stream);
}

absl::Status CudaCommand::Clear(CUstream stream) {
  for (uint32_t b : table().outputs) {
    const format::Buffer& buffer = Buffer(b);
    if (buffer.space != format::Space::kStep && buffer.space != format::Space::kLane) continue;
    const size_t bytes = static_cast<size_t>(ElementsOf(buffer)) * SizeOf(buffer.dtype);
    TD_CU(driver(), cuMemsetD8Async(Address(b), 0, bytes, stream));
  }
  return absl::OkStatus();
}

void CudaCommand::Declare(const std::vector<uint32_t>& reads, const std::vector<uint32_t>& writes, int64_t rows,
                          uint64_t workspace, bool guarded, std::vector<DeviceAccess> accesses) const {
  if (!AccessesAreWatched()) return;
  const auto bytes = [&](const format::Buffer& b) { return b.row_bytes > 0 ? rows * b.row_bytes : b.bytes; };
  for (uint32_t b : reads) accesses.push_back({Address(b), bytes(Buffer(b)), false});
  for (uint32_t b : writes) {
    // Among the arguments of a group, scalars and constants are only read.
    const format::Space space = Buffer(b).space;
    const bool write = space != format::Space::kScalar && space != format::Space::kConstant;
    accesses.push_back({Address(b), bytes(Buffer(b)), write});
  }
  if (workspace > 0) accesses.push_back({context_.memory.workspace(), workspace, true});
  if (guarded) accesses.push_back({context_.memory.flag(), 4, false});
  DeclareAccesses(accesses);
}

}  // namespace tandem
