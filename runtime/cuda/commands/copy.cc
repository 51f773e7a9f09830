// The command Copy on a GPU: copies one buffer to another.
#include "runtime/cuda/commands/kinds.h"

namespace tandem {
namespace {

class CudaCopy final : public CudaCommand {
 public:
  using CudaCommand::CudaCommand;

  absl::Status Issue(int64_t rows, int64_t, CUstream stream) override {
    const format::Buffer& to = Buffer(table().outputs[0]);
    const uint64_t bytes = to.row_bytes > 0 ? rows * to.row_bytes : ElementsOf(to) * SizeOf(to.dtype);
    const CUdeviceptr source = Address(table().inputs[0]), target = Address(table().outputs[0]);
    if (source == target || bytes == 0) return absl::OkStatus();
    if (guard() != 0) return context().memory.device().kernels().Copy(target, source, bytes, guard(), stream);
    TD_CU(driver(), cuMemcpyDtoDAsync_v2(target, source, bytes, stream));
    return absl::OkStatus();
  }
};

}  // namespace

CudaCommandOr NewCudaCopy(CudaContext& context, uint32_t number) { return std::make_unique<CudaCopy>(context, number); }

}  // namespace tandem
