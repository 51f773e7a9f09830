// ProgressHook: one line on a terminal with the step, the loss and the rate of examples.
#ifndef TANDEM_ESTIMATOR_HOOKS_PROGRESS_HOOK_H_
#define TANDEM_ESTIMATOR_HOOKS_PROGRESS_HOOK_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "estimator/hooks/clock.h"
#include "estimator/session_run_hook.h"

namespace tandem {

// Rewrites its line at most five times a second: "step 1200/4690  loss 0.4312  10873 images/s",
// and "  input wait 12 %" behind it when the loop waited for batches in more than 2 % of the time. The cursor stays at
// the start of the line, so that a log line covers it.
class ProgressHook : public SessionRunHook {
 public:
  // `max_steps`: 0 when not known. `write` puts characters on the terminal.
  ProgressHook(int64_t max_steps, std::function<void(absl::string_view)> write, Clock clock = SystemClock())
      : max_steps_(max_steps), write_(std::move(write)), clock_(std::move(clock)) {}

  std::string name() const override { return "ProgressHook"; }
  absl::Status AfterCreateSession(RunContext& context) override;
  absl::Status AfterRun(RunContext& context, const RunValues& values) override;
  absl::Status End(RunContext& context) override;

 private:
  int64_t max_steps_;
  std::function<void(absl::string_view)> write_;
  Clock clock_;
  double last_time_ = 0;
  int64_t examples_ = 0;
  double input_seconds_ = 0;
};

// Whether stderr is a terminal, and a writer to it.
bool StderrIsTerminal();
void WriteToStderr(absl::string_view text);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_HOOKS_PROGRESS_HOOK_H_
