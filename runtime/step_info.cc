#include "runtime/step_info.h"

#include <memory>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/commands/command.h"

namespace tandem {
namespace {

class StepLister {
 public:
  explicit StepLister(const Executable& executable)
      : index_(executable.index()),
        program_(*index_.programs[index_.replicas.empty() ? 0 : index_.replicas[0]->program]) {}

  std::vector<StepInfo> Run() {
    for (const auto& section : program_.sections) {
      for (const auto& step : section->steps) {
        const std::unique_ptr<Command> command = NewCommand(*step);
        StepInfo& info = Add(*section, command->kind());
        info.step = step.get();
        info.name = step->name;
        info.source = Source(step->location);
        info.detail = command->Detail(index_);
        info.library = command->is_library_call();
        info.bfloat16 = info.library && Narrow(step->inputs[0]);
        info.work = command->Work({index_, program_, info.map});
      }
      StepInfo& merges = Add(*section, "LaneSum");
      if (merges.map) merges.work = WorkOfMerges(*section);
    }
    return std::move(steps_);
  }

 private:
  StepInfo& Add(const fb::SectionT& section, const std::string& kind) {
    StepInfo info;
    info.id = static_cast<int>(steps_.size());
    info.section = section.name;
    info.map = section.kind == fb::SectionKind::Map;
    info.kind = kind;
    steps_.push_back(std::move(info));
    return steps_.back();
  }

  std::string Source(uint32_t location) const {
    if (location >= index_.debug->locations.size()) return "";
    const fb::LocationT& l = *index_.debug->locations[location];
    return l.file.empty() ? "" : absl::StrCat(l.file, ":", l.line);
  }

  // Of two bytes: bfloat16.
  bool Narrow(uint32_t buffer) const { return SizeOf(static_cast<DType>(program_.buffers[buffer]->dtype)) == 2; }

  ExecutionWork WorkOfMerges(const fb::SectionT& section) const {
    std::set<uint32_t> written;
    for (const auto& step : section.steps) written.insert(step->outputs.begin(), step->outputs.end());
    const WorkContext context{index_, program_, /*map=*/true};
    ExecutionWork work;
    for (const auto& slot : program_.lane_slots) {
      if (written.count(slot->buffer) == 0) continue;
      context.AddBytes(context.Buffer(slot->buffer), 3, work);  // both summands and the sum
      work.flops += context.Elements(slot->buffer);
    }
    return work;
  }

  const fb::ExecutableT& index_;
  const fb::ProgramT& program_;
  std::vector<StepInfo> steps_;
};

}  // namespace

std::vector<StepInfo> ListSteps(const Executable& executable) { return StepLister(executable).Run(); }

}  // namespace tandem
