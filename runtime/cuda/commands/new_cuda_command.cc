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
  const fb::StepT& step = *context.plan.steps[number];
  switch (step.body.type) {
    case fb::StepBody::KernelLaunch:
      return NewCudaKernelLaunch(context, number);
    case fb::StepBody::GroupedLaunch:
      return NewCudaGroupedLaunch(context, number);
    case fb::StepBody::LibraryCall:
      return NewCudaLibraryCall(context, number);
    case fb::StepBody::LaneReduce:
      return NewCudaLaneReduce(context, number);
    case fb::StepBody::AllReduce:
      return std::make_unique<CudaCollective>(context, number);
    case fb::StepBody::CheckFinite:
      return NewCudaCheckFinite(context, number);
    case fb::StepBody::Copy:
      return NewCudaCopy(context, number);
    case fb::StepBody::ScatterAdd:
      return NewCudaScatterAdd(context, number);
    default:
      return absl::UnimplementedError(absl::StrCat("GPUs do not run ", fb::EnumNameStepBody(step.body.type)));
  }
}

}  // namespace tandem
