// CheckFinite on a GPU: sets the device's flag for failed checks if a value is a NaN or infinity.
#include <utility>

#include "base/status_macros.h"
#include "runtime/commands/gpu_finite_checks.h"
#include "runtime/cuda/commands/kinds.h"

namespace tandem {
namespace {

class CudaCheckFinite final : public CudaCommand {
 public:
  CudaCheckFinite(const CudaContext& context, uint32_t number)
      : CudaCommand(context, number), checks_(PlanFiniteChecks(context.program_table(), table())) {}

  // Writes the tables to the device, at `free`, and advances `free` by their size.
  absl::Status Upload(CUdeviceptr& free) {
    for (const FiniteChecks::Group& group : checks_.groups) {
      const std::vector<FiniteChunk> chunks =
          MakeFiniteChunks(context().program_table(), group, [&](uint32_t b) { return Address(b); });
      Table table = {free, static_cast<int64_t>(chunks.size()), {}};
      for (uint32_t b : group.buffers) table.reads.push_back({Address(b), Buffer(b).bytes, false});
      TD_RETURN_IF_ERROR(
          context().memory.device().Upload(table.address, chunks.data(), chunks.size() * sizeof(FiniteChunk)));
      free += chunks.size() * sizeof(FiniteChunk);
      tables_.push_back(std::move(table));
    }
    return absl::OkStatus();
  }

  absl::Status Issue(int64_t rows, int64_t, CUstream stream) override {
    BuiltinKernels& kernels = context().memory.device().kernels();
    for (size_t i = 0; i < tables_.size(); ++i) {
      TD_RETURN_IF_ERROR(kernels.CheckFiniteChunks(checks_.groups[i].dtype, tables_[i].address, tables_[i].chunks,
                                                   tables_[i].reads, context().memory.flag(), stream));
    }
    for (uint32_t b : checks_.single) {
      TD_RETURN_IF_ERROR(CheckFinite(context(), b, rows, stream));
    }
    return absl::OkStatus();
  }

 private:
  // The table of addresses by which one launch checks a group of buffers, on the device.
  struct Table {
    CUdeviceptr address = 0;
    int64_t chunks = 0;
    std::vector<DeviceAccess> reads;
  };

  const FiniteChecks checks_;
  std::vector<Table> tables_;  // indexed by group of buffers
};

}  // namespace

CudaCommandOr NewCudaCheckFinite(CudaContext& context, uint32_t number) {
  auto command = std::make_unique<CudaCheckFinite>(context, number);
  TD_RETURN_IF_ERROR(command->Upload(context.free_table));
  return command;
}

}  // namespace tandem
