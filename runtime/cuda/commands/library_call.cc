// The command LibraryCall on a GPU: calls cuBLASLt or cuDNN.
#include "runtime/library_calls/library_call.h"
#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "runtime/cuda/commands/kinds.h"

namespace tandem {
namespace {

class CudaLibraryCall final : public CudaCommand {
 public:
  using CudaCommand::CudaCommand;

  // The call computes all rows that it was compiled for. Rows behind the valid ones may contain anything: they are set
  // to zero if the call sums over rows, and are ignored otherwise.
  absl::Status Issue(int64_t rows, int64_t, CUstream stream) override {
    const format::LibraryCall& call = *table().body.As<format::LibraryCall>();
    const int64_t all = context().index().microbatch_rows;
    const bool reduces = InfoOf(call).reduces_batch;
    absl::InlinedVector<CUdeviceptr, 4> inputs, outputs;
    for (uint32_t b : table().inputs) {
      const format::Buffer& buffer = Buffer(b);
      inputs.push_back(Address(b));
      if (!map() || !reduces || buffer.row_bytes == 0 || rows == all) continue;
      TD_CU(driver(),
            cuMemsetD8Async(inputs.back() + rows * buffer.row_bytes, 0, (all - rows) * buffer.row_bytes, stream));
    }
    for (uint32_t b : table().outputs) outputs.push_back(Address(b));
    PreparedCall& prepared = context().program.call(number());
    Declare(table().inputs, table().outputs, all, prepared.workspace_bytes(), false);
    return prepared.Enqueue(inputs, outputs, context().memory.workspace(), stream);
  }
};

}  // namespace

CudaCommandOr NewCudaLibraryCall(CudaContext& context, uint32_t number) {
  const format::Command& table = *context.plan.tables[number];
  for (uint32_t b : table.outputs) {
    if (context.plan.guarded[number] && context.Buffer(b).space == format::Space::kVariable) {
      return absl::FailedPreconditionError(absl::StrCat(context.executable.name(), ": command ", table.name,
                                                        ": a library call cannot be held back by a finite check"));
    }
  }
  return std::make_unique<CudaLibraryCall>(context, number);
}

}  // namespace tandem
