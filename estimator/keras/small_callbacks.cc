// The callbacks that need little code, such as TerminateOnNaN, and RequestsOf.
#include <cmath>
#include <memory>

#include "base/status_macros.h"
#include "estimator/keras/callback_util.h"
#include "estimator/keras/callbacks.h"
#include "estimator/keras/fit_requests.h"
#include "estimator/keras/model.h"

namespace tandem::keras {

absl::StatusOr<FitRequests> RequestsOf(const std::vector<CallbackPtr>& callbacks, const std::string& directory) {
  FitRequests requests{.directory = directory};
  for (const CallbackPtr& callback : callbacks) {
    const auto* requesting = dynamic_cast<const RequestingCallback*>(callback.get());
    if (requesting == nullptr) continue;
    TD_RETURN_IF_ERROR(Annotate(requesting->AddTo(&requests), absl::StrCat("callback ", callback->name(), ", ")));
  }
  return requests;
}

namespace callbacks {
namespace {

class TerminateOnNaNCallback : public RequestingCallback {
 public:
  std::string name() const override { return "TerminateOnNaN"; }
  absl::Status AddTo(FitRequests* requests) const override { return requests->ends_at_nan = true, absl::OkStatus(); }
  absl::Status OnTrainBatchEnd(int64_t batch, const Logs& logs) override {
    if (!logs.Has("loss") || std::isfinite(logs["loss"])) return absl::OkStatus();
    if (params().is_chief) PrintMessage(absl::StrCat("Batch ", batch, ": Invalid loss, terminating training"));
    model().StopTraining();
    return absl::OkStatus();
  }
};

class BackupAndRestoreCallback : public RequestingCallback {
 public:
  BackupAndRestoreCallback(std::string directory, SourceLocation loc) : directory_(std::move(directory)), loc_(loc) {}
  std::string name() const override { return "BackupAndRestore"; }
  absl::Status AddTo(FitRequests* requests) const override {
    if (directory_.empty()) return AtLine(absl::InvalidArgumentError("backup_dir is empty"), loc_);
    if (!requests->directory.empty() && requests->directory != directory_) {
      return AtLine(
          absl::InvalidArgumentError(absl::StrCat("backup_dir is \"", directory_, "\", and Fit has the directory \"",
                                                  requests->directory, "\" already; a run is kept in one")),
          loc_);
    }
    requests->directory = directory_;
    return absl::OkStatus();
  }

 private:
  const std::string directory_;
  const SourceLocation loc_;
};

class RemoteMonitorCallback : public RequestingCallback {
 public:
  RemoteMonitorCallback(std::string root, SourceLocation loc) : root_(std::move(root)), loc_(loc) {}
  std::string name() const override { return "RemoteMonitor"; }
  absl::Status AddTo(FitRequests*) const override {
    return AtLine(
        absl::UnimplementedError(absl::StrCat(
            "logs are not sent to ", root_,
            ": nothing here uses the network; write them with CSVLogger, or send them from a LambdaCallback")),
        loc_);
  }

 private:
  const std::string root_;
  const SourceLocation loc_;
};

class LambdaCallbackImpl : public Callback {
 public:
  explicit LambdaCallbackImpl(const LambdaCallbackOptions& options) : options_(options) {}
  std::string name() const override { return "LambdaCallback"; }
  absl::Status OnTrainBegin() override { return options_.on_train_begin(); }
  absl::Status OnTrainEnd(const Logs& logs) override { return options_.on_train_end(logs); }
  absl::Status OnEpochBegin(int64_t epoch) override { return options_.on_epoch_begin(epoch); }
  absl::Status OnEpochEnd(int64_t epoch, Logs& logs) override { return options_.on_epoch_end(epoch, logs); }
  absl::Status OnTrainBatchBegin(int64_t batch) override { return options_.on_batch_begin(batch); }
  absl::Status OnTrainBatchEnd(int64_t batch, const Logs& logs) override { return options_.on_batch_end(batch, logs); }

 private:
  const LambdaCallbackOptions options_;
};

}  // namespace

CallbackPtr TerminateOnNaN() { return std::make_shared<TerminateOnNaNCallback>(); }

CallbackPtr LambdaCallback(const LambdaCallbackOptions& options) {
  return std::make_shared<LambdaCallbackImpl>(options);
}

CallbackPtr BackupAndRestore(const std::string& backup_dir, SourceLocation loc) {
  return std::make_shared<BackupAndRestoreCallback>(backup_dir, loc);
}

CallbackPtr RemoteMonitor(const std::string& root, SourceLocation loc) {
  return std::make_shared<RemoteMonitorCallback>(root, loc);
}

}  // namespace callbacks
}  // namespace tandem::keras
