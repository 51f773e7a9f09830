// Makes the hooks of a training.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/logging.h"
#include "estimator/evaluation/training_metrics_hook.h"
#include "estimator/hooks/logging_tensor_hook.h"
#include "estimator/hooks/nan_tensor_hook.h"
#include "estimator/hooks/progress_hook.h"
#include "estimator/hooks/save_best_hook.h"
#include "estimator/hooks/step_counter_hook.h"
#include "estimator/hooks/stop_at_step_hook.h"
#include "estimator/internal/progress_hooks.h"
#include "estimator/internal/training.h"

namespace tandem {

HookList Training::MakeHooks(int64_t restored_step, const HookList& evaluations) {
  const RunConfig& config = estimator_.config_;
  const EstimatorSpec& spec = prepared_.program->spec();
  HookList hooks;
  auto append = [&hooks](const HookList& more) { hooks.insert(hooks.end(), more.begin(), more.end()); };
  const bool chief = estimator_.is_chief();
  if (config.checkpoints_enabled() && chief) {
    CheckpointSaverHook::Options saver;
    saver.save_steps = config.checkpoint_steps();
    saver.save_secs = config.checkpoint_secs();
    saver.save = [this](int64_t step) { return SaveStep(step); };
    saver.finish_save = [this](bool wait) { return FinishSave(wait); };
    saver.restored_step = restored_step;
    saver.values_changed = !estimator_.assigned_.empty();
    saver.listeners = options_.saving_listeners;
    saver_ = std::make_shared<CheckpointSaverHook>(std::move(saver));
    hooks.push_back(saver_);
  }
  append(evaluations);
  if (chief) append(spec.training_chief_hooks);
  if (config.log_step_count_steps > 0 && chief) {
    hooks.push_back(std::make_shared<StepCounterHook>(config.log_step_count_steps));
  }
  if (chief) append(estimator_.event_files_.TrainingHooks(*prepared_.program, estimator_.resident_.model().store()));
  append(options_.hooks);
  if (options_.steps.has_value() || options_.max_steps.has_value()) {
    hooks.push_back(std::make_shared<StopAtStepHook>(
        StopAtStepHook::Options{.num_steps = options_.steps.value_or(0), .last_step = options_.max_steps.value_or(0)}));
  }
  hooks.push_back(std::make_shared<NanTensorHook>(config.fail_on_nan));
  if (config.log_step_count_steps > 0 && chief) {
    hooks.push_back(std::make_shared<LoggingTensorHook>(std::vector<std::string>{"loss"}, config.log_step_count_steps));
  }
  if (config.log_step_count_steps > 0 && !spec.metrics.empty() && chief) {
    // For example "accuracy = 0.91, loss = 0.25 (steps 100 to 199)".
    auto report = [](const EvalResult& result, int64_t first, int64_t last) {
      TD_LOG(INFO) << result.ToString() << " (steps " << first << " to " << last << ")";
    };
    hooks.push_back(std::make_shared<TrainingMetricsHook>(spec.metrics, config.log_step_count_steps, report));
  }
  append(spec.training_hooks);
  if (config.progress && StderrIsTerminal() && chief) {
    append(ProgressHooks(options_.max_steps.value_or(0), options_.steps.value_or(0), *prepared_.dealer, spec.metrics));
  }
  if (config.keep_best.has_value() && saver_ != nullptr) {
    hooks.push_back(std::make_shared<SaveBestHook>(saver_, [this] { return estimator_.best_.best_step(); }));
  }
  return hooks;
}

}  // namespace tandem
