#include "estimator/hooks/checkpoint_saver_hook.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/annotate.h"
#include "base/logging.h"
#include "base/status_macros.h"
#include "base/user_code.h"

namespace tandem {
namespace {

absl::Status InListener(const char* method, const absl::Status& status) {
  return status.ok() ? status : Annotate(status, absl::StrCat("CheckpointSaverListener::", method, ": "));
}

}  // namespace

CheckpointSaverHook::CheckpointSaverHook(Options options) : options_(std::move(options)) {
  TD_LOG(INFO) << "Create CheckpointSaverHook.";
}

absl::Status CheckpointSaverHook::Begin(HookContext& context) {
  if ((options_.save_steps > 0) == (options_.save_secs > 0)) {
    return absl::InvalidArgumentError("give one of save_steps and save_secs, as a positive number");
  }
  saved_step_ = options_.restored_step;
  changed_ = options_.values_changed;
  for (size_t i = 0; i < options_.listeners.size(); ++i) {
    if (options_.listeners[i] != nullptr) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("saving listener ", i, " of ", options_.listeners.size(), " is null"));
  }
  const int64_t start = std::max<int64_t>(options_.restored_step, 0);
  for (const auto& listener : options_.listeners) {
    TD_RETURN_IF_ERROR(InListener("Begin", CallUserCode([&] { return listener->Begin(start); })));
  }
  return absl::OkStatus();
}

bool CheckpointSaverHook::Due(int64_t global_step) const {
  if (global_step == saved_step_) return false;
  if (options_.save_steps > 0) return global_step - saved_step_ >= options_.save_steps;
  return options_.clock() >= saved_time_ + options_.save_secs;
}

absl::Status CheckpointSaverHook::Save(RunContext& context) {
  const int64_t step = context.global_step();
  if (!options_.listeners.empty())
    TD_LOG(INFO) << "Calling checkpoint listeners before saving checkpoint " << step << "...";
  for (const auto& listener : options_.listeners) {
    TD_RETURN_IF_ERROR(InListener("BeforeSave", CallUserCode([&] { return listener->BeforeSave(step); })));
  }
  // Waits for the save before, since only one checkpoint is written at a time.
  TD_RETURN_IF_ERROR(FinishSave(/*wait=*/true));
  TD_RETURN_IF_ERROR(options_.save(step));
  changed_ = false;
  const int64_t saved = context.global_step();
  bool waits = false;
  for (const auto& listener : options_.listeners) {
    absl::StatusOr<bool> waits_for = CallUserCode([&] { return listener->WaitsFor(saved); });
    TD_RETURN_IF_ERROR(InListener("WaitsFor", waits_for.status()));
    waits = waits || *waits_for;
  }
  if (waits) TD_RETURN_IF_ERROR(FinishSave(/*wait=*/true));
  saved_step_ = saved;
  saved_time_ = options_.clock();
  if (!options_.listeners.empty())
    TD_LOG(INFO) << "Calling checkpoint listeners after saving checkpoint " << saved << "...";
  for (const auto& listener : options_.listeners) {
    absl::StatusOr<bool> stop = CallUserCode([&] { return listener->AfterSave(saved); });
    TD_RETURN_IF_ERROR(InListener("AfterSave", stop.status()));
    if (*stop) context.RequestStop();
  }
  // The interval to the next save begins when the listeners have returned: an evaluation in a listener may take longer
  // than the interval.
  saved_time_ = options_.clock();
  return absl::OkStatus();
}

std::vector<std::string> CheckpointSaverHook::BeforeRun(RunContext& context) {
  if (!started_) {
    started_ = true;
    saved_time_ = options_.clock();
    if (!IsSaved(context.global_step())) context.Fail(Save(context));
  }
  if (context.TakeSaveRequest()) context.Fail(SaveNow(context));
  return {};
}

absl::Status CheckpointSaverHook::AfterRun(RunContext& context, const RunValues& values) {
  // Reports a finished save. After a step that is not finite it waits for the save: the save may fail because values
  // had left the range of floats, and then its error tells the cause.
  TD_RETURN_IF_ERROR(FinishSave(/*wait=*/!values.finite));
  if (!values.finite) {
    tainted_ = tainted_ || values.applied;
    return absl::OkStatus();
  }
  if (context.TakeSaveRequest()) return SaveNow(context);
  if (!tainted_ && Due(context.global_step())) return Save(context);
  return absl::OkStatus();
}

absl::Status CheckpointSaverHook::SaveNow(RunContext& context) {
  return tainted_ || IsSaved(context.global_step()) ? absl::OkStatus() : Save(context);
}

absl::Status CheckpointSaverHook::SaveAndWait(RunContext& context) {
  TD_RETURN_IF_ERROR(SaveNow(context));
  return FinishSave(/*wait=*/true);
}

absl::Status CheckpointSaverHook::End(RunContext& context) {
  if (!tainted_ && !IsSaved(context.global_step())) TD_RETURN_IF_ERROR(Save(context));
  TD_RETURN_IF_ERROR(FinishSave(/*wait=*/true));
  for (const auto& listener : options_.listeners) {
    TD_RETURN_IF_ERROR(InListener("End", CallUserCode([&] { return listener->End(context.global_step()); })));
  }
  return absl::OkStatus();
}

}  // namespace tandem
