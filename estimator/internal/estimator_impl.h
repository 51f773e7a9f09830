// The implementation of Estimator, shared by the files that implement its calls.
#ifndef TANDEM_ESTIMATOR_INTERNAL_ESTIMATOR_IMPL_H_
#define TANDEM_ESTIMATOR_INTERNAL_ESTIMATOR_IMPL_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "estimator/checkpoint/checkpoint_manager.h"
#include "estimator/estimator.h"
#include "estimator/evaluation/best_evaluations.h"
#include "estimator/internal/event_files.h"
#include "estimator/internal/tracing.h"
#include "estimator/internal/usage_warnings.h"
#include "estimator/job/cooperation.h"
#include "estimator/loop/batch_dealer.h"
#include "estimator/loop/run_loop.h"
#include "estimator/loop/stall_watch.h"
#include "estimator/loop/worker_input.h"
#include "estimator/model/assigned_values.h"
#include "estimator/model/hook_states.h"
#include "estimator/model/mode_program.h"
#include "estimator/model/mode_programs.h"
#include "estimator/model/resident_state.h"
#include "estimator/record/run_description.h"
#include "estimator/record/steps_file.h"
#include "estimator/replay/replayed_run.h"

namespace tandem {

class Training;

class Estimator::Impl : public VariableAccess {
 public:
  // The configuration of an Estimator, completed from the user's.
  struct Setting {
    RunConfig config;
    bool temporary_model_dir = false;
    std::shared_ptr<ReplayedRun> replayed;  // null unless a step is replayed
    absl::Status replay_status;             // the error of opening the replayed run
  };
  static Setting SettingOf(RunConfig config);
  Impl(ModelFn model_fn, Setting setting, Params params, InputSpec input_spec);

  // The following are defined in estimator_variables.cc.
  absl::StatusOr<NamedTensors> ReadVariables(const std::vector<std::string>& names,
                                             const ReadVariablesOptions& options) override;
  absl::Status AssignVariables(const NamedTensors& values) override;
  // Returns an error unless the next Train can go on from `step`: InvalidArgument for a negative step,
  // FailedPrecondition during a training.
  absl::Status CheckNextStep(int64_t step) const;
  void set_next_step(int64_t step) { assigned_.step = step; }

  absl::Status Train(const InputFn& input_fn, const TrainOptions& options);
  // FailedPrecondition if this process does not train (a task of type ps or evaluator).
  absl::Status CheckTrains() const;
  absl::StatusOr<EvalResult> Evaluate(const InputFn& input_fn, const EvaluateOptions& options);
  absl::Status Predict(const InputFn& input_fn, const PredictFn& on_prediction, const PredictOptions& options);

  // The input that a ServingInput describes; its input_fn, if any, has been called.
  struct ServingShape {
    std::vector<ComponentSpec> components;  // components of the input, with the labels if the input_fn returns them
    int64_t rows_per_step = 0;
  };
  absl::StatusOr<ServingShape> ShapeOf(const ServingInput& serving_input) const;
  // Builds and compiles the program that ExportModel needs.
  absl::StatusOr<ModeProgram*> ProgramForExport(const ServingShape& shape);
  absl::StatusOr<std::string> ExportModel(const std::string& export_dir_base, const ServingShape& shape,
                                          const ExportOptions& options);
  // True if this process writes when all processes of a cluster call ExportModel.
  bool exports() const { return cooperation_->is_chief() || cooperation_->is_evaluator(); }

  absl::StatusOr<std::unique_ptr<Predictor>> MakePredictor(const std::vector<ComponentSpec>& features,
                                                           const PredictorOptions& options);

  const RunConfig& config() const { return config_; }
  const absl::Status& status() const { return status_; }
  CheckpointManager& checkpoints() { return checkpoints_; }
  // Returns the path of the newest checkpoint, verified, as CheckpointManager::LatestCheckpoint does.
  absl::StatusOr<std::optional<std::string>> LatestCheckpoint(absl::string_view in_memory = "");
  const std::optional<TrainResult>& last_train() const { return last_train_; }
  int64_t global_step() const { return resident_.global_step(); }
  // The step scalars (such as learning rates) that hooks of the training have set.
  StepScalarSettings& step_scalars() { return state_.step_scalars; }
  const BestEvaluations& best() const { return best_; }
  int64_t programs_built() const { return programs_.built(); }
  int64_t evaluations() const { return evaluations_; }

