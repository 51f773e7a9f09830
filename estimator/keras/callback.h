// Callback: code of the user that runs around the batches and epochs of Model::Fit and Evaluate.
#ifndef TANDEM_ESTIMATOR_KERAS_CALLBACK_H_
#define TANDEM_ESTIMATOR_KERAS_CALLBACK_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tandem/base/api.h"
#include "tandem/estimator/keras/logs.h"
#include "tandem/estimator/loop/hook_state.h"

namespace TANDEM_API tandem {
namespace keras {

class Model;

// Facts about a call of Fit, for callbacks.
struct FitParams {
  int verbose = 1;
  int64_t epochs = 1;
  std::optional<int64_t> steps;  // batches in an epoch; not set if their number is not known
  bool resumes = false;          // true if Fit goes on from a checkpoint of its directory
  bool is_chief = true;          // true if this worker prints and writes files: only worker 0 of a cluster does
};

// The state of a callback in a checkpoint: text and tensors.
using CallbackState = HookState;

// Base class for callbacks; override what you need. The first error of a method, or what it throws, ends Fit; the error
// names the callback, the method and the epoch.
//
// Order: OnTrainBegin -> for each epoch: OnEpochBegin -> for each batch: OnTrainBatchBegin, OnTrainBatchEnd -> the
// evaluation of the validation data (OnTestBegin, ..., OnTestEnd) -> OnEpochEnd -> OnTrainEnd. For each of these, the
// user's callbacks are called in their order, then History, then the progress bar.
class Callback {
 public:
  virtual ~Callback() = default;
  // The name in messages and checkpoints. Two callbacks of one Fit that keep a state must have different names.
  virtual std::string name() const { return "Callback"; }

  // Around the whole Fit. `logs` are those of the last epoch.
  virtual absl::Status OnTrainBegin() { return absl::OkStatus(); }
  virtual absl::Status OnTrainEnd(const Logs& logs) { return absl::OkStatus(); }
  // Epochs are counted from 0.
  virtual absl::Status OnEpochBegin(int64_t epoch) { return absl::OkStatus(); }
  // All callbacks share `logs`: a value that one adds, such as "lr", is visible to later callbacks and to the History.
  virtual absl::Status OnEpochEnd(int64_t epoch, Logs& logs) { return absl::OkStatus(); }
  // Batches are counted from 0 in each epoch.
  virtual absl::Status OnTrainBatchBegin(int64_t batch) { return absl::OkStatus(); }
  // `logs` has means over the epoch so far.
  virtual absl::Status OnTrainBatchEnd(int64_t batch, const Logs& logs) { return absl::OkStatus(); }
  // Around each evaluation and its batches; in Fit, that of the validation data.
  virtual absl::Status OnTestBegin() { return absl::OkStatus(); }
  virtual absl::Status OnTestBatchBegin(int64_t batch) { return absl::OkStatus(); }
  virtual absl::Status OnTestBatchEnd(int64_t batch, const Logs& logs) { return absl::OkStatus(); }
  virtual absl::Status OnTestEnd(const Logs& logs) { return absl::OkStatus(); }

  // Returns the state that a Fit with a directory needs to go on; it is part of each checkpoint. A state without text
  // and tensors is not kept.
  virtual absl::StatusOr<CallbackState> SaveState() { return CallbackState(); }
  // Called in a Fit that resumes, after OnTrainBegin of all callbacks, if the checkpoint has a state of this callback.
  // Return an error, such as DataLoss, for a state that makes no sense.
  virtual absl::Status RestoreState(const CallbackState& state) { return absl::OkStatus(); }

 protected:
  // Call these in the methods above only.
  Model& model() const { return *model_; }
  const FitParams& params() const { return params_; }

 private:
  friend class CallbackList;
  Model* model_ = nullptr;
  FitParams params_;
};

// What the functions of keras::callbacks return.
using CallbackPtr = std::shared_ptr<Callback>;

}  // namespace keras
}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_KERAS_CALLBACK_H_
