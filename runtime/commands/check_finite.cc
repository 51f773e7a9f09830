// The command CheckFinite: ends the step if a value is a NaN or infinity.
#include "runtime/commands/command_verifier.h"
#include "runtime/commands/gpu_finite_checks.h"
#include "runtime/commands/kinds.h"

namespace tandem {
namespace {

class CheckFinite final : public Command {
 public:
  using Command::Command;

  absl::Status Verify(const CommandVerifier& v, const std::string& field, format::SectionKind section) const override {
    TD_RETURN_IF_ERROR(v.NeedsGlobal(field, section));
    return v.ReadsNoSlots(field, table().inputs);
  }

  bool may_end_step() const override { return true; }
  int64_t GpuLaunches(const WorkContext& context) const override {
    return PlanFiniteChecks(context.program, table()).launches();
  }
  uint64_t GpuTableBytes(const WorkContext& context) const override {
    uint64_t bytes = 0;
    for (const FiniteChecks::Group& group : PlanFiniteChecks(context.program, table()).groups) {
      bytes += FiniteTableBytes(context.program, group);
    }
    return bytes;
  }
};

}  // namespace

std::unique_ptr<Command> NewCheckFinite(const format::Command& table) { return std::make_unique<CheckFinite>(table); }

}  // namespace tandem
