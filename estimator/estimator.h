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
#include "base/host_tensor.h"
#include "base/named_tensors.h"
#include "estimator/best_record.h"
#include "estimator/estimator_spec.h"
#include "estimator/eval_result.h"
#include "estimator/hooks/checkpoint_saver_hook.h"
#include "estimator/predictor.h"
#include "estimator/run_config.h"
#include "estimator/serving_input.h"
#include "estimator/session_run_hook.h"
#include "estimator/stop_reason.h"
#include "estimator/variable_access.h"

namespace tandem {

// How the dataset's components are read.
struct InputSpec {
  // The components that become `labels`: one, or several that model_fn asks for by name. Empty: "label", or else
  // "labels".
  std::vector<std::string> labels = {};
};

struct TrainOptions {
  // So many steps more, or until the global step is max_steps; at most one. Without either until the input ends.
  std::optional<int64_t> steps = std::nullopt;
  std::optional<int64_t> max_steps = std::nullopt;
  HookList hooks = {};
  std::vector<std::shared_ptr<CheckpointSaverListener>> saving_listeners = {};
  // A training that goes on from one before in this process, without a checkpoint, reads its input from the beginning
  // and not from where that ended.
  bool input_from_start = false;
};

struct EvaluateOptions {
  // A step is one batch per replica. Without a number: the whole input, once.
  std::optional<int64_t> steps = std::nullopt;
  HookList hooks = {};
  // ".../model.ckpt-100". Empty: the latest of model_dir. Read again when its content has changed since the last call.
  std::string checkpoint_path = "";
  // Keeps evaluations on several data sets apart: records go to model_dir/eval_<name>.
  std::string name = "";
  // Weights whose moving average there is (Optimizer::WithMovingAverage) are read from it; false: all as trained.
  bool use_moving_average = true;
};

struct PredictOptions {
  HookList hooks = {};
  std::string checkpoint_path = "";
  bool use_moving_average = true;  // as of EvaluateOptions
};

struct ExportOptions {
  std::string checkpoint_path = "";
  bool use_moving_average = true;  // as of EvaluateOptions
  // Of the evaluation that the model is exported after; Model::metrics() has them.
  std::map<std::string, double> metrics = {};
  // Where the newest export is equal to this one in every byte, it is returned and nothing is written.
  bool reuse_equal = false;
};

// Called for each example in input order, with its row of every prediction by name; false ends the call.
using PredictFn = std::function<bool(const NamedTensors&)>;

// How the last training ended.
struct TrainResult {
  int64_t global_step = 0;
  int64_t steps = 0;  // of that call
  double loss = 0;    // of its last step
  StopReason reason = StopReason::kEndOfInput;
  std::string stop_why = "";  // with kStopRequested: what the hook that asked for the end gave, on its own process
};

// Each mode's graph is built and compiled once, when it is first needed, and kept. Training, evaluation and prediction
// share the variables in memory: evaluating what was just trained reads no checkpoint. Not thread-safe.
//
// In a cluster of several workers (docs/guide/cluster.md) every process makes the same calls of Train, Evaluate and
// TrainAndEvaluate in the same order. The rank 0, the chief, saves, logs, and alone has training_chief_hooks and
// saving_listeners; hooks of the others see the same values, of batched tensors those of their own replicas. Predict
// runs on each process by itself.
//
// Errors of all calls: those of RunConfig, the model_fn's (with the user's file and line), the input's, of reading and
// writing checkpoints. Cancelled, with exit code 130 or 143, after SIGINT or SIGTERM: training has then saved.
class Estimator {
 public:
  Estimator(ModelFn model_fn, RunConfig config, Params params = {}, InputSpec input_spec = {});
  ~Estimator();
  Estimator(const Estimator&) = delete;
  Estimator& operator=(const Estimator&) = delete;

  // Goes on from the latest checkpoint in model_dir, input position included; from the initialisers or the warm-start
  // file when there is none. With a checkpoint at max_steps already, nothing is built or run. Unavailable (exit code
  // 75) while another process, or another Estimator of this one, trains in model_dir.
  absl::Status Train(const InputFn& input_fn, const TrainOptions& options = {});

  // Means over the whole input, each example counted once, for any number of replicas. Without a checkpoint the
  // initialised weights are evaluated, with a warning; NotFound when there is no directory model_dir.
  absl::StatusOr<EvalResult> Evaluate(const InputFn& input_fn, const EvaluateOptions& options = {});

  absl::Status Predict(const InputFn& input_fn, const PredictFn& on_prediction, const PredictOptions& options = {});

