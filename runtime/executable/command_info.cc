#include "runtime/executable/command_info.h"

#include <memory>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/commands/command.h"

namespace tandem {
namespace {

class CommandLister {
 public:
  explicit CommandLister(const Executable& executable)
      : index_(executable.index()),
        program_(index_.programs[index_.replicas.empty() ? 0 : index_.replicas[0].program]) {}

  std::vector<CommandInfo> Run() {
    for (const auto& section : program_.sections) {
      for (const auto& table : section.commands) {
        const std::unique_ptr<Command> command = NewCommand(table);
        CommandInfo& info = Add(section, command->kind());
        info.table = &table;
        info.name = table.name;
        info.source = Source(table.location);
        info.detail = command->Detail(index_);
        info.library = command->is_library_call();
        info.bfloat16 = info.library && Narrow(table.inputs[0]);
        const format::LibraryCall* call = table.body.As<format::LibraryCall>();
        info.tf32 = call != nullptr && call->tf32;
        info.work = command->Work({index_, program_, info.map});
      }
      CommandInfo& merges = Add(section, "LaneSum");
      if (merges.map) merges.work = WorkOfMerges(section);
    }
    return std::move(commands_);
  }

 private:
  CommandInfo& Add(const format::Section& section, const std::string& kind) {
    CommandInfo info;
    info.id = static_cast<int>(commands_.size());
    info.section = section.name;
    info.map = section.kind == format::SectionKind::kMap;
    info.kind = kind;
    commands_.push_back(std::move(info));
    return commands_.back();
  }

  std::string Source(uint32_t location) const {
    if (location >= index_.debug.locations.size()) return "";
    const format::Location& l = index_.debug.locations[location];
    return l.file.empty() ? "" : absl::StrCat(l.file, ":", l.line);
  }

  // True if the elements have two bytes: bfloat16.
  bool Narrow(uint32_t buffer) const { return SizeOf(program_.buffers[buffer].dtype) == 2; }

  ExecutionWork WorkOfMerges(const format::Section& section) const {
    std::set<uint32_t> written;
    for (const auto& table : section.commands) written.insert(table.outputs.begin(), table.outputs.end());
    const WorkContext context{index_, program_, /*map=*/true};
    ExecutionWork work;
    for (const auto& slot : program_.lane_slots) {
      if (written.count(slot.buffer) == 0) continue;
      context.AddBytes(context.Buffer(slot.buffer), 3, work);  // both summands are read, and the sum is written
      work.flops += context.Elements(slot.buffer);
    }
    return work;
  }

  const format::Index& index_;
  const format::Program& program_;
  std::vector<CommandInfo> commands_;
};

}  // namespace

std::vector<CommandInfo> ListCommands(const Executable& executable) { return CommandLister(executable).Run(); }

}  // namespace tandem
