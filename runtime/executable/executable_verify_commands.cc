#include "runtime/commands/command.h"
#include "runtime/commands/command_verifier.h"

namespace tandem {

absl::Status VerifyCommands(const format::Index& index, const format::Program& program, const std::string& name,
                            const std::string& field) {
  const CommandVerifier verifier(index, program, name);
  for (size_t i = 0; i < program.sections.size(); ++i) {
    const format::Section& section = program.sections[i];
    const std::string at = absl::StrCat(field, ".sections[", i, "]");
    if (!Known(section.kind)) return verifier.Bad(at, "unknown kind");
    for (size_t j = 0; j < section.commands.size(); ++j) {
      const std::string here = absl::StrCat(at, ".commands[", j, "]");
      TD_RETURN_IF_ERROR(verifier.CheckOperands(here, section.commands[j], section.kind));
      const std::unique_ptr<Command> command = NewCommand(section.commands[j]);
      if (command == nullptr) return verifier.Bad(here, "unknown body");
      TD_RETURN_IF_ERROR(command->Verify(verifier, here, section.kind));
    }
  }
  return VerifyExecution(index, program, name, field);
}

}  // namespace tandem
