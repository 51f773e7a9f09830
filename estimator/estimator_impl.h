// The implementation of Estimator, shared by the files that implement its calls.
#ifndef TANDEM_ESTIMATOR_ESTIMATOR_IMPL_H_
#define TANDEM_ESTIMATOR_ESTIMATOR_IMPL_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "estimator/background_save.h"
#include "estimator/batch_dealer.h"
#include "estimator/best_record.h"
#include "estimator/checkpoint/checkpoint_manager.h"
#include "estimator/estimator.h"
#include "estimator/hook_states.h"
#include "estimator/hooks/watched_values.h"
#include "estimator/mode_program.h"
#include "estimator/parameter_server/own_batches.h"
#include "estimator/parameter_server/served_variables.h"
#include "estimator/record/run_description.h"
#include "estimator/record/steps_file.h"
#include "estimator/replay/replayed_run.h"
#include "estimator/resident_state.h"
#include "estimator/run_loop.h"
#include "estimator/stall_watch.h"
#include "estimator/summary/event_writer.h"
#include "estimator/trace/tracer.h"
#include "estimator/workers/joined_workers.h"
#include "estimator/workers/own_inputs.h"
#include "runtime/threads/thread_pool.h"

namespace tandem {

// Returns the numbers of a result for an event file, except the loss and the step.
inline std::vector<ScalarSummary> MetricScalars(const EvalResult& result) {
  std::vector<ScalarSummary> scalars;
  for (const auto& [name, value] : result.metrics) {
    if (name != "loss" && name != "global_step") scalars.push_back({name, value});
  }
  return scalars;
}

class Estimator::Impl : public VariableAccess {
 public:
  Impl(ModelFn model_fn, RunConfig config, Params params, InputSpec input_spec);
  ~Impl() override;

  // estimator_variables.cc
  absl::StatusOr<NamedTensors> ReadVariables(const std::vector<std::string>& names,
                                             const ReadVariablesOptions& options) override;
  absl::Status AssignVariables(const NamedTensors& values) override;
  // Returns an error unless the next Train can go on from `step`: InvalidArgument for a negative step,
  // FailedPrecondition during a training.
  absl::Status CheckNextStep(int64_t step) const;
  void set_next_step(int64_t step) { assigned_step_ = step; }

  absl::Status Train(const InputFn& input_fn, const TrainOptions& options);
  // FailedPrecondition if this process does not train (a task of type ps or evaluator).
  absl::Status CheckTrains() const;
  absl::StatusOr<EvalResult> Evaluate(const InputFn& input_fn, const EvaluateOptions& options);
  absl::Status Predict(const InputFn& input_fn, const PredictFn& on_prediction, const PredictOptions& options);

  // The input that a ServingInput describes; its input_fn, if any, has been called.
  struct ServingShape {
    std::vector<ComponentSpec> components;  // with the labels, if the input_fn has them
    int64_t rows_per_step = 0;
  };
  absl::StatusOr<ServingShape> ShapeOf(const ServingInput& serving_input) const;
  // Builds and compiles the program that ExportModel needs.
  absl::StatusOr<ModeProgram*> ProgramForExport(const ServingShape& shape);
  absl::StatusOr<std::string> ExportModel(const std::string& export_dir_base, const ServingShape& shape,
                                          const ExportOptions& options);
  // True if this process writes when all processes of a cluster call ExportModel.
  bool exports() const { return is_chief() || is_evaluator(); }

  absl::StatusOr<std::unique_ptr<Predictor>> MakePredictor(const std::vector<ComponentSpec>& features,
                                                           const PredictorOptions& options);

  const RunConfig& config() const { return config_; }
  const absl::Status& status() const { return status_; }
  CheckpointManager& checkpoints() { return checkpoints_; }
  // Like CheckpointManager::LatestCheckpoint.
  absl::StatusOr<std::optional<std::string>> LatestCheckpoint(absl::string_view in_memory = "");
  const std::optional<TrainResult>& last_train() const { return last_train_; }
  int64_t global_step() const { return resident_.global_step(); }
  // The step scalars (such as learning rates) that hooks of the training have set.
  StepScalarSettings& step_scalars() { return step_scalars_; }
  // The best evaluations that this process's training knows of; if there are none, those recorded in model_dir.
  BestRecords BestOnRecord() const;
  int64_t programs_built() const { return programs_built_; }
  int64_t evaluations() const { return evaluations_; }

