// Loads the weights of a model into memory, and reads them from there.
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/annotate.h"
#include "base/logging.h"
#include "base/status_macros.h"
#include "estimator/checkpoint/model_dir.h"
#include "estimator/config/warnings.h"
#include "estimator/internal/estimator_impl.h"
#include "estimator/warm_start/warm_start.h"

namespace tandem {
namespace {

// True if the checkpoint at `path` lies in `model_dir`, even if the two paths are spelled differently.
bool IsOwnCheckpoint(const std::string& path, const std::string& model_dir) {
  return std::filesystem::path(path).parent_path().lexically_normal() ==
         (std::filesystem::path(model_dir) / "model.ckpt").lexically_normal().parent_path();
}

}  // namespace

std::map<std::string, std::string> Estimator::Impl::AveragesFor(const ModeProgram& program) const {
  std::map<std::string, std::string> names;
  for (const VariableSpec& v : resident_.model().AveragesOf(program.variables())) names[v.slot_of] = v.name;
  return names;
}

absl::StatusOr<std::vector<HostTensor>> Estimator::Impl::ReadWeights(const ModeProgram& program,
                                                                     std::vector<std::string> names,
                                                                     bool averages) const {
  if (averages) {
    const std::map<std::string, std::string> averaged = AveragesFor(program);
    for (std::string& name : names) {
      if (auto it = averaged.find(name); it != averaged.end()) name = it->second;
    }
  }
  return resident_.model().store()->ReadAll(names);
}

absl::Status Estimator::Impl::InitializeVariables(const ModeProgram& program) {
  TD_RETURN_IF_ERROR(resident_.Initialize(program.variables(), state_.seed));
  if (!config_.warm_start_from.has_value()) return absl::OkStatus();
  const StallWatch::Scope reading(*stall_watch_, absl::StrCat("Reading ", config_.warm_start_from->path));
  TD_ASSIGN_OR_RETURN(const TensorMap values,
                      ReadWarmStart(
                          config_.file_env(), *config_.warm_start_from, program.variables(),
                          [this](const std::string& name) { return resident_.model().store()->Read(name); },
                          /*whole_model=*/program.mode() == Mode::kTrain));
  return resident_.WarmStart(values);
}

absl::StatusOr<CheckpointData> Estimator::Impl::ValuesInMemory(const ModeProgram& program) const {
  CheckpointData data;
  data.global_step = resident_.global_step();
  data.seed = state_.seed;
  const std::vector<VariableSpec> variables = resident_.model().WithAverages(program.variables());
  TD_ASSIGN_OR_RETURN(VariableSnapshot values, resident_.model().Snapshot(variables));
  TD_RETURN_IF_ERROR(ModelState::FillFrom(values, variables, &data));
  return data;
}

absl::Status Estimator::Impl::TakeValuesOfChief(const Prepared& prepared) {
  if (!prepared.cooperation->synchronous()) return absl::OkStatus();
  std::optional<CheckpointData> data;
  if (is_chief()) {
    TD_ASSIGN_OR_RETURN(data, ValuesInMemory(*prepared.program));
  }
  TD_ASSIGN_OR_RETURN(data, prepared.cooperation->CheckpointFromChief(std::move(data)));
  if (is_chief()) return absl::OkStatus();
  state_.seed = data->seed;
  TD_RETURN_IF_ERROR(resident_.WarmStart(data->variables));
  return resident_.WarmStart(data->slots);
}

absl::StatusOr<bool> Estimator::Impl::LoadAlone(const ModeProgram& program, const std::string& checkpoint_path,
                                                const char* what) {
  // On the chief, a training that saved checkpoints is represented by its last checkpoint, not by the values in memory.
  // On another worker the values in memory count, because it may not see the model_dir that the chief has saved to.
  const bool saved_here = config_.checkpoints_enabled() && is_chief();
  const bool in_memory = resident_.training() || (resident_.has_training() && !saved_here);
  // Values set by AssignVariables replace some of those that are loaded, so the result does not count as a
  // checkpoint's. If a training runs, it has started with them, and nothing is to be replaced.
  const bool assigned = !assigned_.empty() && checkpoint_path.empty() && !resident_.training();
  std::string path = checkpoint_path;
  std::optional<CheckpointData> data;
  if (path.empty() && !in_memory) {
    const StallWatch::Scope reading(*stall_watch_, absl::StrCat("Reading the checkpoints of ", config_.model_dir));
    TD_ASSIGN_OR_RETURN(data, checkpoints_.RestoreLatest(&path, resident_.checkpoint()));
  }
  if (resident_.training() && !path.empty() && path != resident_.checkpoint()) {
    return absl::FailedPreconditionError(
        absl::StrCat("cannot load ", path, " while training: use an Estimator of its own for other checkpoints"));
  }
  // The values in memory may lack variables that this mode needs. If the caller named the path, another checkpoint may
  // have been written there since, which its manifest shows.
  bool loaded = path == resident_.checkpoint() && resident_.HasLoaded(program.variables());
  if (loaded && !checkpoint_path.empty() && resident_.assigned()) loaded = false;
  if (loaded && !checkpoint_path.empty() && !resident_.training()) {
    const absl::StatusOr<std::string> manifest = config_.file_env()->ReadFile(JoinPath(path, kManifestName));
    // The checkpoint may be deleted by rotation while its values are in memory.
    const bool gone = absl::IsNotFound(manifest.status());
    loaded = gone || (manifest.ok() && *manifest == resident_.content());
  }
  if (!path.empty() && !loaded) {
    if (!data.has_value()) {
      const StallWatch::Scope reading(*stall_watch_, absl::StrCat("Reading ", path));
      TD_ASSIGN_OR_RETURN(data, checkpoints_.Restore(path));
    }
    TD_LOG(INFO) << "Restoring parameters from " << path;
    if (in_memory) TD_RETURN_IF_ERROR(resident_.SetAside());
    TD_RETURN_IF_ERROR(Annotate(
        resident_.LoadCheckpoint(*data, path, ModelState::WithAverages(*data, program.variables()), data->manifest), "",
        absl::StrCat(" (mode ", ModeName(program.mode()), ", input ", SpecString(program.components()), ")")));
    if (assigned) TD_RETURN_IF_ERROR(ApplyAssigned(program));
    return !assigned && IsOwnCheckpoint(path, config_.model_dir);
  }
  if (path.empty() && !in_memory && assigned) {
    TD_RETURN_IF_ERROR(InitializeAssigned(program));
    return false;
  }
  if (path.empty() && !in_memory) {
    LogWarning(config_.silence, kUntrainedWeights,
               absl::StrCat("Could not find trained model in model_dir: ", config_.model_dir,
                            ", running initialization to ", what, ". The weights are ",
                            config_.warm_start_from.has_value() ? "those of " + config_.warm_start_from->path
                                                                : std::string("untrained"),
                            ". Train first, or name another model_dir or a checkpoint_path."));
    TD_RETURN_IF_ERROR(InitializeVariables(program));
    return false;
  }
  if (path.empty()) TD_RETURN_IF_ERROR(resident_.BringBack());
  // The values are in memory already. A variable of this mode that the training lacks gets its initial value.
  std::vector<std::string> untrained;
  for (const VariableSpec& v : program.variables()) {
    const absl::StatusOr<VariableInfo> info = resident_.model().store()->Info(v.name);
    if (!info.ok() || !info->initialized) untrained.push_back(v.name);
  }
  if (!untrained.empty()) {
    TD_LOG(WARNING) << "Mode " << ModeName(program.mode())
                    << " has variables that training does not have: " << absl::StrJoin(untrained, ", ")
                    << ". They have their initial values: build the same layers in "
                    << "every mode.";
  }
  TD_RETURN_IF_ERROR(resident_.FillMissing(program.variables(), state_.seed));
  if (assigned && AssignedIsDue()) TD_RETURN_IF_ERROR(ApplyAssigned(program));
  return !assigned && (path.empty() || IsOwnCheckpoint(path, config_.model_dir));
}

absl::StatusOr<bool> Estimator::Impl::LoadForInference(const Prepared& prepared, const std::string& checkpoint_path,
                                                       const char* what) {
  Cooperation& cooperation = *prepared.cooperation;
  // During a training all workers have the same values, so none have to be sent.
  if (!cooperation.synchronous() || resident_.training()) return LoadAlone(*prepared.program, checkpoint_path, what);
  std::optional<CheckpointData> data;
  std::string text;
  if (is_chief()) {
    TD_ASSIGN_OR_RETURN(const bool own, LoadAlone(*prepared.program, checkpoint_path, what));
    TD_ASSIGN_OR_RETURN(data, ValuesInMemory(*prepared.program));
    text = absl::StrCat(own ? "own" : "other", "\n", resident_.checkpoint());
  }
  TD_ASSIGN_OR_RETURN(text, cooperation.TextFromChief(std::move(text), "the checkpoint to evaluate"));
  TD_ASSIGN_OR_RETURN(data, cooperation.CheckpointFromChief(std::move(data)));
  const std::pair<std::string, std::string> told = absl::StrSplit(text, absl::MaxSplits('\n', 1));
  if (!is_chief() && data.has_value()) {
    if (resident_.has_training() && !config_.checkpoints_enabled()) TD_RETURN_IF_ERROR(resident_.SetAside());
    TD_RETURN_IF_ERROR(
        resident_.LoadCheckpoint(*data, told.second, ModelState::WithAverages(*data, prepared.program->variables())));
  }
  return told.first == "own";
}

}  // namespace tandem
