// Callbacks that change the optimizer's learning rate.
#include <algorithm>
#include <memory>

#include "absl/strings/match.h"
#include "base/status_macros.h"
#include "estimator/keras/callback_util.h"
#include "estimator/keras/callbacks.h"
#include "estimator/keras/model.h"
#include "estimator/keras/monitor.h"
#include "estimator/keras/python_format.h"

namespace tandem::keras::callbacks {
namespace {

// Base of callbacks that set the learning rate. Rounds rates to float32, as Keras' variable of the rate does.
class RateCallback : public Callback {
 public:
  explicit RateCallback(SourceLocation loc) : loc_(loc) {}

 protected:
  absl::StatusOr<double> Rate() const {
    absl::StatusOr<double> rate = model().LearningRate();
    if (rate.ok()) return static_cast<double>(static_cast<float>(*rate));
    return AtLine(Annotate(rate.status(), "", "; it changes a rate that is a number: give the optimizer one"), loc_);
  }
  absl::Status SetRate(double rate) const {
    return AtLine(model().SetLearningRate(static_cast<double>(static_cast<float>(rate))), loc_);
  }
  absl::Status AddRate(Logs& logs) const {
    TD_ASSIGN_OR_RETURN(const double rate, Rate());
    logs.Set("lr", rate);
    return absl::OkStatus();
  }
  SourceLocation loc() const { return loc_; }

 private:
  const SourceLocation loc_;
};

class LearningRateSchedulerCallback : public RateCallback {
 public:
  LearningRateSchedulerCallback(std::function<double(int64_t, double)> schedule, int verbose, SourceLocation loc)
      : RateCallback(loc), schedule_(std::move(schedule)), verbose_(verbose) {}
  std::string name() const override { return "LearningRateScheduler"; }

  absl::Status OnTrainBegin() override {
    return schedule_ != nullptr ? absl::OkStatus() : AtLine(absl::InvalidArgumentError("schedule is null"), loc());
  }
  absl::Status OnEpochBegin(int64_t epoch) override {
    TD_ASSIGN_OR_RETURN(const double rate, Rate());
    const double next = schedule_(epoch, rate);
    TD_RETURN_IF_ERROR(SetRate(next));
    if (verbose_ > 0 && params().is_chief) {
      PrintMessage(absl::StrCat("\nEpoch ", epoch + 1, ": LearningRateScheduler setting learning rate to ",
                                PythonNumber(next), "."));
    }
    return absl::OkStatus();
  }
  absl::Status OnEpochEnd(int64_t, Logs& logs) override { return AddRate(logs); }

 private:
  const std::function<double(int64_t, double)> schedule_;
  const int verbose_;
};

class ReduceOnPlateauCallback : public RateCallback {
 public:
  ReduceOnPlateauCallback(const ReduceLROnPlateauOptions& options, SourceLocation loc)
      : RateCallback(loc),
        options_(options),
        monitor_(options.monitor, MoreIsBetter(options.mode, absl::StrContains(options.monitor, "acc"))) {}
  std::string name() const override { return "ReduceLROnPlateau"; }

  absl::Status OnTrainBegin() override {
    TD_RETURN_IF_ERROR(AtLine(CheckMonitorMode(options_.mode), loc()));
    TD_RETURN_IF_ERROR(AtLine(CheckNotNegative("patience", static_cast<double>(options_.patience)), loc()));
    TD_RETURN_IF_ERROR(AtLine(CheckNotNegative("cooldown", static_cast<double>(options_.cooldown)), loc()));
    TD_RETURN_IF_ERROR(AtLine(CheckNotNegative("min_lr", options_.min_lr), loc()));
    if (!(options_.factor > 0 && options_.factor < 1)) {
      return AtLine(absl::InvalidArgumentError(absl::StrCat("factor must be in (0, 1), got ", options_.factor)), loc());
    }
    best_ = monitor_.Worst();
    wait_ = cooldown_ = 0;
    return absl::OkStatus();
  }

  absl::Status OnEpochEnd(int64_t epoch, Logs& logs) override {
    TD_RETURN_IF_ERROR(AddRate(logs));
    const std::optional<double> current = monitor_.ValueOf(logs, name());
    if (!current.has_value()) return absl::OkStatus();
    if (cooldown_ > 0) {
      --cooldown_;
      wait_ = 0;
    }
    // As in Keras' ReduceLROnPlateau, the new value is compared with the best value shifted by min_delta.
    const bool better =
        monitor_.more_is_better() ? *current > best_ + options_.min_delta : *current < best_ - options_.min_delta;
    if (better) {
      best_ = *current;
      wait_ = 0;
      return absl::OkStatus();
    }
    if (cooldown_ > 0 || ++wait_ < options_.patience) return absl::OkStatus();
    TD_ASSIGN_OR_RETURN(const double rate, Rate());
    if (rate <= static_cast<double>(static_cast<float>(options_.min_lr))) return absl::OkStatus();
    const double reduced = std::max(rate * options_.factor, options_.min_lr);
    TD_RETURN_IF_ERROR(SetRate(reduced));
    if (options_.verbose > 0 && params().is_chief) {
      PrintMessage(absl::StrCat("\nEpoch ", epoch + 1, ": ReduceLROnPlateau reducing learning rate to ",
                                PythonNumber(reduced), "."));
    }
    cooldown_ = options_.cooldown;
    wait_ = 0;
    return absl::OkStatus();
  }

  absl::StatusOr<CallbackState> SaveState() override {
    const nlohmann::ordered_json json = {{"best", NumberToJson(best_)}, {"wait", wait_}, {"cooldown", cooldown_}};
    return CallbackState{.text = JsonString(json)};
  }
  absl::Status RestoreState(const CallbackState& state) override {
    StateReader reader(state);
    reader.Read("best", &best_);
    reader.Read("wait", &wait_);
    reader.Read("cooldown", &cooldown_);
    return reader.status();
  }

 private:
  const ReduceLROnPlateauOptions options_;
  Monitor monitor_;
  double best_ = 0;
  int64_t wait_ = 0, cooldown_ = 0;
};

}  // namespace

CallbackPtr ReduceLROnPlateau(const ReduceLROnPlateauOptions& options, SourceLocation loc) {
  return std::make_shared<ReduceOnPlateauCallback>(options, loc);
}

CallbackPtr LearningRateScheduler(std::function<double(int64_t, double)> schedule, int verbose, SourceLocation loc) {
  return std::make_shared<LearningRateSchedulerCallback>(std::move(schedule), verbose, loc);
}

CallbackPtr LearningRateScheduler(std::function<double(int64_t)> schedule, int verbose, SourceLocation loc) {
  std::function<double(int64_t, double)> of_both;
  if (schedule != nullptr)
    of_both = [schedule = std::move(schedule)](int64_t epoch, double) { return schedule(epoch); };
  return std::make_shared<LearningRateSchedulerCallback>(std::move(of_both), verbose, loc);
}

}  // namespace tandem::keras::callbacks