  // The parts of a TrainAndEvaluate call that Train needs.
  struct Job {
    // Called with the training's program before the first step: checks the evaluations for mistakes as far as they can
    // be known. Null if another process evaluates.
    std::function<absl::Status(const ModeProgram& training)> check_evaluations;
    // Makes the hooks that run after the checkpoint saver: those that evaluate, or that follow evaluations.
    std::function<absl::StatusOr<HookList>(const BatchDealer&)> evaluation_hooks;
    // If the job goes on after an interruption, the step at which it began. If training restores a later step at which
    // the input has ended, the input is not started again.
    std::optional<int64_t> interrupted_since;
  };
  // Sets the job that the next Train belongs to. All workers set it, or none.
  void set_job(std::optional<Job> job) {
    job_ = std::move(job);
    evaluation_metrics_.clear();
  }
  // Builds mode eval, so that later evaluations find it built, and checks it for mistakes. Returns the names of its
  // metrics. `training` is the program that trains; null if another process trains.
  absl::StatusOr<std::vector<std::string>> CheckEvaluation(const InputFn& input_fn, const EvaluateOptions& options,
                                                           const ModeProgram* training);
  // Why the training that is saving and ending now makes no further step; nothing while it makes steps.
  std::optional<StopReason> ending() const { return ending_; }
  // Says that the next Evaluate is evaluation number `which` of a job (TrainAndEvaluate); nothing: called by hand.
  void set_evaluation_of_job(std::optional<int> which) { evaluation_of_job_ = which; }
  // Calls input_fn and returns EvalScope::data for the data that it reads.
  absl::StatusOr<std::string> EvaluatedData(const InputFn& input_fn);
  void set_between_own_steps(bool between) { between_own_steps_ = between; }

  // In a cluster all processes call the following in the same order. The chief alone writes into model_dir.
  bool is_chief() const { return !cluster_.has_value() || cluster_->is_chief(); }
  // True if this process is a task of type evaluator, or (has_evaluator) the cluster has one.
  bool is_evaluator() const { return is_evaluator_; }
  bool has_evaluator() const { return has_evaluator_; }
  // True if parameter servers keep the variables (served), or this process is one of them (is_server).
  bool served() const { return served_ != nullptr; }
  bool is_server() const { return is_server_; }
  // Returns a variable as this worker last read it from the servers; nothing on the chief, which reads its own
  // checkpoint.
  std::optional<HostTensor> ServedValue(const std::string& name) const;
  // Runs a parameter server until the chief says that the job is done; returns at once when it was done before.
  absl::Status Serve(const InputFn& input_fn);
  // Meets the other workers, if there are any, before they do something together.
  absl::Status JoinWorkers();
  // Null if there are no other workers, and before JoinWorkers.
  WorkerGroup* workers() const { return joined_ != nullptr ? &joined_->workers() : nullptr; }
  // Returns this worker's GPUs for a strategy that names the GPUs `named`. If several workers on one machine all see
  // its GPUs, gpu:0 and the following are dealt out: each worker gets the next ones. Call after JoinWorkers.
  absl::StatusOr<std::vector<std::string>> OwnGpus(const std::vector<std::string>& named) const;
  // True if this process only replays a step of an earlier run (--replay_step): the Train that reaches the step replays
  // it, and all other calls do nothing.
  bool replays() const { return replayed_ != nullptr; }
  // Does `work`, which all workers do at the same time. If it fails here, the others end as well.
  absl::Status Together(const std::function<absl::Status()>& work);

 private:
  friend class Training;

  // The input of a call, and the program for it.
  struct Prepared {
    std::unique_ptr<BatchDealer> dealer;
    ModeProgram* program = nullptr;
    int replicas = 1;                // over all workers that take part
    WorkerGroup* workers = nullptr;  // null if this process works alone
    // Null unless each worker has an input of its own.
    std::unique_ptr<OwnInputs> own_inputs;
    std::unique_ptr<OwnBatches> own_batches;  // null unless each worker makes its own steps (parameter servers)

