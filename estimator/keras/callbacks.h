// Keras' callbacks, for Model::Fit and Model::Evaluate.
//
//   model.Fit(data, {.epochs = 50,
//                    .callbacks = {keras::callbacks::EarlyStopping({.patience = 3, .restore_best_weights = true}),
//                                  keras::callbacks::CSVLogger("log.csv")},
//                    .validation_data = validation});
//
// Options have Keras 2.15's names and defaults, and what callbacks print and write is what Keras does. With a directory
// of Fit their states are part of its checkpoints. What is wrong with options is an error of the Fit, with the line
// that made the callback. `verbose` 1 prints what they do, on standard output. A `monitor` that is not in the logs is a
// warning, once. A `mode` says whether the monitor should be small or large: "min", "max", or "auto" by its name.
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
  // As Python's str.format: {epoch:02d}, which counts from 1, {val_loss:.2f} and other names of the logs, {batch}, from
  // 1, with save_freq. A name that is not there is an error. Folders are made. The end says the format: .h5, .keras.
  std::string filepath;
  std::string monitor = "val_loss";
  int verbose = 0;
  bool save_best_only = false;  // only when the monitor has got better
  bool save_weights_only = false;
  std::string mode = "auto";                      // max where "acc" is in the name or it begins with "fmeasure"
  std::optional<int64_t> save_freq;               // in batches, counted over epochs; nothing: at the end of each epoch
  std::optional<double> initial_value_threshold;  // the best value before the first epoch
};
// Saves the model. A file is written under another name and then renamed, so that it is whole or not there.
CallbackPtr ModelCheckpoint(const ModelCheckpointOptions& options, SourceLocation loc = SourceLocation::Current());

struct EarlyStoppingOptions {
  std::string monitor = "val_loss";
  double min_delta = 0;  // better is by more than that
  int64_t patience = 0;  // epochs without a better value that are waited for
  int verbose = 0;
  std::string mode = "auto";  // max where the name ends with "acc", "accuracy" or "auc"
  // Values that are not better than this one too do not end the waiting.
  std::optional<double> baseline;
  bool restore_best_weights = false;  // where it stops; not where all epochs are made
  int64_t start_from_epoch = 0;       // epochs before are not looked at
};
CallbackPtr EarlyStopping(const EarlyStoppingOptions& options = {}, SourceLocation loc = SourceLocation::Current());

struct ReduceLROnPlateauOptions {
  std::string monitor = "val_loss";
  double factor = 0.1;  // in (0, 1)
  int64_t patience = 10;
  int verbose = 0;
  std::string mode = "auto";  // max where "acc" is in the name
  double min_delta = 1e-4;
  int64_t cooldown = 0;  // epochs behind a reduction that do not count
  double min_lr = 0;
};
// Multiplies the optimizer's rate when the monitor does not get better. Adds "lr" to the logs.
CallbackPtr ReduceLROnPlateau(const ReduceLROnPlateauOptions& options = {},
                              SourceLocation loc = SourceLocation::Current());

// Sets the optimizer's rate before each epoch to schedule(epoch, rate of now); epochs count from 0. Adds "lr" to the
// logs.
CallbackPtr LearningRateScheduler(std::function<double(int64_t epoch, double rate)> schedule, int verbose = 0,
                                  SourceLocation loc = SourceLocation::Current());
// To schedule(epoch).
CallbackPtr LearningRateScheduler(std::function<double(int64_t epoch)> schedule, int verbose = 0,
                                  SourceLocation loc = SourceLocation::Current());

struct CSVLoggerOptions {
  std::string separator = ",";
  bool append = false;  // to a file that is there, which otherwise is replaced
};
// Writes a row for each epoch: its number, from 0, and the logs in the order of their names; "NA" for what is not
// there. A Fit that resumes cuts the rows of epochs that it makes again.
CallbackPtr CSVLogger(const std::string& filename, const CSVLoggerOptions& options = {},
                      SourceLocation loc = SourceLocation::Current());

struct TensorBoardOptions {
  std::string log_dir = "logs";
  // Batches between the values batch_loss and so on; nothing: none of them.
  std::optional<int64_t> update_freq;
  bool write_steps_per_second = false;
};
// Event files in log_dir/train and log_dir/validation: epoch_loss and so on by epochs, evaluation_loss_vs_iterations
// and so on by batches.
CallbackPtr TensorBoard(const TensorBoardOptions& options = {}, SourceLocation loc = SourceLocation::Current());

// Ends training where the loss is no number, without the error that such a step is otherwise. The step changes nothing.
CallbackPtr TerminateOnNaN();

// A function that returns nothing or a status.
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

// FitOptions.directory by Keras' name: a Fit that was killed goes on where it was. The directory stays when the run has
// ended, and such a run returns its History at once; delete it to train anew.
CallbackPtr BackupAndRestore(const std::string& backup_dir, SourceLocation loc = SourceLocation::Current());

// Keras' callback that sends logs to a server. Always an error: nothing here uses the network.
CallbackPtr RemoteMonitor(const std::string& root = "http://localhost:9000",
                          SourceLocation loc = SourceLocation::Current());

}  // namespace tandem::keras::callbacks

#endif  // TANDEM_ESTIMATOR_KERAS_CALLBACKS_H_
