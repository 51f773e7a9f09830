#include "runtime/cuda/plan/segment_plan.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

namespace tandem {
namespace {

class Planner {
 public:
  explicit Planner(const Executable& executable)
      : program_(executable.index().programs[executable.index().replicas[0].program]),
        alone_(executable.num_replicas() == 1) {}

  SegmentPlan Run() {
    NumberCommands();
    // place[i] is the planned segment that contains segment i of the program, or -1 if no work is left in it.
    std::vector<int> place;
    for (const auto& from : program_.gpu->segments) {
      PlannedSegment segment;
      segment.stream = from.stream;
      for (uint32_t command : from.commands) AddCommand(segment, command, from.captured);
      std::set<uint32_t> waits;
      for (uint32_t w : from.waits) AddWait(w, from.stream, place, waits);
      segment.waits.assign(waits.begin(), waits.end());
      if (segment.pieces.empty()) {
        place.push_back(-1);
        continue;
      }
      place.push_back(Append(std::move(segment)));
    }
    for (const PlannedSegment& segment : plan_.segments) {
      for (uint32_t w : segment.waits) plan_.segments[w].awaited = true;
    }
    // The step must also wait for segments of the communication stream for which the compute stream does not wait. A
    // stream's segments run in order, so this can only concern the last one.
    for (size_t i = plan_.segments.size(); i-- > 0;) {
      if (plan_.segments[i].stream != format::Stream::kCommunication) continue;
      if (!AwaitedByCompute(static_cast<uint32_t>(i))) {
        plan_.unawaited.push_back(static_cast<uint32_t>(i));
        plan_.segments[i].awaited = true;
      }
      break;
    }
    return std::move(plan_);
  }

 private:
  void NumberCommands() {
    bool checked = false;
    int id = 0;
    for (const auto& section : program_.sections) {
      for (const auto& table : section.commands) {
        plan_.tables.push_back(&table);
        plan_.map.push_back(section.kind == format::SectionKind::kMap);
        plan_.ids.push_back(id++);
        plan_.guarded.push_back(checked);
        plan_.commands.push_back(NewCommand(table));
        checked |= plan_.commands.back()->may_end_step();
      }
      ++id;  // skips the id of the section's LaneSum
    }
  }

  void AddCommand(PlannedSegment& segment, uint32_t number, bool captured) {
    const format::Command& table = *plan_.tables[number];
    if (plan_.commands[number]->collective().has_value()) {
      for (uint32_t b : table.outputs) {
        Overwrite(Place(b));
        alike_.insert(Place(b));
      }
      if (alone_) return;
      segment.pieces.push_back({PlannedPiece::kAllReduce, {number}, false});
      return;
    }
    for (uint32_t b : table.outputs) Overwrite(Place(b));
    if (segment.pieces.empty() || segment.pieces.back().kind != PlannedPiece::kCommands) {
      segment.pieces.push_back({PlannedPiece::kCommands, {}, captured});
    }
    segment.pieces.back().commands.push_back(number);
    if (!plan_.commands[number]->may_end_step() || alone_) return;
    const bool alike =
        std::all_of(table.inputs.begin(), table.inputs.end(), [&](uint32_t b) { return alike_.count(Place(b)) > 0; });
    if (!alike) segment.pieces.push_back({PlannedPiece::kCombineFlag, {number}, false});
  }

  std::pair<uint64_t, uint64_t> Place(uint32_t buffer) const {
    const format::Buffer& b = program_.buffers[buffer];
    return b.space == format::Space::kStep ? std::make_pair(b.offset, b.bytes)
                                           : std::make_pair(~uint64_t{0}, uint64_t{0});
  }

  void Overwrite(std::pair<uint64_t, uint64_t> range) {
    for (auto it = alike_.begin(); it != alike_.end();) {
      const bool overlap = it->first < range.first + range.second && range.first < it->first + it->second;
      it = overlap ? alike_.erase(it) : std::next(it);
    }
  }

  // Adds a wait for a segment. If the segment is empty, adds waits for the segments for which it waits instead.
  void AddWait(uint32_t segment, format::Stream stream, const std::vector<int>& place,
               std::set<uint32_t>& waits) const {
    if (place[segment] >= 0) {
      if (plan_.segments[place[segment]].stream != stream) waits.insert(static_cast<uint32_t>(place[segment]));
      return;
    }
    for (uint32_t w : program_.gpu->segments[segment].waits) AddWait(w, stream, place, waits);
  }

  // Appends a segment. With one replica it is joined with the segment before it, if both are on one stream and the new
  // one waits for nothing.
  int Append(PlannedSegment segment) {
    if (alone_ && !plan_.segments.empty() && segment.waits.empty()) {
      PlannedSegment& last = plan_.segments.back();
      PlannedPiece &a = last.pieces.back(), &b = segment.pieces.front();
      const bool commands = a.kind == PlannedPiece::kCommands && b.kind == PlannedPiece::kCommands;
      if (last.stream == segment.stream && commands && segment.pieces.size() == 1) {
        a.captured |= b.captured;
        a.commands.insert(a.commands.end(), b.commands.begin(), b.commands.end());
        return static_cast<int>(plan_.segments.size()) - 1;
      }
    }
    plan_.segments.push_back(std::move(segment));
    return static_cast<int>(plan_.segments.size()) - 1;
  }

  bool AwaitedByCompute(uint32_t segment) const {
    for (const PlannedSegment& s : plan_.segments) {
      if (s.stream == format::Stream::kCompute && std::count(s.waits.begin(), s.waits.end(), segment) > 0) return true;
    }
    return false;
  }

  const format::Program& program_;
  const bool alone_;
  SegmentPlan plan_;
  // Offsets and sizes in the step arena of results of collectives, which are equal on all replicas.
  std::set<std::pair<uint64_t, uint64_t>> alike_;
};

}  // namespace

SegmentPlan MakeSegmentPlan(const Executable& executable) { return Planner(executable).Run(); }

}  // namespace tandem
