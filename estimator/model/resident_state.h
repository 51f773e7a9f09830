// ResidentState: tracks what the variables in memory hold, and how that changes.
//
// The values and the state change together, in one method, so that they cannot disagree.
//
//   State        What the variables hold                                         checkpoint()
//   kEmpty       nothing that may be used                                        ""
//   kInitial     the first values of a new model                                 ""
//   kCheckpoint  a checkpoint's, for evaluations and predictions                 its path
//   kTrained     those that a training in this process goes on from              the path of what they equal, or ""
//   kTraining    the same, inside of a training                                  the same
//   kSetAside    a checkpoint's, while the training's own wait to be brought     its path; "" after a failed load
//                back
//
//   Transition       From                                       To
//   Initialize       kEmpty, kInitial, kCheckpoint, kTrained    kInitial; kEmpty after an error
//   WarmStart        kInitial                                   kInitial; kEmpty after an error
//   LoadCheckpoint   kEmpty, kInitial, kCheckpoint, kTrained    kCheckpoint; kEmpty after an error
//                    kSetAside                                  kSetAside
//   LoadForTraining  kEmpty, kInitial, kCheckpoint, kTrained    kTrained; after an error kTrained or else kEmpty
//   GoOn             kTrained                                   kTrained, equal to no checkpoint
//   StartTraining    kInitial, kTrained                         kTraining; equal to no checkpoint where assigned()
//   StepTaken        kTraining                                  kTraining, equal to no checkpoint
//   BeginSave        kTraining, no save has begun               kTraining
//   Saved            kTraining, a save has begun                kTraining, equal to it unless a step was taken since
//   SaveFailed       kTraining, a save has begun                kTraining
//   end of training  kTraining                                  kTrained
//   SetAside         kTrained                                   kSetAside
//                    kSetAside                                  kSetAside; what waits stays
//   BringBack        kSetAside                                  kTrained, equal to no checkpoint
//                    kInitial, kTrained, kTraining, ...         the same: nothing waits
//   FillMissing      kCheckpoint, kTrained, kTraining,          the same
//                    kSetAside
//   Assign           kInitial, kCheckpoint, kTrained            the same, assigned() until other values come
//                    kTraining                                  kTraining, equal to no checkpoint
//
// Everything else is refused with an Internal status and changes nothing. Initialize, LoadCheckpoint and
// LoadForTraining drop the values of kTrained: those that are not in a checkpoint are to be set aside first.
#ifndef TANDEM_ESTIMATOR_MODEL_RESIDENT_STATE_H_
#define TANDEM_ESTIMATOR_MODEL_RESIDENT_STATE_H_

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/checkpoint/checkpoint.h"
#include "estimator/model/model_state.h"
#include "graph/graph_builder.h"
#include "runtime/variables/variable_store.h"

namespace tandem {

// Not thread-safe.
class ResidentState {
 public:
  enum class State { kEmpty, kInitial, kCheckpoint, kTrained, kTraining, kSetAside };
  static absl::string_view Name(State state);

  explicit ResidentState(std::shared_ptr<VariableStore> store) : model_(std::move(store)) {}
  ResidentState(const ResidentState&) = delete;
  ResidentState& operator=(const ResidentState&) = delete;

  State state() const { return state_; }
  bool training() const { return state_ == State::kTraining; }
  // True if there are values that a training goes on from, in the variables or set aside.
  bool has_training() const;
  // The path of the checkpoint that the values equal; empty when there is none.
  const std::string& checkpoint() const { return checkpoint_; }
  // True if the values of all of `variables` are those of checkpoint().
  bool HasLoaded(const std::vector<VariableSpec>& variables) const;
  // The `content` that LoadCheckpoint was given; empty if there is none.
  const std::string& content() const { return content_; }
  // True if values were assigned since; the other values are those of checkpoint(), or the first ones.
  bool assigned() const { return assigned_; }
  // The step of the values in the variables.
  int64_t global_step() const { return global_step_; }
  // The step counter, which RunLoop increments during a training.
  int64_t* step_counter() { return &global_step_; }
  const ModelState& model() const { return model_; }

  // Sets the initialisers' values, at step 0. After that WarmStart may replace some of them, by name.
  absl::Status Initialize(const std::vector<VariableSpec>& variables, uint64_t seed);
  absl::Status WarmStart(const TensorMap& values);
  // Loads `variables` from the checkpoint at `path`, which may have more. Variables that were loaded from the same
  // checkpoint before are not read again. `content` is the checkpoint's fingerprint, so that another one that is
  // written to the same path later is not taken for it. Errors: ModelState::Restore.
  absl::Status LoadCheckpoint(const CheckpointData& data, const std::string& path,
                              const std::vector<VariableSpec>& variables, absl::string_view content = "");
  // Loads a checkpoint for a training; the checkpoint must have exactly these variables.
  absl::Status LoadForTraining(const CheckpointData& data, const std::string& path,
                               const std::vector<VariableSpec>& variables);
  // Prepares the next training: gives those of `variables` that have no value their first one, for example slots after
  // an evaluation that had none.
  absl::Status GoOn(const std::vector<VariableSpec>& variables, uint64_t seed);

  // Lasts as long as a training; ends it when it is destroyed.
  class TrainingScope {
   public:
    explicit TrainingScope(ResidentState* state) : state_(state) {}
    TrainingScope(TrainingScope&& other) : state_(std::exchange(other.state_, nullptr)) {}
    TrainingScope& operator=(TrainingScope&&) = delete;
    ~TrainingScope() { End(); }
    void End();

   private:
    ResidentState* state_;  // null after the end
  };
  absl::StatusOr<TrainingScope> StartTraining();
  // Call after the variables have changed.
  absl::Status StepTaken();
  // Call when a checkpoint of the current values is being saved. One at a time, until Saved or SaveFailed.
  absl::Status BeginSave();
  absl::Status Saved(const std::string& path);
  absl::Status SaveFailed();

  // Sets the training's values aside, so that a checkpoint's values can be loaded, if they are in memory only.
  absl::Status SetAside();
  absl::Status BringBack();

  // Sets values that the user has chosen; the variables must exist with that type and shape. Errors:
  // ModelState::Assign.
  absl::Status Assign(const TensorMap& values);

  // Gives variables without a value their first one, for a program that has more variables than the training.
  absl::Status FillMissing(const std::vector<VariableSpec>& variables, uint64_t seed);

 private:
  enum class Save { kNone, kOfNow, kOfBefore };  // kOfBefore: a step has been taken since it began

  // Returns an Internal error unless the state is one of `from`.
  absl::Status Expect(absl::string_view transition, std::initializer_list<State> from) const;
  // Changes the state before values are written: the variables equal no checkpoint until all of them are written.
  void Become(State state);
  void SetCheckpoint(absl::string_view path, absl::string_view content = "");

  ModelState model_;
  State state_ = State::kEmpty;
  std::string checkpoint_, content_;
  std::set<std::string> loaded_;  // variables of checkpoint_ that LoadCheckpoint has read
  bool assigned_ = false;
  int64_t global_step_ = 0;
  Save save_ = Save::kNone;
  // The training's values and step while they are set aside (kSetAside).
  TensorMap waiting_;
  int64_t waiting_step_ = 0;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_MODEL_RESIDENT_STATE_H_
