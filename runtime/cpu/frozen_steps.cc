#include "runtime/cpu/frozen_steps.h"

#include <algorithm>
#include <cstdint>
#include <unordered_set>
#include <vector>

namespace tandem {
namespace {

class Marker {
 public:
  Marker(const fb::ProgramT& program, const std::vector<uint32_t>& fetched) : program_(program), fetched_(fetched) {
    for (const auto& section : program.sections) {
      for (const auto& step : section->steps) {
        for (uint32_t b : Written(*step)) NoteWrite(b);
      }
    }
    std::sort(writes_.begin(), writes_.end(), [](const Range& a, const Range& b) { return a.begin < b.begin; });
  }

  void Mark(PlannedStep& p) {
    p.frozen = CanBeFrozen(p);
    if (p.frozen) {
      frozen_.insert(p.step->outputs.begin(), p.step->outputs.end());
      return;
    }
    // What another step writes, or reduces in place, is no longer what a frozen one left there.
    for (uint32_t b : Written(*p.step)) frozen_.erase(b);
  }

  // Takes the mark off steps whose outputs would be gone when they are read, until no more are.
  void Unmark(StepPlan& plan) {
    NoteTouches(plan);
    for (bool changed = true; changed;) {
      changed = false;
      for (PlannedSection& section : plan.sections) {
        for (PlannedStep& p : section.steps) {
          const auto is_kept = [&](uint32_t b) { return Stays(b) || OnlyFrozenTouch(b); };
          if (!p.frozen || std::all_of(p.step->outputs.begin(), p.step->outputs.end(), is_kept)) continue;
          p.frozen = false;
          changed = true;
        }
      }
    }
  }

 private:
  struct Range {  // of the step arena
    uint64_t begin, end;
  };
  struct Touch {
    Range range;
    const PlannedStep* step;  // null: the caller fetches it
  };

  const fb::BufferT& Buffer(uint32_t b) const { return *program_.buffers[b]; }

  bool CanBeFrozen(const PlannedStep& p) const {
    if (p.domain == fb::Domain::Blocks) return false;  // reads the number of rows
    if (p.kind != fb::StepBody::KernelLaunch && p.kind != fb::StepBody::LibraryCall && p.kind != fb::StepBody::Copy) {
      return false;
    }
    const auto depends_on_frozen = [&](uint32_t b) { return Frozen(b); };
    const auto in_arena = [&](uint32_t b) { return Buffer(b).space == fb::Space::Step; };
    return std::all_of(p.step->inputs.begin(), p.step->inputs.end(), depends_on_frozen) &&
           std::all_of(p.step->outputs.begin(), p.step->outputs.end(), in_arena);
  }

  // Operands that a step may write count as written: a group's arguments, and what is reduced in place.
  static std::vector<uint32_t> Written(const fb::StepT& step) {
    std::vector<uint32_t> written = step.outputs;
    const auto add = [&](const std::vector<uint32_t>& more) {
      written.insert(written.end(), more.begin(), more.end());
    };
    if (step.body.type == fb::StepBody::AllReduce) add(step.inputs);
    if (step.body.type == fb::StepBody::GroupedLaunch) add(step.body.AsGroupedLaunch()->args);
    return written;
  }

  void NoteWrite(uint32_t b) {
    const fb::BufferT& buffer = Buffer(b);
    if (buffer.space == fb::Space::Variable) written_variables_.insert(buffer.index);
    if (buffer.space == fb::Space::Step) writes_.push_back({buffer.offset, buffer.offset + buffer.bytes});
  }

  void NoteTouches(const StepPlan& plan) {
    const auto note = [&](const std::vector<uint32_t>& buffers, const PlannedStep* step) {
      for (uint32_t b : buffers) {
        const fb::BufferT& buffer = Buffer(b);
        if (buffer.space != fb::Space::Step) continue;
        touches_.push_back({{buffer.offset, buffer.offset + buffer.bytes}, step});
      }
    };
    note(fetched_, nullptr);
    for (const PlannedSection& section : plan.sections) {
      for (const PlannedStep& p : section.steps) {
        note(p.step->inputs, &p);
        note(p.step->outputs, &p);
        if (p.kind == fb::StepBody::GroupedLaunch) note(p.step->body.AsGroupedLaunch()->args, &p);
      }
    }
  }

  bool Frozen(uint32_t b) const {
    const fb::BufferT& buffer = Buffer(b);
    if (buffer.space == fb::Space::Constant) return true;
    if (buffer.space == fb::Space::Variable) return !written_variables_.contains(buffer.index);
    return frozen_.contains(b);
  }

  // In a place that is written once.
  bool Stays(uint32_t b) const {
    const fb::BufferT& buffer = Buffer(b);
    int writers = 0;
    for (const Range& w : writes_) {
      if (w.begin >= buffer.offset + buffer.bytes) break;
      writers += w.end > buffer.offset ? 1 : 0;
    }
    return writers == 1;
  }

  // In a place that is read and written with the marked steps alone: what goes from one to another.
  bool OnlyFrozenTouch(uint32_t b) const {
    const fb::BufferT& buffer = Buffer(b);
    return std::all_of(touches_.begin(), touches_.end(), [&](const Touch& t) {
      const bool apart = t.range.begin >= buffer.offset + buffer.bytes || t.range.end <= buffer.offset;
      return apart || (t.step != nullptr && t.step->frozen);
    });
  }

  const fb::ProgramT& program_;
  const std::vector<uint32_t>& fetched_;
  // Of the standard library: Abseil's sets are not destroyed properly after a failed allocation.
  std::unordered_set<uint32_t> written_variables_, frozen_;
  std::vector<Range> writes_;  // by begin
  std::vector<Touch> touches_;
};

}  // namespace

void MarkFrozenSteps(const fb::ProgramT& program, const std::vector<uint32_t>& fetched, StepPlan& plan) {
  Marker marker(program, fetched);
  for (PlannedSection& section : plan.sections) {
    if (section.kind != fb::SectionKind::Global) continue;
    for (PlannedStep& step : section.steps) marker.Mark(step);
  }
  marker.Unmark(plan);
}

}  // namespace tandem