  // For many calls with few examples each, where Predict's input costs more than the model (estimator/predictor.h).
  // `features`: what the model asks for, with kBatch as the first dimension of every shape. Loads weights as Predict
  // does, once.
  absl::StatusOr<std::unique_ptr<Predictor>> MakePredictor(const std::vector<ComponentSpec>& features,
                                                           const PredictorOptions& options = {});

  // Writes the compiled program of mode predict, its weights and a signature to a new directory
  // `export_dir_base`/<seconds since 1970>/ and returns its path; LoadModel (estimator/serving/model.h) predicts with
  // it, without model_fn and compiler. The weights are those that Predict takes; FailedPrecondition where nothing is
  // trained and there is no warm start. Readers see all of the directory or nothing. In a cluster the chief, or the
  // task that evaluates, writes; on other workers nothing happens and the path is empty.
  absl::StatusOr<std::string> ExportModel(const std::string& export_dir_base, const ServingInput& serving_input,
                                          const ExportOptions& options = {});

  // The path of the newest checkpoint, verified; nothing when there is none. Without the file that names it, the newest
  // complete one, with a warning; Train, Evaluate and Predict take the same.
  absl::StatusOr<std::optional<std::string>> LatestCheckpoint();
  // Of the latest checkpoint. NotFound when there is none or the name is unknown.
  absl::StatusOr<std::vector<std::string>> GetVariableNames();
  absl::StatusOr<HostTensor> GetVariableValue(const std::string& name);

  // The values of variables, without files in between. Of no names those of all variables, and with .slots those of
  // optimizers too. Inside of a training they are the values in memory; otherwise those that Train would go on from:
  // of the latest checkpoint, or in memory where checkpoints are off, with what AssignVariables was given since.
  // NotFound where there are none yet, and for names that are not there.
  absl::StatusOr<NamedTensors> ReadVariables(const std::vector<std::string>& names = {},
                                             const ReadVariablesOptions& options = {});
  // Gives variables (and slots) other values, all or none. Inside of a training as RunContext::AssignVariables.
  // Outside, Evaluate, Predict and the like take them over what they load, unless a checkpoint_path is given, and Train
  // goes on with them from the step and the input position of what it would have gone on from; it saves before its
  // first step. Until then they are in memory only. Before the model has been built nobody knows its variables: what
  // does not fit is then the error of the Train that builds it, and an evaluation or prediction passes over names that
  // it has not. Evaluations of assigned values are recorded as such, and are not among the best.
  //
  // InvalidArgument: all values that do not fit, with names that may have been meant. In a cluster every process makes
  // the same call. FailedPrecondition with parameter servers.
  //
  // With .global_step Train goes on from that step, as after so many steps: FailedPrecondition inside of a training.
  absl::Status AssignVariables(const NamedTensors& values, const AssignVariablesOptions& options = {});

  const RunConfig& config() const;
  const std::string& model_dir() const { return config().model_dir; }
  // model_dir/eval or model_dir/eval_<name>, where the results of evaluations are recorded.
  std::string eval_dir(const std::string& name = "") const;
  const std::optional<TrainResult>& last_train_result() const;
  // Of the values in memory: inside of a training the steps so far.
  int64_t global_step() const;
  // The best evaluation with this name so far, by RunConfig.keep_best or else by the smallest loss, with its checkpoint
  // where that is there; it is part of every checkpoint. Counted are evaluations of this model's own weights (trained
  // in memory, or of a checkpoint in model_dir) over the whole input, and those over EvalSpec.steps in
  // TrainAndEvaluate, which are compared with each other only. Evaluations of other data belong under another name; by
  // hand only those count that are like the ones that TrainAndEvaluate makes under that name, if it does. As long as
  // this process has trained nothing, it is the best of those on record in model_dir.
  std::optional<BestRecord> best(const std::string& name = "") const;
  // Whether this process saves and logs: the only one, or the first worker of a cluster.
  bool is_chief() const;
  // Whether this process is the task of a cluster that only evaluates.
  bool is_evaluator() const;
  // How many evaluations have come to their end.
  int64_t evaluations() const;
  // How often a model_fn was called and a graph was compiled or loaded from the cache, all modes together.
  int64_t programs_built() const;

  // Expires with the Estimator, for what is used after it by mistake.
  std::weak_ptr<const bool> alive() const { return alive_; }

 private:
  friend class EvaluatorTask;
  friend class ExporterRun;
  friend class MonitoredTrainingSession;
  friend class ServingExporter;
  friend class Training;
  friend class TrainAndEvaluateRun;
  class Impl;
  // Sessions keep it until they have ended; that the Estimator is there is another matter.
  std::shared_ptr<Impl> impl_;
  const std::shared_ptr<const bool> alive_ = std::make_shared<const bool>(true);
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_ESTIMATOR_H_
