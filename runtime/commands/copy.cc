// The command Copy: copies one buffer to another.
#include "runtime/commands/command_verifier.h"
#include "runtime/commands/kinds.h"

namespace tandem {
namespace {

class Copy final : public Command {
 public:
  using Command::Command;

  absl::Status Verify(const CommandVerifier& v, const std::string& field, format::SectionKind) const override {
    if (table().inputs.size() != 1 || table().outputs.size() != 1) {
      return v.Bad(field, "a copy has one input and one output");
    }
    const format::Buffer &from = v.Buffer(table().inputs[0]), &to = v.Buffer(table().outputs[0]);
    if (from.dtype != to.dtype || from.row_bytes != to.row_bytes ||
        v.Elements(table().inputs[0]) != v.Elements(table().outputs[0])) {
      return v.Bad(field, "input and output differ in size");
    }
    if (from.space == format::Space::kLane || to.space == format::Space::kLane) {
      return v.Bad(field, "lane slots cannot be copied");
    }
    return absl::OkStatus();
  }
};

}  // namespace

std::unique_ptr<Command> NewCopy(const format::Command& table) { return std::make_unique<Copy>(table); }

}  // namespace tandem
