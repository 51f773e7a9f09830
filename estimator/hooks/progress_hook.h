// ProgressHook: shows the progress of a training in one line on a terminal.
#ifndef TANDEM_ESTIMATOR_HOOKS_PROGRESS_HOOK_H_
#define TANDEM_ESTIMATOR_HOOKS_PROGRESS_HOOK_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "estimator/hooks/clock.h"
#include "estimator/loop/session_run_hook.h"

namespace tandem {

// Rewrites its line at most five times a second; ProgressLine describes the line. The cursor stays at the start of the
// line, so that a log line overwrites it.
//
// The time left is the number of steps left times the average time of the steps of this Train so far, including what
// happened between them; the first step, which warms up, does not count. It is unknown before the second step has
// ended, and if training does not end at a number of steps.
class ProgressHook : public SessionRunHook {
 public:
  struct Options {
    int64_t max_steps = 0;                                   // the global step at which training ends; 0: not known
    int64_t steps = 0;                                       // the number of steps of this training; 0: not known
    double steps_per_epoch = 0;                              // 0: not known
    std::function<void(absl::string_view)> write = nullptr;  // puts characters on the terminal
    std::function<int()> columns = [] { return 80; };        // returns the number of columns of the terminal
    Clock clock = SystemClock();
  };
  explicit ProgressHook(Options options) : options_(std::move(options)) {}

  // Sets the metrics that the line shows from now on. Call it in hooks of the same loop.
  void set_metrics(std::map<std::string, double> metrics) { metrics_ = std::move(metrics); }

  std::string name() const override { return "ProgressHook"; }
  absl::Status AfterCreateSession(RunContext& context) override;
  absl::Status AfterRun(RunContext& context, const RunValues& values) override;
  absl::Status End(RunContext& context) override;

 private:
  // Returns a negative number if the time is not known.
  double SecondsLeft(int64_t step, double now) const;

  const Options options_;
  std::map<std::string, double> metrics_;
  int64_t last_step_ = 0;  // the global step at which training ends; 0: not known
  // Step and time at the end of the first step; first_step_ is negative before it.
  int64_t first_step_ = -1;
  double first_time_ = 0;
  // When the line was last written, and the examples and the seconds of waiting for input since then.
  double last_time_ = 0;
  int64_t examples_ = 0;
  double input_seconds_ = 0;
};

// These tell whether stderr is a terminal, write to it, and return the number of its columns.
bool StderrIsTerminal();
void WriteToStderr(absl::string_view text);
int ColumnsOfStderr();

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_HOOKS_PROGRESS_HOOK_H_
