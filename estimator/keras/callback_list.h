// CallbackList: calls the callbacks of one Fit or Evaluate together. Internal to estimator/keras.
#ifndef TANDEM_ESTIMATOR_KERAS_CALLBACK_LIST_H_
#define TANDEM_ESTIMATOR_KERAS_CALLBACK_LIST_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/keras/callback.h"

namespace tandem::keras {

class CallbackList {
 public:
  // Returns InvalidArgument for a null pointer.
  static absl::Status Check(const std::vector<CallbackPtr>& callbacks);
  CallbackList(std::vector<CallbackPtr> callbacks, Model* model, const FitParams& params);

  absl::Status OnTrainBegin() {
    return Call("OnTrainBegin", [](Callback& c) { return c.OnTrainBegin(); });
  }
  absl::Status OnTrainEnd(const Logs& logs) {
    return Call("OnTrainEnd", [&](Callback& c) { return c.OnTrainEnd(logs); });
  }
  absl::Status OnEpochBegin(int64_t epoch) {
    epoch_ = epoch;
    return Call("OnEpochBegin", [&](Callback& c) { return c.OnEpochBegin(epoch); });
  }
  absl::Status OnEpochEnd(int64_t epoch, Logs& logs) {
    return Call("OnEpochEnd", [&](Callback& c) { return c.OnEpochEnd(epoch, logs); });
  }
  absl::Status OnTrainBatchBegin(int64_t batch) {
    return Call("OnTrainBatchBegin", [&](Callback& c) { return c.OnTrainBatchBegin(batch); });
  }
  absl::Status OnTrainBatchEnd(int64_t batch, const Logs& logs) {
    return Call("OnTrainBatchEnd", [&](Callback& c) { return c.OnTrainBatchEnd(batch, logs); });
  }
  absl::Status OnTestBegin() {
    return Call("OnTestBegin", [](Callback& c) { return c.OnTestBegin(); });
  }
  absl::Status OnTestBatchBegin(int64_t batch) {
    return Call("OnTestBatchBegin", [&](Callback& c) { return c.OnTestBatchBegin(batch); });
  }
  absl::Status OnTestBatchEnd(int64_t batch, const Logs& logs) {
    return Call("OnTestBatchEnd", [&](Callback& c) { return c.OnTestBatchEnd(batch, logs); });
  }
  absl::Status OnTestEnd(const Logs& logs) {
    return Call("OnTestEnd", [&](Callback& c) { return c.OnTestEnd(logs); });
  }

  // Returns the states by the callbacks' names; if several have the same name, a number is appended.
  absl::StatusOr<std::map<std::string, CallbackState>> SaveStates();
  // Restores the states. Ignores states of callbacks that are not in the list; callbacks without a state start anew.
  absl::Status RestoreStates(const std::map<std::string, CallbackState>& states);

 private:
  absl::Status Call(absl::string_view method, const std::function<absl::Status(Callback&)>& call);
  std::vector<std::string> Keys() const;

  std::vector<CallbackPtr> callbacks_;
  int64_t epoch_ = -1;  // the epoch that runs; -1 before the first one
};

}  // namespace tandem::keras

#endif  // TANDEM_ESTIMATOR_KERAS_CALLBACK_LIST_H_
