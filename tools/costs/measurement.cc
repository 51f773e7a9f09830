#include "tools/costs/measurement.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "runtime/executable/command_info.h"

namespace tandem {

MeasurementBuilder::MeasurementBuilder(const Executable& executable) {
  result_.commands.resize(ListCommands(executable).size());
  calls_.resize(result_.commands.size());
}

void MeasurementBuilder::AddCall(int32_t id, double seconds, int64_t rows) {
  CommandMeasurement& command = result_.commands[id];
  ++command.calls;
  command.rows += rows;
  command.seconds += seconds;
  calls_[id].emplace_back(seconds, rows);
}

void MeasurementBuilder::AddRun(const CommandTrace& trace, double seconds) {
  result_.threads = std::max(result_.threads, static_cast<int>(trace.threads.size()));
  run_seconds_.push_back(seconds);
  // Begin and end of each global command in this run. A global command counts as one call, however many threads take
  // part.
  std::map<int32_t, std::pair<int64_t, int64_t>> spans;
  for (const std::vector<CommandRecord>& thread : trace.threads) {
    for (const CommandRecord& r : thread) {
      if (r.id < 0 || r.id >= static_cast<int>(result_.commands.size())) continue;
      if (r.lane < 0) {
        auto [it, first] = spans.emplace(r.id, std::make_pair(r.begin, r.end));
        it->second = {std::min(it->second.first, r.begin), std::max(it->second.second, r.end)};
        continue;
      }
      AddCall(r.id, 1e-9 * static_cast<double>(r.end - r.begin), r.rows);
    }
  }
  for (const auto& [id, span] : spans) {
    AddCall(id, 1e-9 * static_cast<double>(span.second - span.first), 0);
  }
}

Measurement MeasurementBuilder::Finish() {
  result_.runs = static_cast<int64_t>(run_seconds_.size());
  if (!run_seconds_.empty()) {
    auto middle = run_seconds_.begin() + run_seconds_.size() / 2;
    std::nth_element(run_seconds_.begin(), middle, run_seconds_.end());
    result_.run_seconds = *middle;
    result_.mean_run_seconds = std::accumulate(run_seconds_.begin(), run_seconds_.end(), 0.0) / run_seconds_.size();
  }
  for (size_t id = 0; id < calls_.size(); ++id) {
    if (calls_[id].empty()) continue;
    auto middle = calls_[id].begin() + calls_[id].size() / 2;
    std::nth_element(calls_[id].begin(), middle, calls_[id].end());
    result_.commands[id].median_seconds = middle->first;
    result_.commands[id].median_rows = middle->second;
  }
  return std::move(result_);
}

}  // namespace tandem
