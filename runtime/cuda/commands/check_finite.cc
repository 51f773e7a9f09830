// Sets the flag when a value is not finite.
#include "base/status_macros.h"
#include "runtime/cuda/commands/kinds.h"

namespace tandem {
namespace {

class CudaCheckFinite final : public CudaCommand {
 public:
  using CudaCommand::CudaCommand;

  absl::Status Issue(int64_t rows, int64_t, CUstream stream) override {
    for (uint32_t b : table().inputs) {
      const fb::BufferT& buffer = Buffer(b);
      const int64_t n = ElementsOf(buffer) * (buffer.row_bytes > 0 ? rows : 1);
      TD_RETURN_IF_ERROR(context().memory.device().kernels().CheckFinite(buffer.dtype, Address(b), n,
                                                                         context().memory.flag(), stream));
    }
    return absl::OkStatus();
  }
};

}  // namespace

CudaCommandOr NewCudaCheckFinite(CudaContext& context, uint32_t number) {
  return std::make_unique<CudaCheckFinite>(context, number);
}

}  // namespace tandem
