// LossLog: writes the loss of every step to a file.
#ifndef TANDEM_SAMPLES_LOSS_LOG_H_
#define TANDEM_SAMPLES_LOSS_LOG_H_

#include <fstream>
#include <string>
#include <vector>

#include "estimator/loop/session_run_hook.h"

namespace tandem {

// A line {"step": 0, "loss": 2.30405998} for each step: the number of steps before it, and its loss before its update
// with nine significant digits, enough for the exact float32, or as base/non_finite_name.h says it. A run that resumes
// keeps the lines of the steps before it.
class LossLog : public SessionRunHook {
 public:
  explicit LossLog(std::string path) : path_(std::move(path)) {}

  std::string name() const override { return "LossLog"; }
  absl::Status AfterCreateSession(RunContext& context) override;
  std::vector<std::string> BeforeRun(RunContext& context) override { return {"loss"}; }
  absl::Status AfterRun(RunContext& context, const RunValues& values) override;

 private:
  absl::Status WriteError() const;

  std::string path_;
  std::ofstream file_;
};

}  // namespace tandem

#endif  // TANDEM_SAMPLES_LOSS_LOG_H_
