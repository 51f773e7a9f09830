#include "estimator/trace/tracer.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/logging.h"
#include "base/status_macros.h"
#include "passes/analysis/command_cost.h"
#include "runtime/format/index.h"

namespace tandem {
namespace {

constexpr int kSessionTrack = 0;  // track of the loop's phases; the pool's threads have the tracks from 1 on
constexpr int kCommunicationTrack = 1 << 20;  // track of the communication, after those of all threads

// Returns a JSON string with its quotes; bytes that are not UTF-8 are replaced.
std::string Quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

Tracer::Tracer(Options options) : options_(std::move(options)), origin_(TraceNow()) {}

void Tracer::BeginLoop() { loops_.push_back({}); }

absl::Status Tracer::EndLoop() {
  loops_.pop_back();
  return loops_.empty() ? Write() : absl::OkStatus();
}

void Tracer::BeginStep() {
  Loop& loop = loops_.back();
  if (loops_.size() == 1) {
    loop.recording = steps_begun_ >= options_.first_step && steps_begun_ <= options_.last_step;
    ++steps_begun_;
    traced_ += loop.recording;
  } else {
    const Loop& outer = loops_[loops_.size() - 2];
    loop.recording = outer.recording && loop.steps++ <= options_.last_step - options_.first_step;
  }
}

absl::Status Tracer::EndStep() {
  const bool last = loops_.size() == 1 && loops_.back().recording && steps_begun_ > options_.last_step;
  loops_.back().recording = false;
  return last ? Write() : absl::OkStatus();
}

std::string Tracer::Time(int64_t ns) const { return absl::StrFormat("%.3f", 1e-3 * static_cast<double>(ns)); }

void Tracer::AddPhase(absl::string_view name, int64_t begin, int64_t end, absl::string_view args) {
  if (!recording()) return;
  events_.push_back(absl::StrCat(R"({"ph":"X","pid":1,"tid":)", kSessionTrack, R"(,"cat":"session","name":)",
                                 Quoted(std::string(name)), R"(,"ts":)", Time(begin - origin_), R"(,"dur":)",
                                 Time(end - begin), R"(,"args":{)", args, "}}"));
}

Tracer::Program& Tracer::ProgramOf(const Executable& executable) {
  const format::Index& index = executable.index();
  Program& program = programs_[absl::StrCat(index.mode, " ", index.key)];
  if (!program.labels.empty()) return program;
  program.key = index.key;
  program.mode = index.mode;
  program.machine = MachineModelOf(executable);
  for (CommandInfo& info : ListCommands(executable)) {
    const std::string name = info.name.empty() ? "sum over the microbatches of a lane" : info.name;
    CommandLabel label;
    label.begin = absl::StrCat(R"("cat":)", Quoted(index.mode), R"(,"name":)", Quoted(name), R"(,"args":{"id":)",
                               info.id, R"(,"section":)", Quoted(info.section), R"(,"kind":)", Quoted(info.kind),
                               R"(,"detail":)", Quoted(info.detail), R"(,"source":)", Quoted(info.source));
    label.info = std::move(info);
    program.labels.push_back(std::move(label));
  }
  return program;
}

void Tracer::AddCommand(const Executable& executable, const Program& program, const CommandRecord& r, int track,
                        int64_t global_step, double seconds) {
  const CommandLabel& label = program.labels[r.id];
  const Cost cost = ExpectedCost(program.machine, executable, label.info, r.rows, threads_);
  // A command outside of map sections (which run once for each microbatch) has one record for all devices, and all
  // threads have worked on it.
  const double devices = label.info.map ? 1 : executable.num_replicas();
  const double limit = LimitSeconds(cost) * devices / (label.info.map ? 1 : std::max(1, threads_));
  // A coarse clock may show no time between begin and end.
  const double time = std::max(seconds, 1e-9);
  std::string event = absl::StrCat(R"({"ph":"X","pid":1,"tid":)", track, R"(,"ts":)", Time(r.begin - origin_),
                                   R"(,"dur":)", Time(r.end - r.begin), ",", label.begin, R"(,"step":)", global_step,
                                   R"(,"run":)", runs_, R"(,"device":)", r.device);
  if (r.lane >= 0) absl::StrAppend(&event, R"(,"lane":)", r.lane, R"(,"rows":)", r.rows);
  absl::StrAppendFormat(&event, R"(,"GFLOP/s":%.4g,"GB/s":%.4g,"bound":"%s","expected_us":%.4g,"of_limit":%.3g}})",
                        1e-9 * devices * label.info.work.Flops(r.rows) / time,
                        1e-9 * devices * label.info.work.Bytes(r.rows) / time, BoundName(cost.bound),
                        1e6 * SecondsForDevices(cost, devices), limit / time);
  events_.push_back(std::move(event));
}

void Tracer::AddCommands(const Executable& executable, int64_t global_step) {
  if (!recording()) return;
  threads_ = std::max(threads_, static_cast<int>(commands_.threads.size()));
  const Program& program = ProgramOf(executable);
  // Several threads may work on one command that runs once for all rows (lane < 0). Its rate is computed from the time
  // between its first begin and its last end on any thread.
  std::map<int32_t, std::pair<int64_t, int64_t>> spans;
  const auto extend = [&](const std::vector<CommandRecord>& records) {
    for (const CommandRecord& r : records) {
      if (r.lane >= 0) continue;
      auto [it, first] = spans.emplace(r.id, std::make_pair(r.begin, r.end));
      it->second = {std::min(it->second.first, r.begin), std::max(it->second.second, r.end)};
    }
  };
  for (const std::vector<CommandRecord>& thread : commands_.threads) extend(thread);
  extend(commands_.communication);
  const auto add = [&](std::vector<CommandRecord>& records, int track) {
    for (const CommandRecord& r : records) {
      // Skips a record that another program, traced before this one, has left behind.
      if (r.id < 0 || r.id >= static_cast<int>(program.labels.size())) continue;
      int64_t taken = r.end - r.begin;
      if (auto it = spans.find(r.id); r.lane < 0 && it != spans.end()) taken = it->second.second - it->second.first;
      AddCommand(executable, program, r, track, global_step, 1e-9 * static_cast<double>(taken));
    }
    records.clear();
  };
  for (size_t thread = 0; thread < commands_.threads.size(); ++thread) {
    add(commands_.threads[thread], static_cast<int>(thread) + 1);
  }
  communicates_ |= !commands_.communication.empty();
  add(commands_.communication, kCommunicationTrack);
  ++runs_;
}

std::string Tracer::Json() const {
  std::vector<std::string> keys, events;
  std::set<std::string> machines;
  for (const auto& [name, p] : programs_) {
    keys.push_back(absl::StrCat(Quoted(p.mode), ":", Quoted(p.key)));
    machines.insert(p.machine.name);
  }
  events.push_back(R"({"ph":"M","pid":1,"tid":0,"name":"process_name","args":{"name":"tandem"}})");
  const auto name_track = [&](int track, const std::string& name) {
    events.push_back(
        absl::StrFormat(R"({"ph":"M","pid":1,"tid":%d,"name":"thread_name","args":{"name":"%s"}})", track, name));
    events.push_back(absl::StrFormat(
        R"({"ph":"M","pid":1,"tid":%d,"name":"thread_sort_index","args":{"sort_index":%d}})", track, track));
  };
  name_track(kSessionTrack, "session");
  for (int thread = 0; thread < threads_; ++thread) name_track(thread + 1, absl::StrCat("thread ", thread));
  if (communicates_) name_track(kCommunicationTrack, "communication");
  events.insert(events.end(), events_.begin(), events_.end());
  return absl::StrCat(R"({"displayTimeUnit":"ms","otherData":{"steps":)", traced_, R"(,"threads":)", threads_,
                      R"(,"machine":)", Quoted(absl::StrJoin(machines, ", ")), R"(,"programs":{)",
                      absl::StrJoin(keys, ","), "}},\n\"traceEvents\":[\n", absl::StrJoin(events, ",\n"), "\n]}\n");
}

absl::Status Tracer::Write() {
  if (events_.size() == written_) {
    if (events_.empty() && steps_begun_ > 0) {
      TD_LOG(WARNING) << "Nothing to trace yet: " << steps_begun_ << " steps have run, and the trace begins at step "
                      << options_.first_step << " (counted from 0); choose other trace steps.";
    }
    return absl::OkStatus();
  }
  Env* env = options_.env != nullptr ? options_.env : Env::Default();
  TD_RETURN_IF_ERROR(env->WriteFile(options_.file, {Json()}));
  written_ = events_.size();
  TD_LOG(INFO) << "Wrote a trace of " << traced_ << " steps to " << options_.file
               << "; open it in chrome://tracing or ui.perfetto.dev.";
  return absl::OkStatus();
}

}  // namespace tandem
