// callbacks::ModelCheckpoint, which saves the model during training.
#include <memory>

#include "absl/strings/match.h"
#include "base/env.h"
#include "base/status_macros.h"
#include "estimator/keras/callback_util.h"
#include "estimator/keras/callbacks.h"
#include "estimator/keras/model.h"
#include "estimator/keras/model_saver.h"
#include "estimator/keras/monitor.h"
#include "estimator/keras/python_format.h"

namespace tandem::keras::callbacks {
namespace {

// Returns a path for a file that is not complete yet: in the same folder, and with the same ending, which decides the
// format.
std::string UnfinishedPath(const std::string& path) {
  const size_t slash = path.rfind('/');
  const size_t name = slash == std::string::npos ? 0 : slash + 1;
  return absl::StrCat(path.substr(0, name), ".writing-", path.substr(name));
}

class ModelCheckpointCallback : public Callback {
 public:
  ModelCheckpointCallback(const ModelCheckpointOptions& options, SourceLocation loc)
      : options_(options),
        loc_(loc),
        monitor_(options.monitor, MoreIsBetter(options.mode, absl::StrContains(options.monitor, "acc") ||
                                                                 absl::StartsWith(options.monitor, "fmeasure"))),
        best_(options.initial_value_threshold.value_or(monitor_.Worst())) {}

  std::string name() const override { return "ModelCheckpoint"; }

  absl::Status OnTrainBegin() override {
    TD_RETURN_IF_ERROR(AtLine(CheckMonitorMode(options_.mode), loc_));
    if (options_.filepath.empty()) return AtLine(absl::InvalidArgumentError("filepath is empty"), loc_);
    if (options_.save_freq.has_value() && *options_.save_freq < 1) {
      return AtLine(
          absl::InvalidArgumentError(absl::StrCat("save_freq must be at least 1 batch, got ", *options_.save_freq)),
          loc_);
    }
    return absl::OkStatus();
  }

  absl::Status OnEpochBegin(int64_t epoch) override { return epoch_ = epoch, absl::OkStatus(); }

  absl::Status OnTrainBatchEnd(int64_t batch, const Logs& logs) override {
    if (!options_.save_freq.has_value() || ++batches_ < *options_.save_freq) return absl::OkStatus();
    batches_ = 0;
    return AtLine(Save(epoch_, batch, logs), loc_);
  }

  absl::Status OnEpochEnd(int64_t epoch, Logs& logs) override {
    return options_.save_freq.has_value() ? absl::OkStatus() : AtLine(Save(epoch, std::nullopt, logs), loc_);
  }

  absl::StatusOr<CallbackState> SaveState() override {
    const nlohmann::ordered_json json = {{"best", NumberToJson(best_)}, {"batches", batches_}, {"epoch", epoch_}};
    return CallbackState{.text = JsonString(json)};
  }
  absl::Status RestoreState(const CallbackState& state) override {
    StateReader reader(state);
    reader.Read("best", &best_);
    reader.Read("batches", &batches_);
    reader.Read("epoch", &epoch_);
    return reader.status();
  }

 private:
  absl::Status Save(int64_t epoch, std::optional<int64_t> batch, const Logs& logs) {
    PythonArguments arguments = {{"epoch", epoch + 1}};
    if (batch.has_value()) arguments.emplace_back("batch", *batch + 1);
    for (const auto& [name, value] : logs.values()) arguments.emplace_back(name, value);
    absl::StatusOr<std::string> path = PythonFormat(options_.filepath, arguments);
    if (!path.ok()) return Annotate(path.status(), "filepath ");
    if (!options_.save_best_only) {
      Tell(absl::StrCat("\nEpoch ", epoch + 1, ": saving model to ", *path));
      return SaveTo(*path);
    }
    const std::optional<double> current = monitor_.ValueOf(logs, name());
    if (!current.has_value()) return absl::OkStatus();
    const std::string best = PythonFixed(best_, 5);
    if (!monitor_.IsBetter(*current, best_, 0)) {
      Tell(absl::StrCat("\nEpoch ", epoch + 1, ": ", monitor_.name(), " did not improve from ", best));
      return absl::OkStatus();
    }
    Tell(absl::StrCat("\nEpoch ", epoch + 1, ": ", monitor_.name(), " improved from ", best, " to ",
                      PythonFixed(*current, 5), ", saving model to ", *path));
    best_ = *current;
    return SaveTo(*path);
  }

  absl::Status SaveTo(const std::string& path) {
    if (!params().is_chief) return absl::OkStatus();
    Env* const env = Env::Default();
    const absl::StatusOr<FileInfo> there = env->Stat(path);
    if (there.ok() && there->is_directory) {
      return absl::InvalidArgumentError(
          absl::StrCat("filepath \"", path, "\" is a directory; give the name of a file"));
    }
    if (const size_t slash = path.rfind('/'); slash != std::string::npos && slash > 0) {
      TD_RETURN_IF_ERROR(env->CreateDirs(path.substr(0, slash)));
    }
    const std::string unfinished = UnfinishedPath(path);
    TD_RETURN_IF_ERROR(SaveModelTo(model(), unfinished, options_.save_weights_only));
    return env->Rename(unfinished, path);
  }

  void Tell(const std::string& text) const {
    if (options_.verbose > 0 && params().is_chief) PrintMessage(text);
  }

  const ModelCheckpointOptions options_;
  const SourceLocation loc_;
  Monitor monitor_;
  double best_;
  int64_t batches_ = 0, epoch_ = 0;
};

}  // namespace

CallbackPtr ModelCheckpoint(const ModelCheckpointOptions& options, SourceLocation loc) {
  return std::make_shared<ModelCheckpointCallback>(options, loc);
}

}  // namespace tandem::keras::callbacks
