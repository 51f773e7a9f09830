#include "estimator/model/resident_state.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace tandem {

absl::string_view ResidentState::Name(State state) {
  switch (state) {
    case State::kEmpty:
      return "empty";
    case State::kInitial:
      return "initial";
    case State::kCheckpoint:
      return "checkpoint";
    case State::kTrained:
      return "trained";
    case State::kTraining:
      return "training";
    case State::kSetAside:
      return "set aside";
  }
  return "unknown";
}

bool ResidentState::has_training() const {
  return state_ == State::kTrained || state_ == State::kTraining || state_ == State::kSetAside;
}

absl::Status ResidentState::Expect(absl::string_view transition, std::initializer_list<State> from) const {
  if (std::count(from.begin(), from.end(), state_) > 0) return absl::OkStatus();
  return absl::InternalError(
      absl::StrCat("the variables in memory: ", transition, " is impossible in state \"", Name(state_), "\""));
}

void ResidentState::Become(State state) {
  state_ = state;
  SetCheckpoint("");
  if (!has_training()) global_step_ = 0;
}

void ResidentState::SetCheckpoint(absl::string_view path, absl::string_view content) {
  checkpoint_ = std::string(path);
  content_ = std::string(content);
  loaded_.clear();
  assigned_ = false;
}

absl::Status ResidentState::Initialize(const std::vector<VariableSpec>& variables, uint64_t seed) {
  TD_RETURN_IF_ERROR(Expect("Initialize", {State::kEmpty, State::kInitial, State::kCheckpoint, State::kTrained}));
  Become(State::kEmpty);
  TD_RETURN_IF_ERROR(model_.Initialize(variables, seed, ModelState::Which::kAll));
  state_ = State::kInitial;
  return absl::OkStatus();
}

absl::Status ResidentState::WarmStart(const TensorMap& values) {
  TD_RETURN_IF_ERROR(Expect("WarmStart", {State::kInitial}));
  Become(State::kEmpty);
  TD_RETURN_IF_ERROR(model_.Set(values));
  state_ = State::kInitial;
  return absl::OkStatus();
}

absl::Status ResidentState::LoadCheckpoint(const CheckpointData& data, const std::string& path,
                                           const std::vector<VariableSpec>& variables, absl::string_view content) {
  TD_RETURN_IF_ERROR(Expect("LoadCheckpoint",
                            {State::kEmpty, State::kInitial, State::kCheckpoint, State::kTrained, State::kSetAside}));
  const bool waits = state_ == State::kSetAside;
  std::set<std::string> loaded;
  if (path == checkpoint_ && !content.empty() && content == content_ && !assigned_) loaded = std::move(loaded_);
  Become(waits ? State::kSetAside : State::kEmpty);
  TD_RETURN_IF_ERROR(model_.Restore(data, path, variables, /*exact=*/false));
  state_ = waits ? State::kSetAside : State::kCheckpoint;
  SetCheckpoint(path, content);
  loaded_ = std::move(loaded);
  for (const VariableSpec& v : variables) loaded_.insert(v.name);
  global_step_ = data.global_step;
  return absl::OkStatus();
}

bool ResidentState::HasLoaded(const std::vector<VariableSpec>& variables) const {
  if (state_ == State::kTrained || state_ == State::kTraining) return true;
  return std::all_of(variables.begin(), variables.end(),
                     [this](const VariableSpec& v) { return loaded_.contains(v.name); });
}

absl::Status ResidentState::LoadForTraining(const CheckpointData& data, const std::string& path,
                                            const std::vector<VariableSpec>& variables) {
  TD_RETURN_IF_ERROR(Expect("LoadForTraining", {State::kEmpty, State::kInitial, State::kCheckpoint, State::kTrained}));
  Become(state_ == State::kTrained ? State::kTrained : State::kEmpty);
  TD_RETURN_IF_ERROR(model_.Restore(data, path, variables, /*exact=*/true));
  state_ = State::kTrained;
  SetCheckpoint(path);
  global_step_ = data.global_step;
  return absl::OkStatus();
}

