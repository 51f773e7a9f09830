#include "runtime/cpu/frozen_steps.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_set.h"

namespace tandem {
namespace {

class Marker {
 public:
  explicit Marker(const fb::ProgramT& program) : program_(program) {
    for (const auto& section : program.sections) {
      for (const auto& step : section->steps) NoteWrites(*step);
    }
    std::sort(writes_.begin(), writes_.end(), [](const Range& a, const Range& b) { return a.begin < b.begin; });
  }

  void Mark(PlannedStep& p) {
    if (p.domain == fb::Domain::Blocks) return;  // reads the number of rows
    if (p.kind != fb::StepBody::KernelLaunch && p.kind != fb::StepBody::LibraryCall && p.kind != fb::StepBody::Copy) {
      return;
    }
    const auto depends_on_frozen = [&](uint32_t b) { return Frozen(b); };
    if (!std::all_of(p.step->inputs.begin(), p.step->inputs.end(), depends_on_frozen)) return;
    const auto stays = [&](uint32_t b) { return Stays(b); };
    if (!std::all_of(p.step->outputs.begin(), p.step->outputs.end(), stays)) return;
    p.frozen = true;
    frozen_.insert(p.step->outputs.begin(), p.step->outputs.end());
  }

 private:
  struct Range {  // of the step arena
    uint64_t begin, end;
  };

  const fb::BufferT& Buffer(uint32_t b) const { return *program_.buffers[b]; }

  // Operands that a step may write count as written: a group's arguments, and what is reduced in place.
  void NoteWrites(const fb::StepT& step) {
    for (uint32_t b : step.outputs) NoteWrite(b);
    if (step.body.type == fb::StepBody::AllReduce) {
      for (uint32_t b : step.inputs) NoteWrite(b);
    }
    if (step.body.type == fb::StepBody::GroupedLaunch) {
      for (uint32_t b : step.body.AsGroupedLaunch()->args) NoteWrite(b);
    }
  }

  void NoteWrite(uint32_t b) {
    const fb::BufferT& buffer = Buffer(b);
    if (buffer.space == fb::Space::Variable) written_variables_.insert(buffer.index);
    if (buffer.space == fb::Space::Step) writes_.push_back({buffer.offset, buffer.offset + buffer.bytes});
  }

  bool Frozen(uint32_t b) const {
    const fb::BufferT& buffer = Buffer(b);
    if (buffer.space == fb::Space::Constant) return true;
    if (buffer.space == fb::Space::Variable) return !written_variables_.contains(buffer.index);
    return frozen_.contains(b);
  }

  // In the step arena, in a place that is written once.
  bool Stays(uint32_t b) const {
    const fb::BufferT& buffer = Buffer(b);
    if (buffer.space != fb::Space::Step) return false;
    int writers = 0;
    for (const Range& w : writes_) {
      if (w.begin >= buffer.offset + buffer.bytes) break;
      writers += w.end > buffer.offset ? 1 : 0;
    }
    return writers == 1;
  }

  const fb::ProgramT& program_;
  absl::flat_hash_set<uint32_t> written_variables_, frozen_;
  std::vector<Range> writes_;  // by begin
};

}  // namespace

void MarkFrozenSteps(const fb::ProgramT& program, StepPlan& plan) {
  Marker marker(program);
  for (PlannedSection& section : plan.sections) {
    if (section.kind != fb::SectionKind::Global) continue;
    for (PlannedStep& step : section.steps) marker.Mark(step);
  }
}

}  // namespace tandem
