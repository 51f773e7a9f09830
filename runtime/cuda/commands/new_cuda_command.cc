#include "absl/strings/str_cat.h"
#include "runtime/cuda/commands/kinds.h"

namespace tandem {
namespace {

// Of a collective: the session runs it for all replicas.
class CudaCollective final : public CudaCommand {
 public:
  using CudaCommand::CudaCommand;
  absl::Status Issue(int64_t, int64_t, CUstream) override {
    return absl::InternalError("not a command of one replica");
  }
};

}  // namespace

CudaCommandOr NewCudaCommand(CudaContext& context, uint32_t number) {
  const fb::CommandT& table = *context.plan.tables[number];
  switch (table.body.type) {
    case fb::CommandBody::KernelLaunch:
      return NewCudaKernelLaunch(context, number);
    case fb::CommandBody::GroupedLaunch:
      return NewCudaGroupedLaunch(context, number);
    case fb::CommandBody::LibraryCall:
      return NewCudaLibraryCall(context, number);
    case fb::CommandBody::LaneReduce:
      return NewCudaLaneReduce(context, number);
    case fb::CommandBody::AllReduce:
      return std::make_unique<CudaCollective>(context, number);
    case fb::CommandBody::CheckFinite:
      return NewCudaCheckFinite(context, number);
    case fb::CommandBody::Copy:
      return NewCudaCopy(context, number);
    case fb::CommandBody::ScatterAdd:
      return NewCudaScatterAdd(context, number);
    default:
      return absl::UnimplementedError(absl::StrCat("GPUs do not run ", fb::EnumNameCommandBody(table.body.type)));
  }
}

}  // namespace tandem
