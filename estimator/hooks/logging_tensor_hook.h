// LoggingTensorHook: logs the values of tensors every so many steps.
#ifndef TANDEM_ESTIMATOR_HOOKS_LOGGING_TENSOR_HOOK_H_
#define TANDEM_ESTIMATOR_HOOKS_LOGGING_TENSOR_HOOK_H_

#include <cstdint>
#include <string>
#include <vector>

#include "estimator/hooks/clock.h"
#include "estimator/loop/session_run_hook.h"

namespace tandem {

// Logs at the first step and then every `every_n_iter` steps of this run: "loss = 2.3, step = 0", later with the time
// since the previous line: "loss = 2.2, step = 100 (0.732 sec)". The step is the number of steps before the one whose
// values are shown. For a tensor with several elements shows the first few.
class LoggingTensorHook : public SessionRunHook {
 public:
  LoggingTensorHook(std::vector<std::string> tensors, int64_t every_n_iter, Clock clock = SystemClock())
      : tensors_(std::move(tensors)), every_n_iter_(every_n_iter), clock_(std::move(clock)) {}

  std::string name() const override { return "LoggingTensorHook"; }
  absl::Status Begin(HookContext& context) override;
  std::vector<std::string> BeforeRun(RunContext& context) override;
  absl::Status AfterRun(RunContext& context, const RunValues& values) override;

 private:
  bool due() const { return iterations_ % every_n_iter_ == 0; }

  std::vector<std::string> tensors_;
  int64_t every_n_iter_;
  Clock clock_;
  int64_t iterations_ = 0;
  double last_time_ = -1;  // time of the last line, in seconds; negative before the first one
};

// Returns "2.3" for a scalar and "[1 2 3 ...]" for a larger tensor.
std::string ShortString(const HostTensor& tensor);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_HOOKS_LOGGING_TENSOR_HOOK_H_