  // What a call of TrainAndEvaluate passes to the Train that it makes.
  struct Job {
    // Called with the training's program before the first step: checks the evaluations for mistakes as far as they can
    // be known. Null if another process evaluates.
    std::function<absl::Status(const ModeProgram& training)> check_evaluations;
    // Makes the hooks that run after the checkpoint saver: those that evaluate, or that follow evaluations.
    std::function<absl::StatusOr<HookList>(const BatchDealer&)> evaluation_hooks;
    // The step at which the job began, if it goes on after an interruption. If the training restores a later step at
    // which the input had ended, the input is not started again.
    std::optional<int64_t> interrupted_since;
  };
  // Sets the job that the next Train belongs to. All workers set it, or none.
  void set_job(std::optional<Job> job) { job_ = {.job = std::move(job)}; }
  // Builds mode eval, so that later evaluations find it built, and checks it for mistakes. Returns the names of its
  // metrics. `training` is the program that trains; null if another process trains.
  absl::StatusOr<std::vector<std::string>> CheckEvaluation(const InputFn& input_fn, const EvaluateOptions& options,
                                                           const ModeProgram* training);
  // Once the training makes no more steps and saves and calls the hooks' End, returns why it ends. Returns nothing
  // before.
  std::optional<StopReason> ending() const;
  // Declares that the next Evaluate is evaluation number `which` of a job (TrainAndEvaluate). Nothing: the user has
  // called it.
  void set_evaluation_of_job(std::optional<int> which) { job_.evaluation = which; }
  // Calls input_fn and returns the hash of the data that it reads, for EvalScope::data.
  absl::StatusOr<std::string> EvaluatedData(const InputFn& input_fn);

  // How this process works together with the other processes of the job. All processes call its methods in the same
  // order.
  Cooperation& cooperation() const { return *cooperation_; }
  bool is_chief() const { return cooperation_->is_chief(); }
  // Connects to the other workers, if there are any and this process is not connected to them yet. Called before all
  // workers do something together.
  absl::Status JoinWorkers();
  // Returns a variable as this worker last read it from parameter servers; nothing on the chief, which reads its own
  // checkpoint.
  std::optional<HostTensor> ServedValue(const std::string& name) const;
  // Runs a parameter server until the chief declares the job done. Returns at once if that has happened in an earlier
  // call.
  absl::Status Serve(const InputFn& input_fn);
  // True if this process only replays a step of an earlier run (--replay_step): the Train that reaches the step replays
  // it, and all other calls do nothing.
  bool replays() const { return replayed_ != nullptr; }
  // Runs `work`, which all workers run at the same time. If it fails on this worker, the other workers' calls fail too.
  absl::Status Together(const std::function<absl::Status()>& work);

 private:
  friend class Training;

  // The input of a call, and the program for it.
  struct Prepared {
    std::unique_ptr<BatchDealer> dealer;
    std::unique_ptr<WorkerInput> input;  // draws this process's batches from the dealer
    ModeProgram* program = nullptr;
    int replicas = 1;                    // replicas of a step, over all processes
    int workers = 1;                     // processes that compute a part of each step
    Cooperation* cooperation = nullptr;  // how this process works with others in calls of this mode

    // Returns the fingerprint of the data. Returns "" if each worker has an input of its own, because only the chief's
    // would be known.
    std::string DataFingerprint() const { return input->is_same_for_all() ? dealer->data_fingerprint() : ""; }
    // Returns the hash of the data for EvalScope::data.
    std::string EvaluatedData() const;
  };
  absl::StatusOr<Prepared> Prepare(Mode mode, const InputFn& input_fn);
  // Like Prepare, but makes no program.
  absl::StatusOr<Prepared> PrepareInput(Mode mode, const InputFn& input_fn, Params::Placement* placement);
  // Like Prepare, for mode eval; also InvalidArgument for an input that never ends without a number of steps.
  absl::StatusOr<Prepared> PrepareEvaluation(const InputFn& input_fn, const EvaluateOptions& options);
  // Returns the first error that a value of params was requested as another kind than it has, by model_fn, input_fn,
  // hooks or functions of the pipeline. The request itself has returned a default value.
  absl::Status CheckParams(const ModeProgram& program) const;
  // Calls Begin of all hooks, then compiles the program with the tensors that they fetch.
  absl::Status Finalize(const Prepared& prepared, const HookList& hooks);
  // Returns the options to compile a program of `mode` for these devices, with `batch` rows each.
  absl::StatusOr<CompileOptions> OptionsFor(Mode mode, std::vector<std::string> devices, int64_t batch);
  // Creates the session of the program; call it after Finalize. With `averages`, variables whose moving averages are in
  // memory are read from these.
  absl::Status BindVariables(const Prepared& prepared, bool averages);
  // Returns the names of the moving averages in memory of a program's variables, by the variables' names.
  std::map<std::string, std::string> AveragesFor(const ModeProgram& program) const;
  // Returns the values of variables of a program or, with `averages`, of their moving averages if these are in memory.
  absl::StatusOr<std::vector<HostTensor>> ReadWeights(const ModeProgram& program, std::vector<std::string> names,
                                                      bool averages) const;
  const DistributionStrategy Strategy(Mode mode) const;
  // Returns the values of the program's variables, their step and the seed.
  absl::StatusOr<CheckpointData> ValuesInMemory(const ModeProgram& program) const;
  // Sends the chief's variables and seed to the other workers. They have initialised their own, with another seed or
  // from a warm-start file that exists on one machine only.
  absl::Status TakeValuesOfChief(const Prepared& prepared);
  // Returns the error for a loop that a signal ended, here or at another worker.
  absl::Status SignalErrorOf(const LoopResult& result, absl::string_view detail) const;

