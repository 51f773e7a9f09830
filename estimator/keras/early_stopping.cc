// callbacks::EarlyStopping, which ends training when a value stops improving.
#include <cmath>
#include <memory>

#include "absl/strings/match.h"
#include "base/status_macros.h"
#include "estimator/keras/callback_util.h"
#include "estimator/keras/callbacks.h"
#include "estimator/keras/model.h"
#include "estimator/keras/monitor.h"

namespace tandem::keras::callbacks {
namespace {

class EarlyStoppingCallback : public Callback {
 public:
  EarlyStoppingCallback(const EarlyStoppingOptions& options, SourceLocation loc)
      : options_(options),
        loc_(loc),
        monitor_(options.monitor, MoreIsBetter(options.mode, absl::EndsWith(options.monitor, "acc") ||
                                                                 absl::EndsWith(options.monitor, "accuracy") ||
                                                                 absl::EndsWith(options.monitor, "auc"))) {}

  std::string name() const override { return "EarlyStopping"; }

  absl::Status OnTrainBegin() override {
    TD_RETURN_IF_ERROR(AtLine(CheckMonitorMode(options_.mode), loc_));
    TD_RETURN_IF_ERROR(AtLine(CheckNotNegative("patience", static_cast<double>(options_.patience)), loc_));
    wait_ = stopped_epoch_ = best_epoch_ = 0;
    best_ = monitor_.Worst();
    best_weights_.clear();
    return absl::OkStatus();
  }

  absl::Status OnEpochEnd(int64_t epoch, Logs& logs) override {
    const std::optional<double> current = monitor_.ValueOf(logs, name());
    if (!current.has_value() || epoch < options_.start_from_epoch) return absl::OkStatus();
    if (options_.restore_best_weights && best_weights_.empty()) TD_RETURN_IF_ERROR(KeepWeights());
    ++wait_;
    if (IsBetter(*current, best_)) {
      best_ = *current;
      best_epoch_ = epoch;
      if (options_.restore_best_weights) TD_RETURN_IF_ERROR(KeepWeights());
      if (!options_.baseline.has_value() || IsBetter(*current, *options_.baseline)) wait_ = 0;
      return absl::OkStatus();
    }
    if (wait_ < options_.patience || epoch == 0) return absl::OkStatus();
    stopped_epoch_ = epoch;
    model().StopTraining();
    if (best_weights_.empty()) return absl::OkStatus();
    Tell(absl::StrCat("Restoring model weights from the end of the best epoch: ", best_epoch_ + 1, "."));
    return model().SetWeights(best_weights_);
  }

  absl::Status OnTrainEnd(const Logs&) override {
    if (stopped_epoch_ > 0) Tell(absl::StrCat("Epoch ", stopped_epoch_ + 1, ": early stopping"));
    return absl::OkStatus();
  }

  absl::StatusOr<CallbackState> SaveState() override {
    const nlohmann::ordered_json json = {{"best", NumberToJson(best_)},
                                         {"best_epoch", best_epoch_},
                                         {"wait", wait_},
                                         {"stopped_epoch", stopped_epoch_},
                                         {"weights", static_cast<int64_t>(best_weights_.size())}};
    CallbackState state{.text = JsonString(json)};
    for (size_t i = 0; i < best_weights_.size(); ++i) state.tensors[absl::StrCat(i)] = best_weights_[i];
    return state;
  }
  absl::Status RestoreState(const CallbackState& state) override {
    StateReader reader(state);
    int64_t weights = 0;
    reader.Read("best", &best_);
    reader.Read("best_epoch", &best_epoch_);
    reader.Read("wait", &wait_);
    reader.Read("stopped_epoch", &stopped_epoch_);
    reader.Read("weights", &weights);
    TD_RETURN_IF_ERROR(reader.status());
    best_weights_.clear();
    for (int64_t i = 0; i < weights; ++i) {
      const auto weight = state.tensors.find(absl::StrCat(i));
      if (weight == state.tensors.end()) return absl::DataLossError("the state is damaged: best weights are missing");
      best_weights_.push_back(weight->second);
    }
    return absl::OkStatus();
  }

 private:
  bool IsBetter(double value, double than) const {
    return monitor_.IsBetter(value, than, std::fabs(options_.min_delta));
  }
  absl::Status KeepWeights() {
    TD_ASSIGN_OR_RETURN(best_weights_, model().GetWeights());
    return absl::OkStatus();
  }
  void Tell(const std::string& text) const {
    if (options_.verbose > 0 && params().is_chief) PrintMessage(text);
  }

  const EarlyStoppingOptions options_;
  const SourceLocation loc_;
  Monitor monitor_;
  double best_ = 0;
  int64_t best_epoch_ = 0, wait_ = 0, stopped_epoch_ = 0;
  HostTensors best_weights_;
};

}  // namespace

CallbackPtr EarlyStopping(const EarlyStoppingOptions& options, SourceLocation loc) {
  return std::make_shared<EarlyStoppingCallback>(options, loc);
}

}  // namespace tandem::keras::callbacks
