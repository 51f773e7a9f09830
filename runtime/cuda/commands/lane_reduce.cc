// LaneReduce on a GPU, which has one lane (part of the batch): copies its value, or writes the identity without rows.
#include "runtime/cuda/commands/kinds.h"

namespace tandem {
namespace {

class CudaLaneReduce final : public CudaCommand {
 public:
  using CudaCommand::CudaCommand;

  absl::Status Issue(int64_t rows, int64_t, CUstream stream) override {
    if (rows == 0) return Clear(stream);
    for (size_t i = 0; i < table().inputs.size(); ++i) {
      const format::Buffer& to = Buffer(table().outputs[i]);
      TD_CU(driver(), cuMemcpyDtoDAsync_v2(Address(table().outputs[i]), Address(table().inputs[i]),
                                           ElementsOf(to) * SizeOf(to.dtype), stream));
    }
    return absl::OkStatus();
  }

  // The maximum over no rows is the lowest number.
  absl::Status Clear(CUstream stream) override {
    if (table().body.As<format::LaneReduce>()->kind != format::ReduceKind::kMax) return CudaCommand::Clear(stream);
    for (uint32_t b : table().outputs) {
      const DType dtype = Buffer(b).dtype;
      const size_t n = static_cast<size_t>(ElementsOf(Buffer(b)));
      const CUdeviceptr address = Address(b);
      if (SizeOf(dtype) == 4) {
        TD_CU(driver(), cuMemsetD32Async(address, dtype == DType::kFloat32 ? 0xff800000u : 0x80000000u, n, stream));
        continue;
      }
      // Sets the low 32-bit words to 0, then the high words.
      TD_CU(driver(), cuMemsetD8Async(address, 0, n * 8, stream));
      TD_CU(driver(),
            cuMemsetD2D32Async(address + 4, 8, dtype == DType::kFloat64 ? 0xfff00000u : 0x80000000u, 1, n, stream));
    }
    return absl::OkStatus();
  }
};

}  // namespace

CudaCommandOr NewCudaLaneReduce(CudaContext& context, uint32_t number) {
  return std::make_unique<CudaLaneReduce>(context, number);
}

}  // namespace tandem
