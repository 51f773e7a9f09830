// LossLog: writes the loss of every step to a file.
#ifndef TANDEM_SAMPLES_LOSS_LOG_H_
#define TANDEM_SAMPLES_LOSS_LOG_H_

#include <fstream>
#include <string>
#include <vector>

#include "tandem/estimator/loop/session_run_hook.h"

namespace tandem {

// Writes a line {"step": 0, "loss": 2.30405998} for each step. "step" is the number of steps before it. "loss" is its
// loss before the update, with nine significant digits, which is enough for the exact float32; a loss that is not
// finite is written as base/non_finite_name.h says. A resumed run keeps the lines of earlier steps.
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
