// TimeHistory: an example of a user's own hook, as in the tutorials. It measures the training rate.
#ifndef TANDEM_SAMPLES_TIME_HISTORY_H_
#define TANDEM_SAMPLES_TIME_HISTORY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tandem/estimator/hooks/clock.h"
#include "tandem/estimator/loop/session_run_hook.h"

namespace tandem {

// Measures images per second: the global batch divided by the mean time of a step. The first step, which includes
// one-time costs, does not count if there are others. When the first step is done, the time since the process started
// is logged.
class TimeHistory : public SessionRunHook {
 public:
  explicit TimeHistory(Clock clock = SystemClock()) : clock_(std::move(clock)) {}

  std::string name() const override { return "TimeHistory"; }
  absl::Status Begin(HookContext& context) override;
  std::vector<std::string> BeforeRun(RunContext& context) override;
  absl::Status AfterRun(RunContext& context, const RunValues& values) override;
  absl::Status End(RunContext& context) override;

  // Returns 0 before the first step.
  double images_per_second() const;

 private:
  Clock clock_;
  int64_t global_batch_ = 0;
  bool start_logged_ = false;
  double started_ = 0;
  // Only sums are kept, so that the memory does not grow with the length of the training.
  int64_t steps_ = 0;
  double first_seconds_ = 0, later_seconds_ = 0;
};

}  // namespace tandem

#endif  // TANDEM_SAMPLES_TIME_HISTORY_H_
