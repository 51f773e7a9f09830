// The command ScatterAdd on a GPU: sums rows that have the same index.
#include "runtime/cuda/commands/kinds.h"

namespace tandem {
namespace {

class CudaScatterAdd final : public CudaCommand {
 public:
  using CudaCommand::CudaCommand;

  absl::Status Issue(int64_t rows, int64_t, CUstream stream) override {
    const format::Buffer &indices = Buffer(table().inputs[1]), &out = Buffer(table().outputs[0]);
    BuiltinKernels::Scatter s;
    s.updates = Address(table().inputs[0]);
    s.indices = Address(table().inputs[1]);
    s.table = Address(table().outputs[0]);
    s.dtype = Buffer(table().inputs[0]).dtype;
    s.index_dtype = indices.dtype;
    s.rows = out.shape[0];
    s.width = ElementsOf(out) / s.rows;
    s.count = ElementsOf(indices) * (indices.row_bytes > 0 ? rows : 1);
    s.workspace = context().memory.workspace();
    return context().memory.device().kernels().ScatterAdd(s, guard(), stream);
  }
};

}  // namespace

CudaCommandOr NewCudaScatterAdd(CudaContext& context, uint32_t number) {
  return std::make_unique<CudaScatterAdd>(context, number);
}

}  // namespace tandem
