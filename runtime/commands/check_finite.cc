// Ends the step when a value is not finite.
#include "runtime/commands/command_verifier.h"
#include "runtime/commands/kinds.h"

namespace tandem {
namespace {

class CheckFinite final : public Command {
 public:
  using Command::Command;

  absl::Status Verify(const CommandVerifier& v, const std::string& field, fb::SectionKind section) const override {
    TD_RETURN_IF_ERROR(v.NeedsGlobal(field, section));
    return v.ReadsNoSlots(field, table().inputs);
  }

  bool may_end_step() const override { return true; }
};

}  // namespace

std::unique_ptr<Command> NewCheckFinite(const fb::CommandT& table) { return std::make_unique<CheckFinite>(table); }

}  // namespace tandem
