// Every transition of the table in resident_state.h, from every state: allowed ones with what they leave, refused ones
// with nothing changed.
#include "estimator/model/resident_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <optional>
#include <set>

namespace tandem {
namespace {

using ::testing::HasSubstr;
using State = ResidentState::State;

constexpr State kAll[] = {State::kEmpty,   State::kInitial,  State::kCheckpoint,
                          State::kTrained, State::kTraining, State::kSetAside};

VariableSpec Scalar(const std::string& name, float initial, const std::string& slot_of = "") {
  VariableSpec spec;
  spec.name = name;
  spec.slot_of = slot_of;
  spec.trainable = slot_of.empty();
  spec.initializer = {Initializer::Kind::kConstant, initial, 0};
  return spec;
}

// What an evaluation has, and what training has.
std::vector<VariableSpec> Weight() { return {Scalar("w", 1)}; }
std::vector<VariableSpec> Model() { return {Scalar("w", 1), Scalar("w/Adam", 2, "w")}; }
std::vector<VariableSpec> OtherModel() { return {Scalar("v", 1)}; }

CheckpointData Checkpoint(float w, int64_t step) {
  CheckpointData data;
  data.variables["w"] = HostTensor::Scalar<float>(w);
  data.slots["w/Adam"] = HostTensor::Scalar<float>(10 * w);
  data.global_step = step;
  return data;
}

// A state and what is needed to bring it about and to look at it.
class Resident {
 public:
  ResidentState& operator*() { return state_; }
  ResidentState* operator->() { return &state_; }

  absl::Status Start() {
    absl::StatusOr<ResidentState::TrainingScope> scope = state_.StartTraining();
    if (scope.ok()) scope_.emplace(*std::move(scope));
    return scope.status();
  }
  void End() { scope_.reset(); }
  // As a step of a session and RunLoop do.
  absl::Status Step(float w) {
    absl::Status status = state_.model().store()->Assign("w", HostTensor::Scalar<float>(w));
    ++*state_.step_counter();
    status.Update(state_.StepTaken());
    return status;
  }

  // From kEmpty. The training's w is 7 at step 3; checkpoint "a" has 4 at step 40.
  absl::Status Bring(State state) {
    if (state == State::kEmpty) return absl::OkStatus();
    if (state == State::kInitial) return state_.Initialize(Weight(), 0);
    if (state == State::kCheckpoint) return state_.LoadCheckpoint(Checkpoint(4, 40), "a", Weight());
    absl::Status status = state_.LoadForTraining(Checkpoint(6, 2), "b", Model());
    status.Update(Start());
    status.Update(Step(7));
    if (state == State::kTraining) return status;
    End();
    if (state == State::kTrained) return status;
    status.Update(state_.SetAside());
    status.Update(state_.LoadCheckpoint(Checkpoint(4, 40), "a", Weight()));
    return status;
  }

  float Value(const std::string& name) const {
    absl::StatusOr<HostTensor> value = state_.model().store()->Read(name);
    return value.ok() ? value->data<float>()[0] : -1;
  }