    BatchSource& source() const {
      if (own_batches != nullptr) return *own_batches;
      if (own_inputs != nullptr) return *own_inputs;
      return *dealer;
    }
    // Returns EvalScope::data; "" if each worker has an input of its own, of which only the chief's would be known.
    std::string EvaluatedData() const;
    int64_t batches() const { return own_inputs != nullptr ? own_inputs->batches() : dealer->batches(); }
    // Returns the position in the input; if the workers make their steps together, the position of all workers.
    absl::StatusOr<std::string> SavePosition() const;
    // FailedPrecondition for a position in another input, which then starts from its beginning.
    absl::Status RestorePosition(absl::string_view position) const;
    // Makes an input that has nothing left at a restored position report its end instead of starting again.
    void KeepEnd() const;
  };
  absl::StatusOr<Prepared> Prepare(Mode mode, const InputFn& input_fn);
  // Like Prepare, but makes no program.
  absl::StatusOr<Prepared> PrepareInput(Mode mode, const InputFn& input_fn, Params::Placement* placement);
  // Like Prepare, for mode eval; also InvalidArgument for an input that never ends without a number of steps.
  absl::StatusOr<Prepared> PrepareEvaluation(const InputFn& input_fn, const EvaluateOptions& options);
  // Returns the first error of a params value that was asked for as another kind, by input_fn, hooks or pipeline
  // functions (they have copies of the params) or by model_fn; they went on with a default value.
  absl::Status CheckParams(const ModeProgram& program) const;
  // Calls Begin of all hooks, then compiles the program with the tensors that they fetch.
  absl::Status Finalize(const Prepared& prepared, const HookList& hooks);
  // Returns the options to compile a program of `mode` for these devices, with `batch` rows each.
  absl::StatusOr<CompileOptions> OptionsFor(Mode mode, std::vector<std::string> devices, int64_t batch);
  // Makes the session for the program; call after Finalize. With `averages`, weights are read from their moving
  // averages if these are in memory.
  absl::Status BindVariables(const Prepared& prepared, bool averages);
  // Returns the moving averages in memory of a program's variables, by the variables' names.
  std::map<std::string, std::string> AveragesFor(const ModeProgram& program) const;
  // Returns the values of variables of a program or, with `averages`, of their moving averages if these are in memory.
  absl::StatusOr<std::vector<HostTensor>> ReadWeights(const ModeProgram& program, std::vector<std::string> names,
                                                      bool averages) const;
  const DistributionStrategy Strategy(Mode mode) const;
  // Sets the cluster from the RunConfig or the environment. Returns an error if the strategies do not fit it.
  absl::Status ResolveWorkers();
  // Returns the names of tensors that hooks of any worker fetch: all workers compile one program.
  absl::StatusOr<ModeProgram::Fetches> FetchesOfAll(WorkerGroup& workers, const ModeProgram::Fetches& mine);
  // Returns an error unless all workers have the same program, numbers from model_fn, data, and order of the input.
  absl::Status AgreeOnWork(const Prepared& prepared);
  // Returns the values of the program's variables, their step and the seed.
  absl::StatusOr<CheckpointData> ValuesInMemory(const ModeProgram& program) const;
  // Gives the chief's variables and seed to the other workers, which have initialised theirs: with another seed, or
  // from a warm-start file that exists on one machine only.
  absl::Status TakeValuesOfChief(const Prepared& prepared);
  // Sets up a loop of several workers: they agree before each step on whether to stop.
  void MeetBetweenSteps(const Prepared& prepared, LoopOptions* loop);
  // Returns the error for a loop that a signal ended, here or at another worker.
  absl::Status SignalErrorOf(const LoopResult& result, absl::string_view detail) const;

  // estimator_served.cc: with parameter servers
  absl::Status ResolveServers(const Cluster& cluster);
  StepPart PartOfStep(Mode mode) const;
  // Before a training's first step: takes the servers' values and step or, if they have none, gives them the chief's.
  absl::Status BeginServed(const Prepared& prepared);
  // Restores this worker's input position from a checkpoint; the chief also keeps those of the others for BeginServed.
  // FailedPrecondition for other inputs.
  absl::Status RestoreServed(const Prepared& prepared, const std::string& position);
  // Returns the input positions of all workers, for a checkpoint with the values that the chief has read.
  absl::StatusOr<std::string> ServedPositions(const Prepared& prepared) const;
  // Returns the number of examples in one round of batches of all workers.
  int64_t RoundOf(const Prepared& prepared) const;
  // Returns the numbers that model_fn gave, such as "learning_rate: 0.5"; all tasks must have the same.
  static std::string NumbersOf(const ModeProgram& program);
  // Returns facts that must be the same on all tasks.
  std::map<std::string, std::string> ServedFacts(const Prepared& prepared) const;
  // During a training: notes that the values in memory are those of the servers' step.
  absl::Status TakeServedStep();
  // The reason if the chief wants this worker to end its training; nothing otherwise.
  std::optional<StopReason> WishOfChief() const;
  // Tells the servers that this worker makes no more steps, for that reason. The chief also waits for the others and
  // reads the final values. Returns the reason, or kSignal if a signal ended the wait.
  absl::StatusOr<StopReason> EndServed(StopReason reason);
  // On the chief: reads all values and their step from the servers.
  absl::Status ReadServed();

