#include "tools/dump/live_ranges.h"

#include <algorithm>
#include <map>
#include <memory>
#include <tuple>
#include <utility>

#include "runtime/commands/command.h"

namespace tandem {
namespace {

// Collects the live ranges of the buffers in one arena. AddCommand must be called for all commands in order.
class Timeline {
 public:
  Timeline(const format::Program& program, format::Space space, std::string title, uint64_t bytes)
      : program_(program), space_(space) {
    result_.title = std::move(title);
    result_.bytes = bytes;
  }

  void AddCommand(const format::Command& table) {
    const int now = commands_++;
    const std::unique_ptr<Command> command = NewCommand(table);
    for (uint32_t b : command->Reads()) Read(b, now);
    for (uint32_t b : command->Writes()) Write(b, now);
  }

  void EndSection() {
    if (space_ == format::Space::kMicrobatch) current_.clear();
  }

  void KeepToTheEnd(uint32_t buffer) {
    if (auto it = current_.find(PlaceOf(buffer)); In(buffer) && it != current_.end()) {
      result_.live[it->second].last = commands_ - 1;
    }
  }

  ArenaTimeline Finish() {
    // Pairs of a command's number and the bytes that become live there, or are freed (negative).
    std::vector<std::pair<int, int64_t>> changes;
    for (const LiveBuffer& b : result_.live) {
      changes.emplace_back(b.first, static_cast<int64_t>(b.bytes));
      changes.emplace_back(b.last + 1, -static_cast<int64_t>(b.bytes));
    }
    // Negative changes of a command come first, so that freed bytes do not count in the peak.
    std::sort(changes.begin(), changes.end());
    int64_t live = 0, peak = 0;
    for (const auto& [command, bytes] : changes) peak = std::max(peak, live += bytes);
    result_.peak = static_cast<uint64_t>(peak);
    return std::move(result_);
  }

 private:
  bool In(uint32_t buffer) const { return program_.buffers[buffer].space == space_; }
  uint64_t PlaceOf(uint32_t buffer) const { return program_.buffers[buffer].offset; }

  void Write(uint32_t buffer, int now) {
    if (!In(buffer)) return;
    auto it = current_.find(PlaceOf(buffer));
    // If the command updates the buffer in place, the buffer's live range continues.
    const bool same = it != current_.end() && result_.live[it->second].buffer == buffer;
    if (same) {
      result_.live[it->second].last = now;
      return;
    }
    current_[PlaceOf(buffer)] = result_.live.size();
    result_.live.push_back({buffer, PlaceOf(buffer), program_.buffers[buffer].bytes, now, now});
  }

  void Read(uint32_t buffer, int now) {
    if (!In(buffer)) return;
    auto it = current_.find(PlaceOf(buffer));
    if (it != current_.end()) {
      result_.live[it->second].last = now;
    } else {
      Write(buffer, now);  // no command has written the buffer, so its live range begins here
    }
  }

  const format::Program& program_;
  const format::Space space_;
  ArenaTimeline result_;
  int commands_ = 0;
  std::map<uint64_t, size_t> current_;  // maps an offset to the index in result_.live of the last buffer written there
};

}  // namespace

std::vector<ArenaTimeline> ArenaTimelines(const format::Index& index, const format::Program& program) {
  std::vector<ArenaTimeline> result;
  for (auto [space, name, bytes] :
       {std::tuple{format::Space::kMicrobatch, "microbatch arena (of each thread)", program.microbatch_bytes},
        {format::Space::kStep, "step arena", program.step_bytes},
        {format::Space::kBatch, "batch arena", program.batch_bytes}}) {
    if (bytes == 0) continue;
    Timeline timeline(program, space, name, bytes);
    for (const auto& section : program.sections) {
      for (const auto& command : section.commands) timeline.AddCommand(command);
      timeline.EndSection();
    }
    if (space != format::Space::kMicrobatch) {
      for (const auto& output : index.outputs) timeline.KeepToTheEnd(output.buffer);
    }
    result.push_back(timeline.Finish());
  }
  return result;
}

}  // namespace tandem
