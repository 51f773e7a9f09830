// callbacks::TensorBoard, which writes event files.
#include <memory>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/strip.h"
#include "base/env.h"
#include "base/status_macros.h"
#include "estimator/keras/callback_util.h"
#include "estimator/keras/callbacks.h"
#include "estimator/summary/event_writer.h"

namespace tandem::keras::callbacks {
namespace {

class TensorBoardCallback : public Callback {
 public:
  TensorBoardCallback(const TensorBoardOptions& options, SourceLocation loc)
      : options_(options),
        loc_(loc),
        warnings_(std::make_shared<SummaryWarnings>()),
        train_(Env::Default(), JoinPath(options.log_dir, "train"), warnings_),
        validation_(Env::Default(), JoinPath(options.log_dir, "validation"), warnings_) {}
  std::string name() const override { return "TensorBoard"; }

  absl::Status OnTrainBegin() override {
    if (options_.log_dir.empty()) return AtLine(absl::InvalidArgumentError("log_dir is empty"), loc_);
    if (options_.update_freq.has_value() && *options_.update_freq < 1) {
      return AtLine(
          absl::InvalidArgumentError(absl::StrCat("update_freq must be at least 1 batch, got ", *options_.update_freq)),
          loc_);
    }
    return absl::OkStatus();
  }
  absl::Status OnEpochBegin(int64_t) override {
    epoch_start_ = ConsoleSeconds();
    epoch_iterations_ = iterations_;
    return absl::OkStatus();
  }
  absl::Status OnTrainBatchEnd(int64_t, const Logs& logs) override {
    const int64_t step = iterations_++;
    if (options_.update_freq.has_value() && step % *options_.update_freq == 0) {
      Add(train_, step, logs, [](const std::string& name) { return absl::StrCat("batch_", name); });
    }
    return absl::OkStatus();
  }
  absl::Status OnTestEnd(const Logs& logs) override {
    Add(validation_, iterations_, logs,
        [](const std::string& name) { return absl::StrCat("evaluation_", name, "_vs_iterations"); });
    return absl::OkStatus();
  }
  absl::Status OnEpochEnd(int64_t epoch, Logs& logs) override {
    Logs of_train, of_validation;
    for (const auto& [name, value] : logs.values()) {
      const bool validation = absl::StartsWith(name, "val_");
      (validation ? of_validation : of_train).Set(absl::StripPrefix(name, "val_"), value);
    }
    if (options_.write_steps_per_second && epoch_start_.has_value()) {
      const double seconds = ConsoleSeconds() - *epoch_start_;
      if (seconds > 0) {
        of_train.Set("steps_per_second", static_cast<double>(iterations_ - epoch_iterations_) / seconds);
      }
    }
    const auto tag = [](const std::string& name) { return absl::StrCat("epoch_", name); };
    Add(train_, epoch, of_train, tag);
    Add(validation_, epoch, of_validation, tag);
    // A checkpoint may follow. A run that goes on from it does not write the points of this epoch again, so they must
    // be in the files.
    train_.Flush();
    validation_.Flush();
    return absl::OkStatus();
  }
  absl::Status OnTrainEnd(const Logs&) override {
    train_.Flush();
    validation_.Flush();
    return absl::OkStatus();
  }

  absl::StatusOr<CallbackState> SaveState() override {
    return CallbackState{.text = JsonString(nlohmann::ordered_json{{"iterations", iterations_}})};
  }
  absl::Status RestoreState(const CallbackState& state) override {
    StateReader reader(state);
    reader.Read("iterations", &iterations_);
    epoch_iterations_ = iterations_;
    return reader.status();
  }

 private:
  template <typename Tag>
  void Add(EventWriter& writer, int64_t step, const Logs& logs, Tag tag) {
    if (logs.empty() || !params().is_chief) return;
    std::vector<ScalarSummary> scalars;
    for (const auto& [name, value] : logs.values()) scalars.push_back({tag(name), value});
    writer.AddScalars(step, scalars);
  }

  const TensorBoardOptions options_;
  const SourceLocation loc_;
  const std::shared_ptr<SummaryWarnings> warnings_;
  EventWriter train_, validation_;
  int64_t iterations_ = 0;        // number of batches of all epochs and calls of Fit
  int64_t epoch_iterations_ = 0;  // iterations_ at the beginning of the epoch
  std::optional<double> epoch_start_;
};

}  // namespace

CallbackPtr TensorBoard(const TensorBoardOptions& options, SourceLocation loc) {
  return std::make_shared<TensorBoardCallback>(options, loc);
}

}  // namespace tandem::keras::callbacks
