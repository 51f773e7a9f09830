// Tracer: writes some of a process's steps as a Chrome trace for chrome://tracing and ui.perfetto.dev.
#ifndef TANDEM_ESTIMATOR_TRACE_TRACER_H_
#define TANDEM_ESTIMATOR_TRACE_TRACER_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "base/env.h"
#include "passes/analysis/machine_model.h"
#include "runtime/executable/command_info.h"
#include "runtime/executable/executable.h"
#include "runtime/session/command_trace.h"

namespace tandem {

// The file has a track for each thread of the pool, with an event for every execution of a program's command. The
// event's name is that of the op with its scope; its arguments say what it computed and how fast: "GFLOP/s", "GB/s",
// "bound" (what limits it on the machine that the program was compiled for), "expected_us" (cost_model.h), and
// "of_limit", the least time that the machine needs divided by the time taken. Another track has the phases of the loop
// around the steps: input wait, step, hooks, checkpoint; another one the communication with other processes while
// commands run.
//
// The thread that runs the loop makes the calls in this order:
//   BeginLoop  (BeginStep  AddPhase... AddCommands  EndStep)...  EndLoop
// A loop inside of another one's step (an evaluation in a hook) is traced while that step is, but at most as many steps
// as `options` say.
class Tracer {
 public:
  struct Options {
    std::string file;
    // Which steps to trace, counted from 0 over all outermost loops of this process, whatever the global step is.
    int64_t first_step = 10, last_step = 14;
    Env* env = nullptr;  // the file system and clock; null: Env::Default()
  };
  explicit Tracer(Options options);

  void BeginLoop();
  // Writes the file if events were added since it was written.
  absl::Status EndLoop();
  void BeginStep();
  // Writes the file if this step is the last one to trace.
  absl::Status EndStep();

  // True if the running step is one of those to trace. Events added during other steps are dropped.
  bool recording() const { return !loops_.empty() && loops_.back().recording; }
  // For Session::set_trace: null unless recording() is true.
  CommandTrace* command_trace() { return recording() ? &commands_ : nullptr; }

  // Adds a phase. Times are those of TraceNow(). `args` has members of a JSON object, without its braces, and may be
  // empty.
  void AddPhase(absl::string_view name, int64_t begin, int64_t end, absl::string_view args = "");
  // Moves the records that a run of `executable` has added to command_trace() into the trace. `global_step` is an
  // argument of each event.
  void AddCommands(const Executable& executable, int64_t global_step);

  // Returns the trace so far.
  std::string Json() const;
  // Returns the number of steps traced so far, in outermost loops.
  int64_t steps_traced() const { return traced_; }
  const Options& options() const { return options_; }

 private:
  struct Loop {
    bool recording = false;
    int64_t steps = 0;
  };
  // What all events of a command have in common.
  struct CommandLabel {
    CommandInfo info;
    std::string begin;  // beginning of the event's JSON, up to its first argument that varies
  };
  struct Program {
    std::string key, mode;
    MachineModel machine;  // the machine that the program was compiled for
    std::vector<CommandLabel> labels;
  };

  Program& ProgramOf(const Executable& executable);
  void AddCommand(const Executable& executable, const Program& program, const CommandRecord& record, int track,
                  int64_t global_step, double seconds);
  std::string Time(int64_t ns) const;
  absl::Status Write();

  const Options options_;
  std::vector<Loop> loops_;
  int64_t steps_begun_ = 0, traced_ = 0;
  int64_t runs_ = 0;  // number of program runs, which tells the runs of an inner loop apart
  CommandTrace commands_;
  std::map<std::string, Program> programs_;  // by the program's mode and key
  int64_t origin_ = 0;                       // the time, in nanoseconds, that is 0 in the file
  int threads_ = 0;
  bool communicates_ = false;  // there are events of communication, so the file has a track for them
  std::vector<std::string> events_;
  size_t written_ = 0;
};

// Traces a phase that lasts until the end of the scope.
class TracePhase {
 public:
  TracePhase(Tracer* tracer, absl::string_view name) : tracer_(tracer), name_(name) {
    if (tracer_ != nullptr && tracer_->recording()) begin_ = TraceNow();
  }
  ~TracePhase() {
    if (begin_ != 0) tracer_->AddPhase(name_, begin_, TraceNow());
  }
  TracePhase(const TracePhase&) = delete;
  TracePhase& operator=(const TracePhase&) = delete;

 private:
  Tracer* const tracer_;  // may be null
  const std::string name_;
  int64_t begin_ = 0;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_TRACE_TRACER_H_
