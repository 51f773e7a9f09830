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
#include "tandem/base/api.h"
#include "tandem/base/source_location.h"
#include "tandem/estimator/keras/callback.h"

namespace TANDEM_API tandem {
namespace keras::callbacks {

struct ModelCheckpointOptions {
  // A template as for Python's str.format: {epoch:02d}, counted from 1; {val_loss:.2f} and other names in the logs;
  // with save_freq also {batch}, counted from 1. An unknown name is an error. Folders are created. The ending decides
  // the format: .h5 or .keras.
  std::string filepath;
  std::string monitor = "val_loss";
  int verbose = 0;
  bool save_best_only = false;  // saves only if the monitor has improved
  bool save_weights_only = false;
  // "auto" is "max" if the monitor's name contains "acc" or begins with "fmeasure", else "min".
  std::string mode = "auto";
  std::optional<int64_t> save_freq;  // batches between saves, counted over epochs; not set: each epoch's end
  std::optional<double> initial_value_threshold;  // with save_best_only: the best value before the first epoch
};
// Saves the model. A file is written under another name and then renamed, so it is either complete or not there.
CallbackPtr ModelCheckpoint(const ModelCheckpointOptions& options, SourceLocation loc = SourceLocation::Current());

struct EarlyStoppingOptions {
  std::string monitor = "val_loss";
  double min_delta = 0;  // the difference above which a value counts as better
  int64_t patience = 0;  // number of epochs without a better value after which training stops
  int verbose = 0;
  std::string mode = "auto";  // "auto" is "max" if the monitor's name ends with "acc", "accuracy" or "auc", else "min"
  // Epochs without a better value are counted from 0 again only after a better value that is also better than this
  // baseline.
  std::optional<double> baseline;
  // Restores the weights of the best epoch if training stops early, but not after the last epoch.
  bool restore_best_weights = false;
  int64_t start_from_epoch = 0;  // values of earlier epochs are ignored
};
// Ends training when the monitor has not become better for `patience` epochs.
CallbackPtr EarlyStopping(const EarlyStoppingOptions& options = {}, SourceLocation loc = SourceLocation::Current());

struct ReduceLROnPlateauOptions {
  std::string monitor = "val_loss";
  double factor = 0.1;  // factor of the learning rate, between 0 and 1
  int64_t patience = 10;
  int verbose = 0;
  std::string mode = "auto";  // "auto" is "max" if the monitor's name contains "acc", else "min"
  double min_delta = 1e-4;
  int64_t cooldown = 0;  // number of epochs after a reduction that do not count
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
  // Number of batches between two points of the batches' curves, such as batch_loss. Not set: these curves are not
  // written.
  std::optional<int64_t> update_freq;
  bool write_steps_per_second = false;
};
// Writes event files in log_dir/train and log_dir/validation: curves by epochs, such as epoch_loss, and curves of the
// validation by batches, such as evaluation_loss_vs_iterations.
CallbackPtr TensorBoard(const TensorBoardOptions& options = {}, SourceLocation loc = SourceLocation::Current());

// Ends training without an error when the loss is NaN or infinite; without this callback Fit fails. Such a step changes
// no weights.
CallbackPtr TerminateOnNaN();

// A callable of these arguments that returns nothing or an absl::Status.
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

// Functions for the times of a callback; those that are not given do nothing.
struct LambdaCallbackOptions {
  LambdaAction<int64_t> on_epoch_begin;
  LambdaAction<int64_t, Logs&> on_epoch_end;
  LambdaAction<int64_t> on_batch_begin;
  LambdaAction<int64_t, const Logs&> on_batch_end;
  LambdaAction<> on_train_begin;
  LambdaAction<const Logs&> on_train_end;
};
// A callback of functions.
CallbackPtr LambdaCallback(const LambdaCallbackOptions& options);

// FitOptions.directory under Keras' name: a Fit that was killed goes on where it was. The directory stays after the run
// has ended, and a call for a run that has ended returns its History at once; delete the directory to train anew.
CallbackPtr BackupAndRestore(const std::string& backup_dir, SourceLocation loc = SourceLocation::Current());

// Keras' callback that sends logs to a server. Here every Fit with it fails, because Tandem sends nothing over the
// network for a callback.
CallbackPtr RemoteMonitor(const std::string& root = "http://localhost:9000",
                          SourceLocation loc = SourceLocation::Current());

}  // namespace keras::callbacks
}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_KERAS_CALLBACKS_H_