  // estimator_record.cc
  // Returns a runner that records in model_dir the steps that `runner`, a training's, makes; null if nothing is to be
  // recorded. Both arguments must outlive it.
  std::unique_ptr<StepRunner> RecordSteps(const Prepared& prepared, StepRunner* runner);
  // Returns what a training begins with, without its step and input position; with `compiled` false, also without what
  // the compiler chose.
  RunStart DescribeStart(const Prepared& prepared, bool compiled = true) const;

  // Writes the description of the run that RecordSteps has prepared, once. Call while the training still exists.
  void DescribeRun();

  // estimator_replay.cc
  class Replay;
  absl::Status ReplayTraining(const InputFn& input_fn, const TrainOptions& options);

  // estimator_warnings.cc
  // Warns if the input never ends and no number of steps is set.
  void WarnIfEndless(const TrainOptions& options, const BatchDealer& dealer) const;
  // Before the first step: warns if the input has a known length and fewer steps than `options` ask for.
  void WarnIfShort(const TrainOptions& options, const BatchDealer& dealer);
  // Warns if the input has ended after `steps` steps of this call, before those that `options` ask for, unless
  // WarnIfShort has warned.
  void WarnOfEndedInput(const TrainOptions& options, const BatchDealer& dealer, int64_t steps) const;
  // Watches summaries and metrics of a training for values that are not finite; null if there are none.
  std::unique_ptr<WatchedValues> MakeWatchedValues(const ModeProgram& program) const;
  // Warns of likely mistakes after a call of model_fn; each line once, also if several modes have it.
  void WarnOfModel(const ModeProgram& program);
  // Warns of params that were never read; once, after model_fn, input_fn and hooks could have read them.
  void WarnOfUnreadParams();

  // Gives a new model its first values: those of the initialisers, then those of warm_start_from.
  absl::Status InitializeVariables(const ModeProgram& program);

  // True if AssignVariables has given values that no training has begun with and that are not in memory yet.
  bool AssignedIsDue() const { return !assigned_.empty() && (assigned_anew_ || !resident_.assigned()); }
  // Writes the assigned values over the program's values in memory. A program that does not train may lack some of the
  // variables. InvalidArgument for values that do not fit.
  absl::Status ApplyAssigned(const ModeProgram& program);
  // For a model that nobody has trained: sets first values, then the assigned ones.
  absl::Status InitializeAssigned(const ModeProgram& program);
  // The variables outside of a training, without the assigned values.
  struct StoredVariables;
  absl::StatusOr<StoredVariables> StoredOutsideTraining();
  absl::Status CheckHasVariables(absl::string_view method) const;

  // estimator_train.cc
  // Returns the checkpoint that a training goes on from, the chief's on all workers; nothing if it starts from values
  // in memory or first values.
  absl::StatusOr<std::optional<CheckpointData>> StartingPoint();
  absl::Status StartFrom(const std::optional<CheckpointData>& start, const Prepared& prepared, bool input_from_start);
  // Takes a snapshot and starts writing it; writing goes on during the next steps (CheckpointSaverHook's finish_save).
  absl::Status Save(const Prepared& prepared, int64_t step);
  absl::Status FinishSave(bool wait);
  // Sets the best evaluations up to the step that training starts from, from its checkpoint and the logs.
  absl::Status RestoreBest(const CheckpointData& start, const std::string& path);
  // Adds the evaluations up to a global step from the logs in model_dir to `best`; warns if they cannot be read.
  void AddFromLogs(int64_t last_step, BestRecords& best) const;
  // Returns the event file of a directory; null if event files are off.
  std::shared_ptr<EventWriter> SummariesIn(const std::string& directory);
  // estimator_summaries.cc: this process's hooks that write a training's event files; none if event files are off.
  HookList SummaryHooks(const Prepared& prepared);
  HookList TrainHooks(const TrainOptions& options, const Prepared& prepared, int64_t restored_step,
                      const HookList& evaluations = {});
  void LogModel(const Prepared& prepared);

  // NotFound for a model_dir that does not exist, so that an evaluation or prediction does not create a mistyped one.
  absl::Status CheckModelDirExists(const std::string& checkpoint_path) const;
  // Returns an error if the trace file cannot be written.
  absl::Status CheckOutputs() const;
  // Notes an error of writing traces and returns the first one, once, outside of trainings: it must not end a training.
  absl::Status TakeTraceStatus(const absl::Status& of_loop);

