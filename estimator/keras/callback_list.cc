#include "estimator/keras/callback_list.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/annotate.h"
#include "base/logging.h"
#include "base/status_macros.h"
#include "base/user_code.h"

namespace tandem::keras {

absl::Status CallbackList::Check(const std::vector<CallbackPtr>& callbacks) {
  for (size_t i = 0; i < callbacks.size(); ++i) {
    if (callbacks[i] == nullptr) {
      return absl::InvalidArgumentError(absl::StrCat("number ", i, " of `callbacks` is null"));
    }
  }
  return absl::OkStatus();
}

CallbackList::CallbackList(std::vector<CallbackPtr> callbacks, Model* model, const FitParams& params)
    : callbacks_(std::move(callbacks)) {
  for (const CallbackPtr& callback : callbacks_) {
    callback->model_ = model;
    callback->params_ = params;
  }
}

absl::Status CallbackList::Call(absl::string_view method, const std::function<absl::Status(Callback&)>& call) {
  const ScopedMinLogSeverity loud(LogSeverity::kInfo);  // callbacks may log, although Fit logs only warnings
  for (const CallbackPtr& callback : callbacks_) {
    const absl::Status status = CallUserCode([&] { return call(*callback); });
    if (status.ok()) continue;
    return Annotate(status, absl::StrCat("callback ", callback->name(), ", ", method,
                                         epoch_ < 0 ? "" : absl::StrCat(", epoch ", epoch_), ": "));
  }
  return absl::OkStatus();
}

std::vector<std::string> CallbackList::Keys() const {
  std::vector<std::string> keys;
  std::map<std::string, int> count;
  for (const CallbackPtr& callback : callbacks_) {
    const int before = count[callback->name()]++;
    keys.push_back(before == 0 ? callback->name() : absl::StrCat(callback->name(), "_", before));
  }
  return keys;
}

absl::StatusOr<std::map<std::string, CallbackState>> CallbackList::SaveStates() {
  std::map<std::string, CallbackState> states;
  const std::vector<std::string> keys = Keys();
  for (size_t i = 0; i < callbacks_.size(); ++i) {
    absl::StatusOr<CallbackState> state = CallUserCode([&] { return callbacks_[i]->SaveState(); });
    if (!state.ok()) return Annotate(state.status(), absl::StrCat("callback ", keys[i], ", SaveState: "));
    if (!state->text.empty() || !state->tensors.empty()) states[keys[i]] = *std::move(state);
  }
  return states;
}

absl::Status CallbackList::RestoreStates(const std::map<std::string, CallbackState>& states) {
  const std::vector<std::string> keys = Keys();
  for (size_t i = 0; i < callbacks_.size(); ++i) {
    const auto state = states.find(keys[i]);
    if (state == states.end()) continue;
    const absl::Status restored = CallUserCode([&] { return callbacks_[i]->RestoreState(state->second); });
    TD_RETURN_IF_ERROR(Annotate(restored, absl::StrCat("callback ", keys[i], ", RestoreState: ")));
  }
  return absl::OkStatus();
}

}  // namespace tandem::keras
