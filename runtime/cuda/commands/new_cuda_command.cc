#include "runtime/cuda/commands/kinds.h"

namespace tandem {
namespace {

// Stands for a collective, which the session runs for all replicas.
class CudaCollective final : public CudaCommand {
 public:
  using CudaCommand::CudaCommand;
  absl::Status Issue(int64_t, int64_t, CUstream) override {
    return absl::InternalError("not a command of one replica");
  }
};

struct NewCuda {
  CudaContext& context;
  uint32_t number;
  CudaCommandOr operator()(const format::KernelLaunch&) const { return NewCudaKernelLaunch(context, number); }
  CudaCommandOr operator()(const format::GroupedLaunch&) const { return NewCudaGroupedLaunch(context, number); }
  CudaCommandOr operator()(const format::LibraryCall&) const { return NewCudaLibraryCall(context, number); }
  CudaCommandOr operator()(const format::LaneReduce&) const { return NewCudaLaneReduce(context, number); }
  CudaCommandOr operator()(const format::AllReduce&) const { return std::make_unique<CudaCollective>(context, number); }
  CudaCommandOr operator()(const format::CheckFinite&) const { return NewCudaCheckFinite(context, number); }
  CudaCommandOr operator()(const format::Copy&) const { return NewCudaCopy(context, number); }
  CudaCommandOr operator()(const format::ScatterAdd&) const { return NewCudaScatterAdd(context, number); }
};

}  // namespace

CudaCommandOr NewCudaCommand(CudaContext& context, uint32_t number) {
  return context.plan.tables[number]->body.Visited(NewCuda{context, number});
}

}  // namespace tandem
