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
  // True if the values of an earlier or running training are in the variables or set aside. The next training goes on
  // from them.
  bool has_training() const;
  // The path of the checkpoint whose values the variables have; empty if there is none.
  const std::string& checkpoint() const { return checkpoint_; }
  // True if the values of all of `variables` are those of checkpoint().
  bool HasLoaded(const std::vector<VariableSpec>& variables) const;
  // The `content` that LoadCheckpoint got for checkpoint(); empty if there is none.
  const std::string& content() const { return content_; }
  // True if the user's values were written over some of the loaded ones (Assign). The other values are those of
  // checkpoint(), or initial ones.
  bool assigned() const { return assigned_; }
  // The step of the values in the variables.
  int64_t global_step() const { return global_step_; }
  // The step counter, which RunLoop increments during a training.
  int64_t* step_counter() { return &global_step_; }
  const ModelState& model() const { return model_; }

  // Sets the initialisers' values, at step 0. After that WarmStart may replace some of them, by name.
  absl::Status Initialize(const std::vector<VariableSpec>& variables, uint64_t seed);
  absl::Status WarmStart(const TensorMap& values);
  // Loads `variables` from the checkpoint at `path`, which may have more variables. Those that were loaded from the
  // same checkpoint before are not loaded again. `content` is a fingerprint of the checkpoint, by which a checkpoint
  // that is written to the same path later is told from it. Errors: ModelState::Restore.
  absl::Status LoadCheckpoint(const CheckpointData& data, const std::string& path,
                              const std::vector<VariableSpec>& variables, absl::string_view content = "");
  // Loads a checkpoint for a training; the checkpoint must have exactly these variables.
  absl::Status LoadForTraining(const CheckpointData& data, const std::string& path,
                               const std::vector<VariableSpec>& variables);
  // Prepares the next training: sets those of `variables` that have no value to their initial one, for example slots
  // that the last evaluation did not have.
  absl::Status GoOn(const std::vector<VariableSpec>& variables, uint64_t seed);

  // Represents a running training, which ends when this object is destroyed.
  class TrainingScope {
   public:
    explicit TrainingScope(ResidentState* state) : state_(state) {}
    TrainingScope(TrainingScope&& other) : state_(std::exchange(other.state_, nullptr)) {}
    TrainingScope& operator=(TrainingScope&&) = delete;
    ~TrainingScope() { End(); }
    void End();

   private:
    ResidentState* state_;  // null once the training has ended
  };
  absl::StatusOr<TrainingScope> StartTraining();
  // Call after a step has changed the variables.
  absl::Status StepTaken();
  // Call when saving the current values begins. Saved or SaveFailed must be called before the next BeginSave.
  absl::Status BeginSave();
  absl::Status Saved(const std::string& path);
  absl::Status SaveFailed();

  // If the training's values are in memory only, SetAside copies them, so that a checkpoint's values can be loaded.
  // BringBack restores them.
  absl::Status SetAside();
  absl::Status BringBack();

  // Sets variables to values that the user has chosen. The variables must exist with that type and shape. Errors:
  // ModelState::Assign.
  absl::Status Assign(const TensorMap& values);

  // Sets variables without a value to their initial one, for a program that has more variables than the training.
  absl::Status FillMissing(const std::vector<VariableSpec>& variables, uint64_t seed);

 private:
  // Whether the checkpoint being saved has the current values, or those from before a step that was made since.
  enum class Save { kNone, kOfNow, kOfBefore };

  // Returns an Internal error unless the state is one of `from`.
  absl::Status Expect(absl::string_view transition, std::initializer_list<State> from) const;
  // Changes the state before values are written. Until all are written, checkpoint() is empty.
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
