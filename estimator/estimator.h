// Estimator: trains, evaluates and predicts with a model_fn.
//
//   Estimator estimator(ModelFn,
//                       RunConfig{.model_dir = dir, .train_distribute = MirroredStrategy({"cpu:0", "cpu:1"})});
//   TD_RETURN_IF_ERROR(estimator.Train(TrainInput, {.max_steps = 2000}));
//   TD_ASSIGN_OR_RETURN(EvalResult result, estimator.Evaluate(EvalInput));
#ifndef TANDEM_ESTIMATOR_ESTIMATOR_H_
#define TANDEM_ESTIMATOR_ESTIMATOR_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tandem/base/api.h"
#include "tandem/base/host_tensor.h"
#include "tandem/base/named_tensors.h"
#include "tandem/estimator/config/run_config.h"
#include "tandem/estimator/evaluation/best_record.h"
#include "tandem/estimator/evaluation/eval_result.h"
#include "tandem/estimator/hooks/checkpoint_saver_hook.h"
#include "tandem/estimator/loop/session_run_hook.h"
#include "tandem/estimator/loop/stop_reason.h"
#include "tandem/estimator/loop/variable_access.h"
#include "tandem/estimator/model/estimator_spec.h"
#include "tandem/estimator/predictor.h"
#include "tandem/estimator/serving_input.h"

namespace TANDEM_API tandem {

// Which components of the dataset are labels.
struct InputSpec {
  // The components that become `labels`: one, or several that model_fn asks for by name. If empty: "label" or, if there
  // is none, "labels".
  std::vector<std::string> labels = {};
};

struct TrainOptions {
  // Train for so many more steps, or until the global step is max_steps; set at most one. If neither is set, train
  // until the input ends.
  std::optional<int64_t> steps = std::nullopt;
  std::optional<int64_t> max_steps = std::nullopt;
  HookList hooks = {};
  std::vector<std::shared_ptr<CheckpointSaverListener>> saving_listeners = {};
  // For a training that goes on from an earlier one in this process, without a checkpoint: read the input from its
  // beginning, not from where the earlier training stopped.
  bool input_from_start = false;
};

struct EvaluateOptions {
  // Steps to make; a step is one batch per replica. If not set: the whole input, once.
  std::optional<int64_t> steps = std::nullopt;
  HookList hooks = {};
  // For example ".../model.ckpt-100". If empty: the latest checkpoint of model_dir. The checkpoint is read again if its
  // content has changed since the last call.
  std::string checkpoint_path = "";
  // Keeps evaluations on several data sets apart: their records go to model_dir/eval_<name>.
  std::string name = "";
  // Use moving averages in place of the weights that have one (Optimizer::WithMovingAverage); false: use all weights as
  // trained.
  bool use_moving_average = true;
};

struct PredictOptions {
  HookList hooks = {};
  std::string checkpoint_path = "";
  bool use_moving_average = true;  // use moving averages in place of weights that have one
};

struct ExportOptions {
  std::string checkpoint_path = "";
  bool use_moving_average = true;  // use moving averages in place of weights that have one
  // Metrics of the evaluation that the model is exported after; Model::metrics() returns them.
  std::map<std::string, double> metrics = {};
  // If the newest export equals this one in every byte, return its path and write nothing.
  bool reuse_equal = false;
};

// Called for each example in input order, with the example's row of every prediction, by name. Return false to end the
// call.
using PredictFn = std::function<bool(const NamedTensors&)>;

// How the last training ended.
struct TrainResult {
  int64_t global_step = 0;
  int64_t steps = 0;  // steps that this training made
  double loss = 0;    // loss of the last step
  StopReason reason = StopReason::kEndOfInput;
  // with kStopRequested: the reason given by the hook that asked for the stop, if it ran in this process
  std::string stop_why = "";
};

// Each mode's graph is built and compiled once, when it is first needed, and kept. Training, evaluation and prediction
// share the variables in memory: an evaluation right after a training reads no checkpoint. Not thread-safe.
//
// In a cluster of several workers (docs/guide/cluster.md) every process makes the same calls of Train, Evaluate and
// TrainAndEvaluate in the same order. The chief (rank 0) saves and logs, and it alone runs training_chief_hooks and
// saving_listeners. Hooks of the other workers see the same values, but of batched tensors only the rows of their own
// replicas. Predict runs on each process by itself.
//
// All calls return errors of the RunConfig, of the model_fn (with the user's file and line), of the input, and of
// reading and writing checkpoints. They return Cancelled, with exit code 129, 130 or 143, after SIGHUP, SIGINT or
// SIGTERM (RunConfig.handle_signals); training has then saved a checkpoint.
class Estimator {
 public:
  // Builds and reads nothing yet. Mistakes in `config` are errors of every call.
  Estimator(ModelFn model_fn, RunConfig config, Params params = {}, InputSpec input_spec = {});
  ~Estimator();
  Estimator(const Estimator&) = delete;
  Estimator& operator=(const Estimator&) = delete;

  // Goes on from the latest checkpoint in model_dir, input position included. If there is none, starts from the
  // initialisers or the warm-start file. If a checkpoint at max_steps exists already, builds and runs nothing.
  // Unavailable (exit code 75) while another process, or another Estimator of this process, trains in model_dir.
  absl::Status Train(const InputFn& input_fn, const TrainOptions& options = {});

  // Returns means over the whole input, each example counted once, for any number of replicas. Without a checkpoint it
  // evaluates the initialised weights, with a warning; NotFound if the directory model_dir does not exist.
  absl::StatusOr<EvalResult> Evaluate(const InputFn& input_fn, const EvaluateOptions& options = {});