absl::Status ResidentState::GoOn(const std::vector<VariableSpec>& variables, uint64_t seed) {
  TD_RETURN_IF_ERROR(Expect("GoOn", {State::kTrained}));
  Become(State::kTrained);
  return model_.Initialize(variables, seed, ModelState::Which::kMissing);
}

absl::StatusOr<ResidentState::TrainingScope> ResidentState::StartTraining() {
  TD_RETURN_IF_ERROR(Expect("StartTraining", {State::kInitial, State::kTrained}));
  if (assigned_) SetCheckpoint("");
  state_ = State::kTraining;
  return TrainingScope(this);
}

void ResidentState::TrainingScope::End() {
  if (state_ == nullptr) return;
  state_->save_ = Save::kNone;
  std::exchange(state_, nullptr)->state_ = State::kTrained;
}

absl::Status ResidentState::StepTaken() {
  TD_RETURN_IF_ERROR(Expect("StepTaken", {State::kTraining}));
  SetCheckpoint("");
  if (save_ == Save::kOfNow) save_ = Save::kOfBefore;
  return absl::OkStatus();
}

absl::Status ResidentState::BeginSave() {
  TD_RETURN_IF_ERROR(Expect("BeginSave", {State::kTraining}));
  if (save_ != Save::kNone) return absl::InternalError("a checkpoint is saved while another one still is");
  save_ = Save::kOfNow;
  return absl::OkStatus();
}

absl::Status ResidentState::Saved(const std::string& path) {
  TD_RETURN_IF_ERROR(Expect("Saved", {State::kTraining}));
  if (save_ == Save::kNone) return absl::InternalError(absl::StrCat("no save of ", path, " has begun"));
  if (std::exchange(save_, Save::kNone) == Save::kOfNow) SetCheckpoint(path);
  return absl::OkStatus();
}

absl::Status ResidentState::SaveFailed() {
  TD_RETURN_IF_ERROR(Expect("SaveFailed", {State::kTraining}));
  if (save_ == Save::kNone) return absl::InternalError("no save has begun that could have failed");
  save_ = Save::kNone;
  return absl::OkStatus();
}

absl::Status ResidentState::Assign(const TensorMap& values) {
  TD_RETURN_IF_ERROR(Expect("Assign", {State::kInitial, State::kCheckpoint, State::kTrained, State::kTraining}));
  if (state_ == State::kTraining) {
    // A checkpoint that is being written has the values from before.
    TD_RETURN_IF_ERROR(StepTaken());
  } else {
    assigned_ = true;
  }
  return model_.Assign(values);
}

absl::Status ResidentState::SetAside() {
  TD_RETURN_IF_ERROR(Expect("SetAside", {State::kTrained, State::kSetAside}));
  if (state_ == State::kSetAside) return absl::OkStatus();
  TensorMap values;
  for (const VariableInfo& variable : model_.store()->List()) {
    if (!variable.initialized) continue;
    TD_ASSIGN_OR_RETURN(values[variable.name], model_.store()->Read(variable.name));
  }
  waiting_ = std::move(values);
  waiting_step_ = global_step_;
  state_ = State::kSetAside;
  return absl::OkStatus();
}

absl::Status ResidentState::BringBack() {
  if (state_ != State::kSetAside) return absl::OkStatus();
  Become(State::kSetAside);
  TD_RETURN_IF_ERROR(model_.Set(waiting_));
  waiting_.clear();
  global_step_ = waiting_step_;
  state_ = State::kTrained;
  return absl::OkStatus();
}

absl::Status ResidentState::FillMissing(const std::vector<VariableSpec>& variables, uint64_t seed) {
  TD_RETURN_IF_ERROR(Expect("FillMissing", {State::kCheckpoint, State::kTrained, State::kTraining, State::kSetAside}));
  return model_.Initialize(variables, seed, ModelState::Which::kMissing);
}

}  // namespace tandem
