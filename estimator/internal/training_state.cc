// Restores what a training goes on from, and saves its checkpoints.
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/annotate.h"
#include "base/logging.h"
#include "base/status_macros.h"
#include "estimator/checkpoint/model_dir.h"
#include "estimator/internal/training.h"
#include "estimator/model/extra_keys.h"
#include "estimator/model/hook_states.h"
#include "estimator/model/model_state.h"

namespace tandem {

absl::StatusOr<std::optional<CheckpointData>> Training::StartingPoint() {
  Estimator::Impl& e = estimator_;
  if (e.resident_.has_training() && !e.config_.checkpoints_enabled()) return std::nullopt;
  std::optional<CheckpointData> data;
  // Other workers receive the chief's checkpoint, or read the values from parameter servers.
  if (e.is_chief()) {
    const StallWatch::Scope reading(*e.stall_watch_, absl::StrCat("Reading the checkpoints of ", e.config_.model_dir));
    TD_ASSIGN_OR_RETURN(const std::optional<std::string> latest, e.checkpoints_.Recover());
    if (latest.has_value()) {
      TD_ASSIGN_OR_RETURN(data, e.checkpoints_.Restore(*latest));
    }
  }
  return e.cooperation().CheckpointFromChief(std::move(data));
}

absl::Status Training::StartFromCheckpoint(const CheckpointData& start) {
  Estimator::Impl& e = estimator_;
  const std::string path = JoinPath(e.config_.model_dir, absl::StrCat("model.ckpt-", start.global_step));
  const std::string where = absl::StrCat(path, ": ");
  TD_LOG(INFO) << "Restoring parameters from " << path;
  // Only the chief reads the logs of evaluations, since other workers may not see model_dir.
  TD_RETURN_IF_ERROR(
      Annotate(e.best_.GoOnFrom(Extra(start, kBestKey), start.global_step, /*reads_logs=*/e.is_chief()), where));
  TD_RETURN_IF_ERROR(Annotate(e.state_.step_scalars.Restore(Extra(start, kStepScalarsKey)), where));
  absl::StatusOr<HookStates> states = HookStatesOf(start);
  TD_RETURN_IF_ERROR(Annotate(states.status(), where));
  e.state_.hook_states = *std::move(states);
  TD_RETURN_IF_ERROR(e.resident_.LoadForTraining(start, path, prepared_.program->variables()));
  if (e.config_.seed.has_value() && static_cast<uint64_t>(*e.config_.seed) != start.seed) {
    TD_LOG(WARNING) << "RunConfig.seed is " << *e.config_.seed << ", but " << path << " was trained with seed "
                    << start.seed << " and goes on with it; a new seed needs a new model_dir.";
  }
  e.state_.seed = start.seed;
  return absl::OkStatus();
}

absl::Status Training::StartFrom(const std::optional<CheckpointData>& start) {
  Estimator::Impl& e = estimator_;
  e.best_.BeginTraining();
  std::string position, saved_data;
  data_fingerprint_ = prepared_.DataFingerprint();
  TD_RETURN_IF_ERROR(e.cooperation().Agree("what the training goes on from",
                                           start.has_value()            ? "a checkpoint"
                                           : e.resident_.has_training() ? "values in memory"
                                                                        : "first values",
                                           "keep the checkpoints of a training that goes on"));
  // A hook's Begin may have evaluated another checkpoint, whose values are then in memory.
  TD_RETURN_IF_ERROR(e.resident_.BringBack());
  if (start.has_value()) {
    TD_RETURN_IF_ERROR(StartFromCheckpoint(*start));
    position = start->iterator_state;
    saved_data = Extra(*start, kDataKey);
  } else if (e.resident_.has_training()) {
    TD_RETURN_IF_ERROR(e.resident_.GoOn(prepared_.program->variables(), e.state_.seed));
    if (!options_.input_from_start) position = e.state_.input_position;
  } else {
    TD_RETURN_IF_ERROR(e.InitializeVariables(*prepared_.program));
    TD_RETURN_IF_ERROR(e.state_.step_scalars.Restore(""));
    e.state_.hook_states.clear();
    TD_RETURN_IF_ERROR(e.TakeValuesOfChief(prepared_));
  }
  if (!e.assigned_.empty()) TD_RETURN_IF_ERROR(e.ApplyAssigned(*prepared_.program));
  if (e.assigned_.step.has_value()) *e.resident_.step_counter() = *e.assigned_.step;
  e.state_.step_scalars.SetDefaults(prepared_.program->scalar_defaults());
  return RestorePosition(position, saved_data);
}

absl::Status Training::RestorePosition(const std::string& position, const std::string& saved_data) {
  other_data_ = !saved_data.empty() && !data_fingerprint_.empty() && saved_data != data_fingerprint_;
  if (position.empty()) return absl::OkStatus();
  const absl::Status status = prepared_.input->RestorePosition(position);
  if (absl::IsFailedPrecondition(status)) {
    // The position is of another pipeline. The user may have changed it on purpose, so this is no error.
    TD_LOG(WARNING) << "The input starts from its beginning: " << status.message();
    return absl::OkStatus();
  }
  TD_RETURN_IF_ERROR(status);
  if (other_data_) {
    TD_LOG(WARNING) << "The data are not those that the checkpoint was trained with: they were { " << saved_data
                    << " } and are { " << data_fingerprint_ << " }. Training goes on at the position in the new data.";
  }
  return absl::OkStatus();
}

absl::Status Training::SaveStep(int64_t step) {
  Estimator::Impl& e = estimator_;
  const std::vector<VariableSpec>& variables = prepared_.program->variables();
  TD_RETURN_IF_ERROR(e.cooperation().PrepareSave(&step));
  TracePhase phase(e.tracing_.tracer(), absl::StrCat("checkpoint ", step));
  auto data = std::make_shared<CheckpointData>();
  TD_ASSIGN_OR_RETURN(VariableSnapshot taken, e.resident_.model().Snapshot(variables));
  auto snapshot = std::make_shared<VariableSnapshot>(std::move(taken));
  data->global_step = step;
  data->seed = e.state_.seed;
  TD_ASSIGN_OR_RETURN(data->iterator_state, prepared_.input->PositionForCheckpoint());
  if (!data_fingerprint_.empty()) data->extra[kDataKey] = data_fingerprint_;
  if (std::string best = e.best_.ToJson(); !best.empty()) data->extra[kBestKey] = std::move(best);
  if (std::string set = e.state_.step_scalars.ToJson(); !set.empty()) data->extra[kStepScalarsKey] = std::move(set);
  TD_RETURN_IF_ERROR(SaveHookStates(hooks_, &e.state_.hook_states));
  AddToCheckpoint(e.state_.hook_states, data.get());
  DescribeRun();
  if (e.state_.steps_writer != nullptr) e.state_.steps_writer->Flush();
  TD_LOG(INFO) << "Saving checkpoints for " << step << " into " << JoinPath(e.config_.model_dir, "model.ckpt") << ".";
  TD_RETURN_IF_ERROR(e.resident_.BeginSave());
  auto write = [&e, data, snapshot, variables]() -> absl::StatusOr<std::string> {
    const StallWatch::Scope writing(
        *e.stall_watch_, absl::StrCat("Saving checkpoint ", data->global_step, " into ", e.config_.model_dir));
    TD_RETURN_IF_ERROR(ModelState::FillFrom(*snapshot, variables, data.get()));
    TD_RETURN_IF_ERROR(ModelState::CheckFinite(*data));
    return e.checkpoints_.Save(*data);
  };
  // `write` uses a copy of the variables, so steps go on while it runs, and even the first step does not wait for the
  // disk.
  saving_.Start(std::move(write));
  return absl::OkStatus();
}

absl::Status Training::FinishSave(bool wait) {
  if (!saving_.pending()) return absl::OkStatus();
  const absl::StatusOr<std::optional<std::string>> path = saving_.Finish(wait);
  if (!path.ok()) {
    TD_RETURN_IF_ERROR(estimator_.resident_.SaveFailed());
    return path.status();
  }
  return path->has_value() ? estimator_.resident_.Saved(**path) : absl::OkStatus();
}

}  // namespace tandem
