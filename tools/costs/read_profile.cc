// ReadProfile: converts the events of a Chrome trace back to records of runs.
#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "base/env.h"
#include "base/exit_code.h"
#include "base/json_parse.h"
#include "base/json_string.h"
#include "base/status_macros.h"
#include "base/text_file.h"
#include "runtime/format/index.h"
#include "tools/costs/measurement.h"

namespace tandem {
namespace {

using Json = nlohmann::json;

absl::Status Damaged(const std::string& file, absl::string_view what) {
  return WithExitCode(
      absl::DataLossError(absl::StrCat(file, ": ", what, "; give a file that --trace of this version wrote")),
      kExitBadData);
}

// Returns the number that the object has for `key`, or `otherwise` if there is none.
double Number(const Json& object, const char* key, double otherwise) {
  auto it = object.find(key);
  return it != object.end() && it->is_number() ? it->get<double>() : otherwise;
}

int64_t Nanoseconds(double microseconds) { return std::llround(1e3 * microseconds); }

// Returns the seconds from the start of the first command to the end of the last one.
double Span(const CommandTrace& trace) {
  int64_t begin = INT64_MAX, end = INT64_MIN;
  for (const std::vector<CommandRecord>& thread : trace.threads) {
    for (const CommandRecord& r : thread) {
      begin = std::min(begin, r.begin);
      end = std::max(end, r.end);
    }
  }
  return begin < end ? 1e-9 * static_cast<double>(end - begin) : 0;
}

}  // namespace

absl::StatusOr<Measurement> ReadProfile(const std::string& file, const Executable& executable) {
  TD_ASSIGN_OR_RETURN(const std::string text, ReadTextFile(Env::Default(), file));
  const Json trace = ParseJson(text);
  if (!trace.is_object() || !trace.contains("traceEvents") || !trace["traceEvents"].is_array() ||
      !trace.contains("otherData") || !trace["otherData"].is_object()) {
    return Damaged(file, "no Chrome trace of a Tandem program");
  }
  const format::Index& index = executable.index();
  const Json programs = trace["otherData"].value("programs", Json::object());
  if (!programs.is_object() || !programs.contains(index.mode) || programs[index.mode] != index.key) {
    return absl::FailedPreconditionError(absl::StrCat(file, " has no commands of ", executable.name(), " (", index.mode,
                                                      " ", index.key, "); it is a trace of ", JsonString(programs)));
  }
  const double tracks = Number(trace["otherData"], "threads", 0);
  if (!(tracks >= 1 && tracks <= 4096)) return Damaged(file, "the number of threads is not there");
  std::map<int64_t, CommandTrace> runs;
  for (const Json& event : trace["traceEvents"]) {
    if (!event.is_object() || event.value("ph", Json()) != "X" || event.value("cat", Json()) != index.mode) continue;
    const Json args = event.value("args", Json::object());
    const double run = Number(args, "run", -1), dur = Number(event, "dur", -1), ts = Number(event, "ts", -1);
    const double id = Number(args, "id", -1), thread = Number(event, "tid", 0) - 1;
    if (!(run >= 0 && run < 1e15 && dur >= 0 && ts >= 0 && ts + dur < 1e15 && thread >= 0 && thread < tracks &&
          id >= 0 && id < 1e6)) {
      return Damaged(file, "an event of a command without run, thread, id or times");
    }
    CommandTrace& records = runs[static_cast<int64_t>(run)];
    if (records.threads.size() <= static_cast<size_t>(thread)) records.threads.resize(static_cast<size_t>(thread) + 1);
    const double lane = Number(args, "lane", -1), rows = Number(args, "rows", 0);
    if (!(lane >= -1 && lane < 1e9 && rows >= 0 && rows < 1e9)) return Damaged(file, "a lane or rows out of range");
    records.threads[static_cast<size_t>(thread)].push_back({static_cast<int32_t>(id), 0, static_cast<int32_t>(lane),
                                                            static_cast<int32_t>(rows), Nanoseconds(ts),
                                                            Nanoseconds(ts + dur)});
  }
  // All runs had as many threads as the trace has tracks. Only one run is resized to that number, which is enough to
  // report it, because a damaged file may claim a large number.
  if (!runs.empty()) runs.begin()->second.threads.resize(static_cast<size_t>(tracks));
  MeasurementBuilder builder(executable);
  for (const auto& [number, records] : runs) builder.AddRun(records, Span(records));
  return builder.Finish();
}

}  // namespace tandem
