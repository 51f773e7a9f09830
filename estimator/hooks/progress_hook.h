// ProgressHook: one line on a terminal that says how the training goes.
#ifndef TANDEM_ESTIMATOR_HOOKS_PROGRESS_HOOK_H_
#define TANDEM_ESTIMATOR_HOOKS_PROGRESS_HOOK_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "estimator/hooks/clock.h"
#include "estimator/session_run_hook.h"

namespace tandem {

// Rewrites its line at most five times a second: see ProgressLine for what is in it. The cursor stays at the start of
// the line, so that a log line covers it.
//
// The time left is that of the steps that are left, each as long as those so far in this Train with what came between
// them; the first, which warms up, does not count. It is not known before the second line, nor without an end that is a
// number of steps.
class ProgressHook : public SessionRunHook {
 public:
  struct Options {
    int64_t max_steps = 0;                                   // the global step at which training ends, or
    int64_t steps = 0;                                       // how many steps it takes; 0: not known
    double steps_per_epoch = 0;                              // 0: not known
    std::function<void(absl::string_view)> write = nullptr;  // puts characters on the terminal
    std::function<int()> columns = [] { return 80; };        // of the terminal
    Clock clock = SystemClock();
  };
  explicit ProgressHook(Options options) : options_(std::move(options)) {}

  // What the line shows from now on. Call it in hooks of the same loop.
  void set_metrics(std::map<std::string, double> metrics) { metrics_ = std::move(metrics); }

  std::string name() const override { return "ProgressHook"; }
  absl::Status AfterCreateSession(RunContext& context) override;
  absl::Status AfterRun(RunContext& context, const RunValues& values) override;
  absl::Status End(RunContext& context) override;

 private:
  // Negative while it is not known.
  double SecondsLeft(int64_t step, double now) const;

  const Options options_;
  std::map<std::string, double> metrics_;
  int64_t last_step_ = 0;  // 0: not known
  // Of the end of the first step; negative before it.
  int64_t first_step_ = -1;
  double first_time_ = 0;
  // Since the last line.
  double last_time_ = 0;
  int64_t examples_ = 0;
  double input_seconds_ = 0;
};

// Whether stderr is a terminal, a writer to it, and its width.
bool StderrIsTerminal();
void WriteToStderr(absl::string_view text);
int ColumnsOfStderr();

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_HOOKS_PROGRESS_HOOK_H_