  // Loads the weights for an evaluation or prediction into memory. Returns true if they are this model's own: trained
  // here, or of a checkpoint in model_dir.
  absl::StatusOr<bool> LoadForInference(const Prepared& prepared, const std::string& checkpoint_path, const char* what);
  absl::StatusOr<bool> LoadAlone(const ModeProgram& program, const std::string& checkpoint_path, const char* what);
  absl::StatusOr<EvalResult> EvaluateTogether(const InputFn& input_fn, const EvaluateOptions& options);
  // True if an evaluation is compared with earlier ones to find the best. It must be one of the model's own weights
  // that no hook has stopped; `dir` has its log.
  bool IsCompared(const std::string& dir, const EvalScope& scope) const;

  ModelFn model_fn_;
  absl::Status replay_status_;             // error of opening replayed_
  std::shared_ptr<ReplayedRun> replayed_;  // null unless a step is replayed
  int64_t replay_position_ = 0;            // the step that the skipped calls of Train would have reached
  bool temporary_model_dir_ = false;
  RunConfig config_;
  Params params_;
  InputSpec input_spec_;
  absl::Status status_;  // error of the configuration
  // set if there are several workers or parameter servers, this process being one task
  std::optional<Cluster> cluster_;
  bool is_evaluator_ = false, has_evaluator_ = false;
  std::shared_ptr<JoinedWorkers> joined_;
  std::unique_ptr<ServedVariables> served_;  // null without parameter servers
  absl::Status served_status_;               // result of the chief's work so far, sent to the servers at the end
  ServedVariables::Positions first_positions_;
  bool is_server_ = false, server_has_ended_ = false;
  int64_t served_training_ = 0;  // number of the training, from 1 on
  int tasks_here_ = 1;           // tasks of a cluster with parameter servers on this machine
  std::unique_ptr<StallWatch> stall_watch_;
  CheckpointManager checkpoints_;
  ResidentState resident_;
  std::shared_ptr<ThreadPool> pool_;
  std::optional<std::string> user_cache_;                         // UserProgramCache(), once it was needed
  std::unique_ptr<Tracer> tracer_;                                // null if nothing is traced
  absl::Status trace_status_;                                     // first error of loops inside of Train
  std::map<std::string, std::unique_ptr<ModeProgram>> programs_;  // by mode and input signature
  int64_t programs_built_ = 0;
  bool short_input_said_ = false;                                  // by WarnIfShort, for this training
  bool params_looked_at_ = false;                                  // by WarnOfUnreadParams
  std::set<std::string> warned_of_model_;                          // lines logged by WarnOfModel
  bool model_logged_ = false;                                      // by LogModel
  std::map<std::string, std::shared_ptr<EventWriter>> summaries_;  // by directory
  bool model_shown_ = false;  // the event files have its graphs and hyperparameters
  std::shared_ptr<SummaryWarnings> summary_warnings_ = std::make_shared<SummaryWarnings>();

  // State of the training, besides its values.
  uint64_t seed_ = 0;
  BackgroundSave saving_;
  std::shared_ptr<CheckpointSaverHook> saver_;  // of the training; null unless this is the chief and checkpoints are on
  std::string data_fingerprint_;                // of the training's input; may be empty
  std::function<void()> describe_run_;          // null if there is nothing to write
  std::unique_ptr<StepsWriter> steps_writer_;   // null until something is recorded
  bool other_data_ = false;     // the data differ from those of the checkpoint that training goes on from
  std::string iterator_state_;  // input position at the end of the last Train, for trainings without checkpoints
  BestRecords best_;
  int64_t evaluations_ = 0;
  bool trains_here_ = false;  // a training of this process has begun
  int64_t best_step_ = -1;    // step of this process's last evaluation that was the best so far by keep_best; -1: none
  StepScalarSettings step_scalars_;
  HookList hooks_;          // of the running training
  HookStates hook_states_;  // of the running or the last training
  // Values that AssignVariables was given outside of a training; they replace what is loaded until a training has begun
  // with them.
  NamedTensors assigned_;
  bool assigned_anew_ = false;  // assigned_ has changed since it was written into memory
  std::optional<int64_t> assigned_step_;
  std::optional<TrainResult> last_train_;
  std::optional<Job> job_;
  // The metrics' names of the job's checked evaluations, by evaluation name.
  std::map<std::string, std::vector<std::string>> evaluation_metrics_;
  std::optional<StopReason> ending_;
  std::optional<int> evaluation_of_job_;
  // in a MonitoredTrainingSession, outside of its calls: all workers make the same call now
  bool between_own_steps_ = false;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_ESTIMATOR_IMPL_H_
