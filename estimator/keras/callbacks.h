// Keras' callbacks, for Model::Fit and Model::Evaluate.
//
//   model.Fit(data, {.epochs = 50,
//                    .callbacks = {keras::callbacks::EarlyStopping({.patience = 3, .restore_best_weights = true}),
//                                  keras::callbacks::CSVLogger("log.csv")},
//                    .validation_data = validation});
//
// Options have Keras 2.15's names and defaults, and callbacks print and write the same as in Keras. In a Fit with a
// directory their states are part of its checkpoints. Wrong options are an error of the Fit, with the line that made
// the callback. `verbose` 1 makes callbacks print what they do, on standard output. A `monitor` that is not in the logs
// gives a warning, once. `mode` says whether the monitor should be small or large: "min", "max", or "auto" to decide by
// its name.
#ifndef TANDEM_ESTIMATOR_KERAS_CALLBACKS_H_
#define TANDEM_ESTIMATOR_KERAS_CALLBACKS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "base/source_location.h"
#include "estimator/keras/callback.h"

namespace tandem::keras::callbacks {

struct ModelCheckpointOptions {
  // A template as for Python's str.format: {epoch:02d}, counted from 1; {val_loss:.2f} and other names in the logs;
  // with save_freq also {batch}, counted from 1. An unknown name is an error. Folders are created. The ending decides
  // the format: .h5 or .keras.
  std::string filepath;
  std::string monitor = "val_loss";
  int verbose = 0;
  bool save_best_only = false;  // only if the monitor has improved
  bool save_weights_only = false;
  std::string mode = "auto";         // "max" if the monitor's name contains "acc" or begins with "fmeasure"
  std::optional<int64_t> save_freq;  // in batches, counted over epochs; not set: at the end of each epoch
  std::optional<double> initial_value_threshold;  // the best value before the first epoch
};
// Saves the model. A file is written under another name and then renamed, so it is either complete or not there.
CallbackPtr ModelCheckpoint(const ModelCheckpointOptions& options, SourceLocation loc = SourceLocation::Current());

struct EarlyStoppingOptions {
  std::string monitor = "val_loss";
  double min_delta = 0;  // a value is better only if it is better by more than this
  int64_t patience = 0;  // number of epochs without a better value before it stops
  int verbose = 0;
  std::string mode = "auto";  // "max" if the monitor's name ends with "acc", "accuracy" or "auc"
  // Only values that are also better than this one restart the waiting.
  std::optional<double> baseline;
  bool restore_best_weights = false;  // when it stops early; not if all epochs are made
  int64_t start_from_epoch = 0;       // earlier epochs are ignored
};
CallbackPtr EarlyStopping(const EarlyStoppingOptions& options = {}, SourceLocation loc = SourceLocation::Current());

struct ReduceLROnPlateauOptions {
  std::string monitor = "val_loss";
  double factor = 0.1;  // in (0, 1)
  int64_t patience = 10;
  int verbose = 0;
  std::string mode = "auto";  // "max" if the monitor's name contains "acc"
  double min_delta = 1e-4;
  int64_t cooldown = 0;  // epochs after a reduction that do not count
  double min_lr = 0;
};
// Multiplies the optimizer's learning rate by `factor` when the monitor does not improve. Adds "lr" to the logs.
CallbackPtr ReduceLROnPlateau(const ReduceLROnPlateauOptions& options = {},
                              SourceLocation loc = SourceLocation::Current());

// Sets the optimizer's learning rate before each epoch to schedule(epoch, current rate); epochs are counted from 0.
// Adds "lr" to the logs.
CallbackPtr LearningRateScheduler(std::function<double(int64_t epoch, double rate)> schedule, int verbose = 0,
                                  SourceLocation loc = SourceLocation::Current());
// Sets the rate to schedule(epoch).
CallbackPtr LearningRateScheduler(std::function<double(int64_t epoch)> schedule, int verbose = 0,
                                  SourceLocation loc = SourceLocation::Current());

struct CSVLoggerOptions {
  std::string separator = ",";
  bool append = false;  // append to an existing file instead of replacing it
};
// Writes a row for each epoch: its number, counted from 0, and the logs in the order of their names; "NA" for missing
// values. A Fit that resumes removes the rows of epochs that it makes again.
CallbackPtr CSVLogger(const std::string& filename, const CSVLoggerOptions& options = {},
                      SourceLocation loc = SourceLocation::Current());

struct TensorBoardOptions {
  std::string log_dir = "logs";
  // Batches between points of batch_loss and so on; not set: none are written.
  std::optional<int64_t> update_freq;
  bool write_steps_per_second = false;
};
// Writes event files in log_dir/train and log_dir/validation: epoch_loss and so on by epochs, and
// evaluation_loss_vs_iterations and so on by batches.
CallbackPtr TensorBoard(const TensorBoardOptions& options = {}, SourceLocation loc = SourceLocation::Current());

// Ends training when the loss is NaN or infinite, instead of failing as Fit does otherwise. Such a step changes
// nothing.
CallbackPtr TerminateOnNaN();

// A function that returns nothing or an absl::Status.
template <typename... Args>
class LambdaAction {
 public:
  LambdaAction() = default;
  template <typename F>
  requires std::is_invocable_v<F&, Args...> LambdaAction(F f) {  // NOLINT: implicit
    if constexpr (std::is_same_v<std::invoke_result_t<F&, Args...>, absl::Status>) {
      action_ = std::move(f);
    } else {
      action_ = [f = std::move(f)](Args... args) mutable {
        f(std::forward<Args>(args)...);
        return absl::OkStatus();
      };
    }
  }
  absl::Status operator()(Args... args) const {
    return action_ == nullptr ? absl::OkStatus() : action_(std::forward<Args>(args)...);
  }

 private:
  std::function<absl::Status(Args...)> action_;
};

struct LambdaCallbackOptions {
  LambdaAction<int64_t> on_epoch_begin;
  LambdaAction<int64_t, Logs&> on_epoch_end;
  LambdaAction<int64_t> on_batch_begin;
  LambdaAction<int64_t, const Logs&> on_batch_end;
  LambdaAction<> on_train_begin;
  LambdaAction<const Logs&> on_train_end;
};
CallbackPtr LambdaCallback(const LambdaCallbackOptions& options);

// FitOptions.directory under Keras' name: a Fit that was killed goes on where it was. The directory stays after the run
// has ended, and a call for a run that has ended returns its History at once; delete the directory to train anew.
CallbackPtr BackupAndRestore(const std::string& backup_dir, SourceLocation loc = SourceLocation::Current());

// Keras' callback that sends logs to a server. Always an error, since nothing here uses the network.
CallbackPtr RemoteMonitor(const std::string& root = "http://localhost:9000",
                          SourceLocation loc = SourceLocation::Current());

}  // namespace tandem::keras::callbacks

#endif  // TANDEM_ESTIMATOR_KERAS_CALLBACKS_H_
