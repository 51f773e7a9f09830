// LoggingTensorHook: logs the values of tensors now and then.
#ifndef TANDEM_ESTIMATOR_HOOKS_LOGGING_TENSOR_HOOK_H_
#define TANDEM_ESTIMATOR_HOOKS_LOGGING_TENSOR_HOOK_H_

#include <cstdint>
#include <string>
#include <vector>

#include "estimator/hooks/clock.h"
#include "estimator/session_run_hook.h"

namespace tandem {

// At the first step and then every `every_n_iter` steps of this run: "loss = 2.3, step = 0", later with the time since
// the line before: "loss = 2.2, step = 100 (0.732 sec)". The step is the number of steps before the one whose values
// are shown. Of a tensor with several elements the first few are shown.
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
  double last_time_ = -1;  // negative before the first line
};

// "2.3" of a scalar, "[1 2 3 ...]" of a larger tensor.
std::string ShortString(const HostTensor& tensor);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_HOOKS_LOGGING_TENSOR_HOOK_H_