  // Calls `on_prediction` for each example of the input, in its order, until it returns false.
  absl::Status Predict(const InputFn& input_fn, const PredictFn& on_prediction, const PredictOptions& options = {});

  // Makes a Predictor (estimator/predictor.h), for many calls with few examples each, where Predict's input would cost
  // more than the model. `features` describes what the model asks for, with kBatch as the first dimension of every
  // shape. Weights are loaded as by Predict, once.
  absl::StatusOr<std::unique_ptr<Predictor>> MakePredictor(const std::vector<ComponentSpec>& features,
                                                           const PredictorOptions& options = {});

  // Writes the compiled program of mode predict, its weights and a signature to a new directory
  // `export_dir_base`/<seconds since 1970>/ and returns its path; LoadModel (estimator/serving/model.h) predicts with
  // it, without model_fn and compiler, and ExportOnnx (estimator/onnx/export_onnx.h) makes an ONNX file of it. Uses the
  // same weights as Predict; FailedPrecondition if nothing is trained and there is no warm start. Readers see all of
  // the directory or nothing. In a cluster the chief, or the task that evaluates, writes; the other workers do nothing
  // and return an empty path.
  absl::StatusOr<std::string> ExportModel(const std::string& export_dir_base, const ServingInput& serving_input,
                                          const ExportOptions& options = {});

  // Returns the path of the newest checkpoint, verified; nothing if there is none. If the file that names the newest
  // checkpoint is missing, takes the newest complete one, with a warning; Train, Evaluate and Predict do the same.
  absl::StatusOr<std::optional<std::string>> LatestCheckpoint();
  // Read names and values from the latest checkpoint. NotFound if there is none or the name is unknown.
  absl::StatusOr<std::vector<std::string>> GetVariableNames();
  absl::StatusOr<HostTensor> GetVariableValue(const std::string& name);

  // Returns the values of variables, without writing a file. With no names, returns all variables, and with .slots also
  // those of optimizers. During a training these are the values in memory. Otherwise they are the values that Train
  // would go on from: those of the latest checkpoint (of memory, if checkpoints are off), with the values assigned
  // since. NotFound if there are no variables yet, or if a name does not exist.
  absl::StatusOr<NamedTensors> ReadVariables(const std::vector<std::string>& names = {},
                                             const ReadVariablesOptions& options = {});
  // Gives variables (and slots) other values: all of them, or none after an error. During a training it works like
  // RunContext::AssignVariables. Outside of one, the values replace those that Evaluate, Predict and the like load,
  // unless a checkpoint_path is given. Train starts with them, at the step and input position that it would have gone
  // on from, and saves a checkpoint before its first step. Until then they are in memory only. Before the model has
  // been built its variables are not known: values that do not fit are then an error of the Train that builds it, and
  // an evaluation or prediction ignores names that its model does not have. Evaluations of assigned values are recorded
  // as such and are never among the best.
  //
  // InvalidArgument lists all values that do not fit, with similar names. In a cluster every process makes the same
  // call. FailedPrecondition with parameter servers.
  //
  // With .global_step, Train goes on as if that many steps had been made. FailedPrecondition during a training.
  absl::Status AssignVariables(const NamedTensors& values, const AssignVariablesOptions& options = {});

  const RunConfig& config() const;
  const std::string& model_dir() const { return config().model_dir; }
  // Returns model_dir/eval or model_dir/eval_<name>, where the results of evaluations are recorded.
  std::string eval_dir(const std::string& name = "") const;
  // How the last Train of this object ended; not set before the first.
  const std::optional<TrainResult>& last_train_result() const;
  // The step of the values in memory; during a training, the steps so far.
  int64_t global_step() const;
  // Returns the best evaluation with this name so far, by RunConfig.keep_best or else by the smallest loss, with its
  // checkpoint if that still exists. The record is part of every checkpoint. Evaluations count if they are of this
  // model's own weights (trained in memory, or of a checkpoint in model_dir) and over the whole input; evaluations of
  // TrainAndEvaluate with EvalSpec.steps count too, and are compared only with each other. If TrainAndEvaluate
  // evaluates under this name, evaluations by hand count only if they read the same data and have the same number of
  // steps and kind of weights. Give evaluations of other data another name. While this process has trained nothing, the
  // best evaluation is that of the records in model_dir.
  std::optional<BestRecord> best(const std::string& name = "") const;
  // True if this process saves and logs: it is the only one, or the first worker of a cluster.
  bool is_chief() const;
  // True if this process is the task of a cluster that only evaluates.
  bool is_evaluator() const;
  // The number of evaluations that this process has completed.
  int64_t evaluations() const;
  // How often a model_fn was called and its graph compiled or loaded from the cache, over all modes.
  int64_t programs_built() const;

  // Expires with the Estimator, so that an object that refers to it can detect that it is gone.
  std::weak_ptr<const bool> alive() const { return alive_; }

 private:
  friend class EvaluatorTask;
  friend class ExporterRun;
  friend class MonitoredTrainingSession;
  friend class ServingExporter;
  friend class Training;
  friend class TrainAndEvaluateRun;
  class Impl;
  // Sessions (MonitoredTrainingSession) share it, so that it exists until they have ended, even if the Estimator is
  // gone.
  std::shared_ptr<Impl> impl_;
  const std::shared_ptr<const bool> alive_ = std::make_shared<const bool>(true);
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_ESTIMATOR_H_
