// SummarySaverHook: writes the loss and speed of a training as scalars for TensorBoard.
#ifndef TANDEM_ESTIMATOR_SUMMARY_SUMMARY_SAVER_HOOK_H_
#define TANDEM_ESTIMATOR_SUMMARY_SUMMARY_SAVER_HOOK_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "estimator/hooks/clock.h"
#include "estimator/loop/session_run_hook.h"
#include "estimator/summary/event_writer.h"

namespace tandem {

// Writes points after the first step of this run and then every `every_n_steps` steps: "loss" of that step, and
// averages since the previous point: "global_step/sec", "examples/sec" and "input_wait", the part of the time that the
// loop waited for batches. A point's step is the number of steps finished. Steps that were not finite do not count.
class SummarySaverHook : public SessionRunHook {
 public:
  SummarySaverHook(std::shared_ptr<EventWriter> writer, int64_t every_n_steps, Clock clock = SystemClock())
      : writer_(std::move(writer)), every_n_steps_(every_n_steps), clock_(std::move(clock)) {}

  std::string name() const override { return "SummarySaverHook"; }
  absl::Status Begin(HookContext& context) override;
  absl::Status AfterCreateSession(RunContext& context) override;
  std::vector<std::string> BeforeRun(RunContext& context) override;
  absl::Status AfterRun(RunContext& context, const RunValues& values) override;
  absl::Status End(RunContext& context) override;

 private:
  std::shared_ptr<EventWriter> writer_;
  int64_t every_n_steps_;
  Clock clock_;
  int64_t next_step_ = 0;
  // Step and time of the previous point, and the examples and the seconds of waiting for input since then.
  int64_t last_step_ = 0;
  double last_time_ = 0;
  int64_t examples_ = 0;
  double input_seconds_ = 0;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_SUMMARY_SUMMARY_SAVER_HOOK_H_
