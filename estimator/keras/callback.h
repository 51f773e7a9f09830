// Callback: code of the user around the batches and epochs of Model::Fit and Evaluate.
#ifndef TANDEM_ESTIMATOR_KERAS_CALLBACK_H_
#define TANDEM_ESTIMATOR_KERAS_CALLBACK_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/hook_state.h"
#include "estimator/keras/logs.h"

namespace tandem::keras {

class Model;

// What a call of Fit is about.
struct FitParams {
  int verbose = 1;
  int64_t epochs = 1;
  std::optional<int64_t> steps;  // of an epoch; nothing where they are not known
  bool resumes = false;          // whether it goes on from a checkpoint of its directory
  bool is_chief = true;          // the worker that prints and writes files; only worker 0 of a cluster
};

// What a checkpoint keeps of a callback: text and tensors.
using CallbackState = HookState;

// Derive from it and override what you need. The first error of a method ends Fit, with the callback's name, the method
// and the epoch; what a method throws is one.
//
// Order: OnTrainBegin -> for each epoch: OnEpochBegin -> for each batch: OnTrainBatchBegin, OnTrainBatchEnd -> the
// evaluation of the validation data (OnTestBegin, ..., OnTestEnd) -> OnEpochEnd -> OnTrainEnd. Of each, callbacks are
// called in the user's order, then History, then the progress bar.
class Callback {
 public:
  virtual ~Callback() = default;
  // For messages and checkpoints; two callbacks of one Fit that keep a state have different ones.
  virtual std::string name() const { return "Callback"; }

  virtual absl::Status OnTrainBegin() { return absl::OkStatus(); }
  virtual absl::Status OnTrainEnd(const Logs& logs) { return absl::OkStatus(); }
  // Epochs count from 0.
  virtual absl::Status OnEpochBegin(int64_t epoch) { return absl::OkStatus(); }
  // The logs are those that all callbacks share: what one adds, such as "lr", later ones and the History have.
  virtual absl::Status OnEpochEnd(int64_t epoch, Logs& logs) { return absl::OkStatus(); }
  // Batches count from 0 in each epoch.
  virtual absl::Status OnTrainBatchBegin(int64_t batch) { return absl::OkStatus(); }
  // Means over the epoch so far.
  virtual absl::Status OnTrainBatchEnd(int64_t batch, const Logs& logs) { return absl::OkStatus(); }
  virtual absl::Status OnTestBegin() { return absl::OkStatus(); }
  virtual absl::Status OnTestBatchBegin(int64_t batch) { return absl::OkStatus(); }
  virtual absl::Status OnTestBatchEnd(int64_t batch, const Logs& logs) { return absl::OkStatus(); }
  virtual absl::Status OnTestEnd(const Logs& logs) { return absl::OkStatus(); }

  // What a Fit with a directory needs to go on: part of each checkpoint. Without text and tensors there is none.
  virtual absl::StatusOr<CallbackState> SaveState() { return CallbackState(); }
  // In a Fit that resumes, behind OnTrainBegin of all callbacks, where the checkpoint has a state of this one. Return
  // an error, such as DataLoss, for a state that makes no sense.
  virtual absl::Status RestoreState(const CallbackState& state) { return absl::OkStatus(); }

 protected:
  // Inside of a call of a method above.
  Model& model() const { return *model_; }
  const FitParams& params() const { return params_; }

 private:
  friend class CallbackList;
  Model* model_ = nullptr;
  FitParams params_;
};

using CallbackPtr = std::shared_ptr<Callback>;

}  // namespace tandem::keras

#endif  // TANDEM_ESTIMATOR_KERAS_CALLBACK_H_
