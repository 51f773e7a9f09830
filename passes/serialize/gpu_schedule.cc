#include "passes/serialize/gpu_schedule.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/commands/command.h"
#include "runtime/executable/command_dependencies.h"

namespace tandem {
namespace {

class Scheduler {
 public:
  Scheduler(const format::Index& index, const format::Program& program)
      : context_{index, program}, commands_(CommandsInOrder(program)) {
    for (const auto& section : program.sections) {
      global_.insert(global_.end(), section.commands.size(), section.kind == format::SectionKind::kGlobal);
    }
    FindPlaces(CommandDependencies(program));
  }

  format::GpuProgram Run() {
    IssueReadyCollectives(-1);
    for (size_t i = 0; i < compute_.size(); ++i) {
      if (compute_[i].needs > awaited_) WaitFor(compute_[i].needs);
      segment_.push_back(compute_[i].command);
      IssueReadyCollectives(static_cast<int>(i));
    }
    EndComputeSegment();
    for (const std::unique_ptr<Command>& command : commands_) {
      schedule_.workspace_bytes = std::max(schedule_.workspace_bytes, command->WorkspaceBytes(context_));
    }
    return std::move(schedule_);
  }

 private:
  // A command in its stream. `needs`: the last command of the other stream that must be done before it, as an index
  // into `compute_` or `collectives_`; -1 if there is none.
  struct Placed {
    uint32_t command = 0;
    int needs = -1;
  };

  void FindPlaces(const std::vector<std::vector<uint32_t>>& dependencies) {
    std::vector<int> place(commands_.size());
    for (uint32_t s = 0; s < commands_.size(); ++s) {
      const bool communicates = commands_[s]->collective().has_value();
      std::vector<Placed>& stream = communicates ? collectives_ : compute_;
      Placed placed{s, -1};
      for (uint32_t before : dependencies[s]) {
        if (commands_[before]->collective().has_value() != communicates)
          placed.needs = std::max(placed.needs, place[before]);
      }
      place[s] = static_cast<int>(stream.size());
      stream.push_back(placed);
    }
  }

  // Adds to the communication stream, in order, the collectives that need no compute command later than `done`.
  void IssueReadyCollectives(int done) {
    const size_t first = next_collective_;
    int needs = -1;
    while (next_collective_ < collectives_.size() && collectives_[next_collective_].needs <= done) {
      needs = std::max(needs, collectives_[next_collective_++].needs);
    }
    if (next_collective_ == first) return;
    // The compute stream has been filled up to `done`. Its current segment ends here, so that the collectives can wait
    // for it.
    EndComputeSegment();
    format::GpuSegment segment;
    segment.stream = format::Stream::kCommunication;
    segment.name = absl::StrCat("collectives_", communication_segments_.size());
    for (size_t c = first; c < next_collective_; ++c) segment.commands.push_back(collectives_[c].command);
    if (needs >= 0) segment.waits.push_back(last_compute_segment_);
    communication_segments_.push_back({static_cast<int>(next_collective_) - 1, NextSegment()});
    schedule_.segments.push_back(std::move(segment));
  }

  // Makes the next compute segment wait for the segment with this collective, and so for all collectives before it. If
  // the current segment is a single command of a global section, it becomes part of the waiting segment: by itself it
  // would be a launch between two waits, and nothing needs it sooner (a collective that did would have ended the
  // segment). A single command of a map section does not wait, because it is long enough to run in the meantime.
  void WaitFor(int collective) {
    if (segment_.size() != 1 || !global_[segment_[0]]) EndComputeSegment();
    for (const auto& [last, segment] : communication_segments_) {
      if (last < collective) continue;
      waits_ = {segment};
      awaited_ = last;
      return;
    }
  }

  void EndComputeSegment() {
    if (segment_.empty()) return;
    format::GpuSegment segment;
    segment.stream = format::Stream::kCompute;
    segment.name = absl::StrCat("compute_", compute_segments_++);
    segment.captured = segment_.size() >= kLeastCapturedCommands;
    segment.commands = std::exchange(segment_, {});
    segment.waits = std::exchange(waits_, {});
    last_compute_segment_ = NextSegment();
    schedule_.segments.push_back(std::move(segment));
  }

  uint32_t NextSegment() const { return static_cast<uint32_t>(schedule_.segments.size()); }

  const WorkContext context_;
  const std::vector<std::unique_ptr<Command>> commands_;
  std::vector<bool> global_;                   // for each command: true if it is in a global section
  std::vector<Placed> compute_, collectives_;  // commands of the two streams, in the order of execution
  format::GpuProgram schedule_;
  std::vector<uint32_t> segment_, waits_;  // commands and waits of the compute segment being filled
  // For each segment of collectives: index of its last collective, and the segment's number.
  std::vector<std::pair<int, uint32_t>> communication_segments_;
  size_t next_collective_ = 0;
  int awaited_ = -1;  // number of the last collective that the compute stream has waited for; -1: none
  int compute_segments_ = 0;
  uint32_t last_compute_segment_ = 0;
};

}  // namespace

format::GpuProgram MakeGpuSchedule(const format::Index& index, const format::Program& program) {
  return Scheduler(index, program).Run();
}

}  // namespace tandem
