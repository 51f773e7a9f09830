// The command KernelLaunch on a GPU: launches one compiled kernel.
#include "base/status_macros.h"
#include "runtime/cuda/commands/kinds.h"
#include "runtime/cuda/commands/single_launch.h"

namespace tandem {
namespace {

class CudaKernelLaunch final : public CudaCommand {
 public:
  CudaKernelLaunch(const CudaContext& context, uint32_t number, const format::KernelLaunch& launch)
      : CudaCommand(context, number), launch_(context, launch.kernel, Arguments(), launch.count, guard()) {}

  absl::Status Issue(int64_t rows, int64_t first_row, CUstream stream) override {
    return launch_.Launch(context(), rows, map() ? first_row : 0, stream, [&](uint64_t workspace) {
      Declare(table().inputs, table().outputs, rows, workspace, guard() != 0);
    });
  }

  // Sets the outputs to what they are for no rows: sums over nothing, and values that are computed from such sums.
  absl::Status Clear(CUstream stream) override {
    for (uint32_t b : table().outputs) {
      const format::Space space = Buffer(b).space;
      if (space == format::Space::kStep || space == format::Space::kLane) return Issue(0, 0, stream);
    }
    return absl::OkStatus();
  }

 private:
  std::vector<uint32_t> Arguments() const {
    std::vector<uint32_t> arguments = table().inputs;
    arguments.insert(arguments.end(), table().outputs.begin(), table().outputs.end());
    return arguments;
  }

  SingleLaunch launch_;
};

}  // namespace

CudaCommandOr NewCudaKernelLaunch(CudaContext& context, uint32_t number) {
  const format::Command& table = *context.plan.tables[number];
  const format::KernelLaunch& launch = *table.body.As<format::KernelLaunch>();
  TD_RETURN_IF_ERROR(CheckKernelIsForGpu(context, table, launch.kernel));
  return std::make_unique<CudaKernelLaunch>(context, number, launch);
}

}  // namespace tandem
