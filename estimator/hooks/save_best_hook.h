// SaveBestHook: saves a checkpoint of every step whose evaluation is the best so far.
#ifndef TANDEM_ESTIMATOR_HOOKS_SAVE_BEST_HOOK_H_
#define TANDEM_ESTIMATOR_HOOKS_SAVE_BEST_HOOK_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "estimator/hooks/checkpoint_saver_hook.h"
#include "estimator/loop/session_run_hook.h"

namespace tandem {

// Place this hook after the hooks that evaluate. Evaluations that are made every so many steps need no checkpoint, so
// without this hook the step of the best one may have none.
class SaveBestHook : public SessionRunHook {
 public:
  // `best_step` returns the global step of the best evaluation so far.
  SaveBestHook(std::shared_ptr<CheckpointSaverHook> saver, std::function<int64_t()> best_step)
      : saver_(std::move(saver)), best_step_(std::move(best_step)) {}

  std::string name() const override { return "SaveBestHook"; }
  // Saves in BeforeRun too, because an evaluation may have been made between two steps.
  std::vector<std::string> BeforeRun(RunContext& context) override {
    if (best_step_() == context.global_step()) context.Fail(saver_->SaveNow(context));
    return {};
  }
  absl::Status AfterRun(RunContext& context, const RunValues& values) override {
    return values.finite && best_step_() == context.global_step() ? saver_->SaveNow(context) : absl::OkStatus();
  }

 private:
  const std::shared_ptr<CheckpointSaverHook> saver_;
  const std::function<int64_t()> best_step_;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_HOOKS_SAVE_BEST_HOOK_H_