  // Returns the record of what a training begins with, except its step and input position and, if `compiled` is false,
  // except what the compiler chose.
  RunStart DescribeStart(const Prepared& prepared, bool compiled = true) const;

  // The following are defined in estimator_replay.cc.
  class Replay;
  absl::Status ReplayTraining(const InputFn& input_fn, const TrainOptions& options);

  // Gives a new model its first values: those of the initialisers, then those of warm_start_from.
  absl::Status InitializeVariables(const ModeProgram& program);

  // True if AssignVariables has set values that are not in memory yet and that no training has begun with.
  bool AssignedIsDue() const { return !assigned_.empty() && (assigned_.changed || !resident_.assigned()); }
  // Writes the assigned values over the program's values in memory. A program that does not train may lack some of the
  // variables. InvalidArgument for values that do not fit.
  absl::Status ApplyAssigned(const ModeProgram& program);
  // For a model that nobody has trained: sets first values, then the assigned ones.
  absl::Status InitializeAssigned(const ModeProgram& program);
  // The stored variables while no training runs, without values set by AssignVariables.
  struct StoredVariables;
  absl::StatusOr<StoredVariables> StoredOutsideTraining();
  absl::Status CheckHasVariables(absl::string_view method) const;

  // NotFound for a model_dir that does not exist, so that an evaluation or prediction does not create a mistyped one.
  absl::Status CheckModelDirExists(const std::string& checkpoint_path) const;
  // Returns an error if the trace file cannot be written.
  absl::Status CheckOutputs() const;
  // Remembers an error of writing traces, which must not end a training. Outside of trainings returns the first
  // remembered error, once.
  absl::Status TakeTraceStatus(const absl::Status& of_loop);

  // Loads the weights for an evaluation or prediction into memory. Returns true if they are the model's own: trained by
  // this Estimator, or from a checkpoint in model_dir.
  absl::StatusOr<bool> LoadForInference(const Prepared& prepared, const std::string& checkpoint_path, const char* what);
  absl::StatusOr<bool> LoadAlone(const ModeProgram& program, const std::string& checkpoint_path, const char* what);
  absl::StatusOr<EvalResult> EvaluateTogether(const InputFn& input_fn, const EvaluateOptions& options);
  // True if an evaluation is compared with earlier ones to find the best. It must be one of the model's own weights
  // that no hook has stopped; `dir` has its log.
  bool IsCompared(const std::string& dir, const EvalScope& scope) const;

  // Sets cooperation_, and tracing_, whose file depends on this process's rank.
  void Cooperate();

  RunConfig config_;
  Params params_;
  absl::Status status_;                          // the error of the configuration, which all calls return
  const std::shared_ptr<ReplayedRun> replayed_;  // null unless a step is replayed
  const std::unique_ptr<StallWatch> stall_watch_;
  CheckpointManager checkpoints_;
  ResidentState resident_;
  ModePrograms programs_;
  std::unique_ptr<Cooperation> cooperation_ = std::make_unique<Cooperation>();
  std::unique_ptr<UsageWarnings> warnings_;
  Tracing tracing_;
  EventFiles event_files_;
  BestEvaluations best_;
  int64_t evaluations_ = 0;  // number of evaluations made so far
  AssignedValues assigned_;
  // What the next training goes on with, besides the values of the variables.
  struct TrainingState {
    uint64_t seed = 0;
    StepScalarSettings step_scalars;
    HookStates hook_states;
    // The position in the input at the end of the last Train, for trainings without checkpoints.
    std::string input_position;
    std::unique_ptr<StepsWriter> steps_writer;  // null until something is recorded
  };
  TrainingState state_;
  // The training that is being prepared, runs or ends; null if there is none.
  Training* training_ = nullptr;
  std::optional<TrainResult> last_train_;
  struct JobState {
    std::optional<Job> job;
    // The names of the metrics of the job's evaluations that have been checked, by the evaluation's name.
    std::map<std::string, std::vector<std::string>> evaluation_metrics;
    std::optional<int> evaluation;  // the number of the job's evaluation that is made next
  };
  JobState job_;
  bool model_logged_ = false;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_INTERNAL_ESTIMATOR_IMPL_H_