 private:
  ResidentState state_{std::make_shared<VariableStore>(1)};
  std::optional<ResidentState::TrainingScope> scope_;
};

// What is known of a state from outside.
struct Seen {
  State state;
  std::string checkpoint;
  int64_t step;
  float w;
  bool operator==(const Seen&) const = default;
};
void PrintTo(const Seen& seen, std::ostream* out) {
  *out << ResidentState::Name(seen.state) << " \"" << seen.checkpoint << "\" step " << seen.step << " w " << seen.w;
}
Seen Look(Resident& r) { return {r->state(), r->checkpoint(), r->global_step(), r.Value("w")}; }

struct Transition {
  std::string name;
  std::function<absl::Status(Resident&)> run;
  std::map<State, Seen> after;  // by the state before; it is refused in others
};

void PrintTo(const Transition& transition, std::ostream* out) { *out << transition.name; }

class TransitionTest : public testing::TestWithParam<Transition> {};

TEST_P(TransitionTest, FromEveryState) {
  for (State state : kAll) {
    SCOPED_TRACE(ResidentState::Name(state));
    Resident r;
    ASSERT_TRUE(r.Bring(state).ok());
    ASSERT_EQ(r->state(), state);
    const Seen before = Look(r);
    const absl::Status status = GetParam().run(r);
    auto after = GetParam().after.find(state);
    if (after != GetParam().after.end()) {
      EXPECT_TRUE(status.ok()) << status;
      EXPECT_EQ(Look(r), after->second);
    } else {
      EXPECT_EQ(status.code(), absl::StatusCode::kInternal) << status;
      EXPECT_THAT(status.message(), HasSubstr(ResidentState::Name(state)));
      EXPECT_EQ(Look(r), before);
    }
  }
}

std::map<State, Seen> Same(std::initializer_list<State> from, const Seen& after) {
  std::map<State, Seen> result;
  for (State state : from) result.emplace(state, after);
  return result;
}

std::vector<Transition> Transitions() {
  const std::initializer_list<State> replaceable = {State::kEmpty, State::kInitial, State::kCheckpoint,
                                                    State::kTrained};
  const Seen trained = {State::kTrained, "", 3, 7}, training = {State::kTraining, "", 3, 7};
  const Seen set_aside = {State::kSetAside, "a", 40, 4};

  std::map<State, Seen> load = Same(replaceable, {State::kCheckpoint, "c", 50, 5});
  load[State::kSetAside] = {State::kSetAside, "c", 50, 5};
  return {
      {"Initialize", [](Resident& r) { return r->Initialize(Weight(), 0); },
       Same(replaceable, {State::kInitial, "", 0, 1})},
      {"WarmStart",
       [](Resident& r) {
         return r->WarmStart({{"w", HostTensor::Scalar<float>(9)}});
       },
       {{State::kInitial, {State::kInitial, "", 0, 9}}}},
      {"LoadCheckpoint", [](Resident& r) { return r->LoadCheckpoint(Checkpoint(5, 50), "c", Weight()); }, load},
      {"LoadForTraining", [](Resident& r) { return r->LoadForTraining(Checkpoint(5, 50), "c", Model()); },
       Same(replaceable, {State::kTrained, "c", 50, 5})},
      {"GoOn", [](Resident& r) { return r->GoOn(Model(), 0); }, {{State::kTrained, trained}}},
      {"StartTraining",
       [](Resident& r) { return r.Start(); },
       {{State::kInitial, {State::kTraining, "", 0, 1}}, {State::kTrained, training}}},
      {"StepTaken", [](Resident& r) { return r->StepTaken(); }, {{State::kTraining, training}}},
      {"BeginSave", [](Resident& r) { return r->BeginSave(); }, {{State::kTraining, training}}},
      {"SetAside",
       [](Resident& r) { return r->SetAside(); },
       {{State::kTrained, {State::kSetAside, "", 3, 7}}, {State::kSetAside, set_aside}}},
      {"BringBack",
       [](Resident& r) { return r->BringBack(); },
       {{State::kEmpty, {State::kEmpty, "", 0, -1}},
        {State::kInitial, {State::kInitial, "", 0, 1}},
        {State::kCheckpoint, {State::kCheckpoint, "a", 40, 4}},
        {State::kTrained, trained},
        {State::kTraining, training},
        {State::kSetAside, trained}}},
      {"Assign",
       [](Resident& r) {
         return r->Assign({{"w", HostTensor::Scalar<float>(9)}});
       },
       {{State::kInitial, {State::kInitial, "", 0, 9}},
        {State::kCheckpoint, {State::kCheckpoint, "a", 40, 9}},
        {State::kTrained, {State::kTrained, "", 3, 9}},
        {State::kTraining, {State::kTraining, "", 3, 9}}}},
      {"FillMissing",
       [](Resident& r) { return r->FillMissing(Weight(), 0); },
       {{State::kCheckpoint, {State::kCheckpoint, "a", 40, 4}},
        {State::kTrained, trained},
        {State::kTraining, training},
        {State::kSetAside, set_aside}}},
  };
}

INSTANTIATE_TEST_SUITE_P(ResidentState, TransitionTest, testing::ValuesIn(Transitions()),
                         [](const auto& info) { return info.param.name; });

TEST(ResidentState, IsAssignedUntilOtherValuesCome) {
  const TensorMap nine = {{"w", HostTensor::Scalar<float>(9)}};
  Resident r;
  ASSERT_TRUE(r.Bring(State::kCheckpoint).ok());
  EXPECT_FALSE(r->assigned());
  ASSERT_TRUE(r->Assign(nine).ok());
  EXPECT_TRUE(r->assigned());
  EXPECT_EQ(r->checkpoint(), "a");
  ASSERT_TRUE(r->LoadCheckpoint(Checkpoint(4, 40), "a", Weight()).ok());
  EXPECT_FALSE(r->assigned());
  EXPECT_EQ(r.Value("w"), 4);
  // A training that begins with them equals no checkpoint, and what it is assigned is no save's that has begun.
  ASSERT_TRUE(r->LoadForTraining(Checkpoint(5, 50), "c", Model()).ok());
  ASSERT_TRUE(r->Assign(nine).ok());
  auto training = r->StartTraining();
  ASSERT_TRUE(training.ok());
  EXPECT_EQ(r->checkpoint(), "");
  ASSERT_TRUE(r->BeginSave().ok());
  ASSERT_TRUE(r->Assign(nine).ok());
  ASSERT_TRUE(r->Saved("d").ok());
  EXPECT_EQ(r->checkpoint(), "");
}

// Saved and SaveFailed want a state, and a save that has begun.
TEST(ResidentState, WithoutASaveNothingIsSaved) {
  for (State state : kAll) {
    SCOPED_TRACE(ResidentState::Name(state));
    Resident r;
    ASSERT_TRUE(r.Bring(state).ok());
    const Seen before = Look(r);
    EXPECT_EQ(r->Saved("s").code(), absl::StatusCode::kInternal);
    EXPECT_EQ(r->SaveFailed().code(), absl::StatusCode::kInternal);
    EXPECT_EQ(Look(r), before);
  }
}

TEST(ResidentState, WhatIsSavedIsTheCheckpointUntilTheNextStep) {
  Resident r;
  ASSERT_TRUE(r.Bring(State::kTraining).ok());
  ASSERT_TRUE(r->BeginSave().ok());
  EXPECT_EQ(r->BeginSave().code(), absl::StatusCode::kInternal) << "one at a time";
  EXPECT_EQ(r->checkpoint(), "") << "it may still fail";
  ASSERT_TRUE(r->Saved("s").ok());
  EXPECT_EQ(r->checkpoint(), "s");
  ASSERT_TRUE(r.Step(8).ok());
  EXPECT_EQ(r->checkpoint(), "");
  ASSERT_TRUE(r->BeginSave().ok());
  ASSERT_TRUE(r->Saved("t").ok());
  r.End();
  EXPECT_EQ(Look(r), (Seen{State::kTrained, "t", 4, 8}));
}

TEST(ResidentState, AStepWhileASaveIsWrittenMakesItOld) {
  Resident r;
  ASSERT_TRUE(r.Bring(State::kTraining).ok());
  ASSERT_TRUE(r->BeginSave().ok());
  ASSERT_TRUE(r.Step(8).ok());
  ASSERT_TRUE(r->Saved("s").ok());
  EXPECT_EQ(r->checkpoint(), "");
}

TEST(ResidentState, ASaveThatFailedLeavesNoCheckpointAndRoomForAnother) {
  Resident r;
  ASSERT_TRUE(r.Bring(State::kTraining).ok());
  ASSERT_TRUE(r->BeginSave().ok());
  ASSERT_TRUE(r->SaveFailed().ok());
  EXPECT_EQ(r->checkpoint(), "");
  ASSERT_TRUE(r->BeginSave().ok());
  r.End();
  EXPECT_EQ(r->Saved("s").code(), absl::StatusCode::kInternal) << "the training that began it is over";
  ASSERT_TRUE(r.Start().ok());
  EXPECT_EQ(r->Saved("s").code(), absl::StatusCode::kInternal);
}

TEST(ResidentState, TheEndOfATrainingComesOnce) {
  Resident r;
  ASSERT_TRUE(r.Bring(State::kTrained).ok());
  absl::StatusOr<ResidentState::TrainingScope> scope = r->StartTraining();
  ASSERT_TRUE(scope.ok());
  {
    ResidentState::TrainingScope moved = *std::move(scope);
    scope->End();
    EXPECT_TRUE(r->training()) << "it has moved";
    moved.End();
    EXPECT_EQ(r->state(), State::kTrained);
    ASSERT_TRUE(r->LoadCheckpoint(Checkpoint(4, 40), "a", Weight()).ok());
  }
  EXPECT_EQ(r->state(), State::kCheckpoint) << "the scope ended with its training";
}

TEST(ResidentState, ATrainingStartsFromItsCheckpoint) {
  Resident r;
  ASSERT_TRUE(r->LoadForTraining(Checkpoint(6, 2), "b", Model()).ok());
  ASSERT_TRUE(r.Start().ok());
  EXPECT_EQ(Look(r), (Seen{State::kTraining, "b", 2, 6})) << "until the first step";
  r.End();
  ASSERT_TRUE(r->GoOn(Model(), 0).ok());
  EXPECT_EQ(Look(r), (Seen{State::kTrained, "", 2, 6})) << "the file may be gone";
}

TEST(ResidentState, TheContentIsOfWhatWasLoadedLast) {
  Resident r;
  ASSERT_TRUE(r->LoadCheckpoint(Checkpoint(4, 40), "a", Weight(), "sums").ok());
  EXPECT_EQ(r->content(), "sums");
  EXPECT_FALSE(r->LoadCheckpoint(Checkpoint(4, 40), "a", OtherModel(), "others").ok());
  EXPECT_EQ(r->content(), "");
  ASSERT_TRUE(r->LoadCheckpoint(Checkpoint(4, 40), "a", Weight(), "sums").ok());
  ASSERT_TRUE(r->LoadForTraining(Checkpoint(6, 2), "b", Model()).ok());
  EXPECT_EQ(r->content(), "") << "nobody said";
}

TEST(ResidentState, TheTrainingsValuesWaitAndComeBack) {
  Resident r;
  ASSERT_TRUE(r.Bring(State::kSetAside).ok());
  ASSERT_TRUE(r->LoadCheckpoint(Checkpoint(5, 50), "c", Model()).ok());
  EXPECT_EQ(r.Value("w/Adam"), 50);
  EXPECT_TRUE(r->has_training());
  ASSERT_TRUE(r->BringBack().ok());
  EXPECT_EQ(Look(r), (Seen{State::kTrained, "", 3, 7}));
  EXPECT_EQ(r.Value("w/Adam"), 60);
}

TEST(ResidentState, MissingVariablesGetTheirFirstValue) {
  for (State state : {State::kCheckpoint, State::kTrained}) {
    Resident r;
    ASSERT_TRUE(r.Bring(state).ok());
    const Seen before = Look(r);
    std::vector<VariableSpec> more = Model();
    more.push_back(Scalar("b", 3));
    ASSERT_TRUE((state == State::kTrained ? r->GoOn(more, 0) : r->FillMissing(more, 0)).ok());
    EXPECT_EQ(r.Value("b"), 3);
    EXPECT_EQ(Look(r), before);
  }
}

// What a failed load or start leaves: never a checkpoint's name, and what a training has is still its own.
TEST(ResidentState, AfterAnError) {
  for (State state : {State::kEmpty, State::kInitial, State::kCheckpoint, State::kTrained, State::kSetAside}) {
    SCOPED_TRACE(ResidentState::Name(state));
    Resident r;
    ASSERT_TRUE(r.Bring(state).ok());
    EXPECT_EQ(r->LoadCheckpoint(Checkpoint(5, 50), "c", OtherModel()).code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_EQ(r->state(), state == State::kSetAside ? state : State::kEmpty);
    EXPECT_EQ(r->checkpoint(), "");
    if (state != State::kSetAside) continue;
    ASSERT_TRUE(r->BringBack().ok());
    EXPECT_EQ(Look(r), (Seen{State::kTrained, "", 3, 7}));
  }
  for (State state : {State::kEmpty, State::kInitial, State::kCheckpoint, State::kTrained}) {
    SCOPED_TRACE(ResidentState::Name(state));
    Resident r;
    ASSERT_TRUE(r.Bring(state).ok());
    // Training wants all that the checkpoint has.
    EXPECT_EQ(r->LoadForTraining(Checkpoint(5, 50), "c", Weight()).code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_EQ(r->state(), state == State::kTrained ? state : State::kEmpty);
    EXPECT_EQ(r->checkpoint(), "");
    EXPECT_EQ(r->global_step(), state == State::kTrained ? 3 : 0);
  }
  Resident r;
  ASSERT_TRUE(r->Initialize(Weight(), 0).ok());
  EXPECT_FALSE(r->WarmStart({{"v", HostTensor::Scalar<float>(9)}}).ok());
  EXPECT_EQ(r->state(), State::kEmpty);
  VariableSpec other = Scalar("w", 1);
  other.shape = {2};
  EXPECT_FALSE(r->Initialize({other}, 0).ok()) << "the store has another shape";
  EXPECT_EQ(r->state(), State::kEmpty);
}

TEST(ResidentState, EveryStateHasAName) {
  std::set<absl::string_view> names;
  for (State state : kAll) names.insert(ResidentState::Name(state));
  EXPECT_EQ(names.size(), 6u);
  EXPECT_EQ(names.count("unknown"), 0u);
}

}  // namespace
}  // namespace tandem
