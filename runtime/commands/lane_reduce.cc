// The command LaneReduce: combines the results of all lanes (parts of the batch) in the order of the reduction tree.
#include "runtime/commands/command_verifier.h"
#include "runtime/commands/kinds.h"

namespace tandem {
namespace {

class LaneReduce final : public Command {
 public:
  using Command::Command;

  absl::Status Verify(const CommandVerifier& v, const std::string& field, format::SectionKind section) const override {
    TD_RETURN_IF_ERROR(v.NeedsGlobal(field, section));
    const format::ReduceKind kind = table().body.As<format::LaneReduce>()->kind;
    if (!Known(kind) || kind == format::ReduceKind::kMean) return v.Bad(field, "bad kind");
    TD_RETURN_IF_ERROR(v.CheckReduceOperands(field, table(), kind));
    for (size_t i = 0; i < table().inputs.size(); ++i) {
      if (v.Buffer(table().inputs[i]).space != format::Space::kLane) {
        return v.Bad(field, "input ", i, " is not in the lane slot");
      }
      if (v.Buffer(table().outputs[i]).space != format::Space::kStep) {
        return v.Bad(field, "output ", i, " is not in the step arena");
      }
      TD_RETURN_IF_ERROR(v.CheckSlot(field, table().inputs[i], &kind));
    }
    return absl::OkStatus();
  }

  int64_t GpuLaunches(const WorkContext&) const override { return static_cast<int64_t>(table().inputs.size()); }
  std::vector<CommandProperty> Properties(const format::Index&) const override {
    return {{"reduce", format::Name(table().body.As<format::LaneReduce>()->kind)}};
  }

 protected:
  double Passes(const format::Buffer& operand, const WorkContext& context) const override {
    return operand.space == format::Space::kLane ? static_cast<double>(context.lanes()) : 1;
  }
  void AddFlops(const WorkContext& context, bool, ExecutionWork& work) const override {
    for (uint32_t b : table().inputs) work.flops += context.Elements(b) * static_cast<double>(context.lanes() - 1);
  }
};

}  // namespace

std::unique_ptr<Command> NewLaneReduce(const format::Command& table) { return std::make_unique<LaneReduce>(table); }

}  // namespace tandem
