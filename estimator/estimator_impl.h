// The inside of Estimator, shared by the files that implement its calls.
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
#include "runtime/thread_pool.h"

namespace tandem {

// The numbers of a result for an event file, but for the loss and the step.
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
  // The step that the next Train goes on from.
  absl::Status CheckNextStep(int64_t step) const;
  void set_next_step(int64_t step) { assigned_step_ = step; }

  absl::Status Train(const InputFn& input_fn, const TrainOptions& options);
  // FailedPrecondition for a process that does not train.
  absl::Status CheckTrains() const;
  absl::StatusOr<EvalResult> Evaluate(const InputFn& input_fn, const EvaluateOptions& options);
  absl::Status Predict(const InputFn& input_fn, const PredictFn& on_prediction, const PredictOptions& options);

  // What a ServingInput says, its input_fn asked.
  struct ServingShape {
    std::vector<ComponentSpec> components;  // labels too, where the input_fn has them
    int64_t rows_per_step = 0;
  };
  absl::StatusOr<ServingShape> ShapeOf(const ServingInput& serving_input) const;
  // Builds and compiles what ExportModel needs.
  absl::StatusOr<ModeProgram*> ProgramForExport(const ServingShape& shape);
  absl::StatusOr<std::string> ExportModel(const std::string& export_dir_base, const ServingShape& shape,
                                          const ExportOptions& options);
  // Whether this process is one that exports when all of a cluster call it.
  bool exports() const { return is_chief() || is_evaluator(); }

  absl::StatusOr<std::unique_ptr<Predictor>> MakePredictor(const std::vector<ComponentSpec>& features,
                                                           const PredictorOptions& options);

  const RunConfig& config() const { return config_; }
  const absl::Status& status() const { return status_; }
  CheckpointManager& checkpoints() { return checkpoints_; }
  // As CheckpointManager's.
  absl::StatusOr<std::optional<std::string>> LatestCheckpoint(absl::string_view in_memory = "");
  const std::optional<TrainResult>& last_train() const { return last_train_; }
  int64_t global_step() const { return resident_.global_step(); }
  // Of the training: what hooks set.
  StepScalarSettings& step_scalars() { return step_scalars_; }
  // The best evaluations of this process's training, or else those that trainings have left in model_dir.
  BestRecords BestOnRecord() const;
  int64_t programs_built() const { return programs_built_; }
  int64_t evaluations() const { return evaluations_; }

  // A TrainAndEvaluate.
  struct Job {
    // Before anything is trained, with the program that is: what is wrong with the evaluations, as far as that can be
    // known. Null where another process makes them.
    std::function<absl::Status(const ModeProgram& training)> check_evaluations;
    // Makes the hooks that stand behind the checkpoint saver: those that evaluate, or go by evaluations.
    std::function<absl::StatusOr<HookList>(const BatchDealer&)> evaluation_hooks;
    // The step at which it began, where it was interrupted: an input that has nothing left behind later ones has ended.
    std::optional<int64_t> interrupted_since;
  };
  // The job whose training the next Train is. All workers set it, or none.
  void set_job(std::optional<Job> job) {
    job_ = std::move(job);
    evaluation_metrics_.clear();
  }
  // Builds mode eval for evaluations to come, which find it built, and looks for mistakes in it and in what goes by its
  // metrics, whose names it returns. `training`: the program that trains; null where another process does.
  absl::StatusOr<std::vector<std::string>> CheckEvaluation(const InputFn& input_fn, const EvaluateOptions& options,
                                                           const ModeProgram* training);
  // Why the training that saves and ends now has no further step; nothing while it makes steps.
  std::optional<StopReason> ending() const { return ending_; }
  // Says that Evaluate is called by a job, TrainAndEvaluate, for its evaluation of that number; nothing: by hand.
  void set_evaluation_of_job(std::optional<int> which) { evaluation_of_job_ = which; }
  // EvalScope::data of what that input_fn reads for evaluations. The input_fn is called.
  absl::StatusOr<std::string> EvaluatedData(const InputFn& input_fn);
  void set_between_own_steps(bool between) { between_own_steps_ = between; }

  // In a cluster all processes call what is here in the same order. The chief alone writes into model_dir.
  bool is_chief() const { return !cluster_.has_value() || cluster_->is_chief(); }
  // Whether this process is a task of type evaluator, or one is in the cluster.
  bool is_evaluator() const { return is_evaluator_; }
  bool has_evaluator() const { return has_evaluator_; }
  // Whether parameter servers keep the variables, and this process is one of them.
  bool served() const { return served_ != nullptr; }
  bool is_server() const { return is_server_; }
  // A variable as this worker last read it of its servers; nothing on the chief, which saves what it has.
  std::optional<HostTensor> ServedValue(const std::string& name) const;
  // A parameter server's work, until the chief says that the job is done; then it returns at once.
  absl::Status Serve(const InputFn& input_fn);
  // Meets the other workers, where there are any, before they do something together.
  absl::Status JoinWorkers();
  // Null without other workers, and before JoinWorkers.
  WorkerGroup* workers() const { return joined_ != nullptr ? &joined_->workers() : nullptr; }
  // The GPUs of this worker, of which a strategy names `named`: where several workers are on one machine and see all of
  // its GPUs, gpu:0 and those behind it are each worker's next ones. After JoinWorkers.
  absl::StatusOr<std::vector<std::string>> OwnGpus(const std::vector<std::string>& named) const;
  // Whether nothing is trained, and a step of a run is made again: of calls that train the one that makes the step does
  // that, and other calls do nothing.
  bool replays() const { return replayed_ != nullptr; }
  // `work`, which all workers do. When it fails here, the others end as well.
  absl::Status Together(const std::function<absl::Status()>& work);

 private:
  friend class Training;

  // The input of a call and the program for it.
  struct Prepared {
    std::unique_ptr<BatchDealer> dealer;
    ModeProgram* program = nullptr;
    int replicas = 1;                // of all workers that take part
    WorkerGroup* workers = nullptr;  // null where this process does it alone
    // Null but for workers that have an input of their own each.
    std::unique_ptr<OwnInputs> own_inputs;
    std::unique_ptr<OwnBatches> own_batches;  // null but for workers that make their steps by themselves

    BatchSource& source() const {
      if (own_batches != nullptr) return *own_batches;
      if (own_inputs != nullptr) return *own_inputs;
      return *dealer;
    }
    // EvalScope::data. Of inputs of one's own only the chief's would be known.
    std::string EvaluatedData() const;
    int64_t batches() const { return own_inputs != nullptr ? own_inputs->batches() : dealer->batches(); }
    // The position in the input; of all workers together, where they make their steps together.
    absl::StatusOr<std::string> SavePosition() const;
    // FailedPrecondition for a position in another input; then it starts from its beginning.
    absl::Status RestorePosition(absl::string_view position) const;
    // An input that has nothing left at a restored position does not start again.
    void KeepEnd() const;
  };
  absl::StatusOr<Prepared> Prepare(Mode mode, const InputFn& input_fn);
  // The same without the program.
  absl::StatusOr<Prepared> PrepareInput(Mode mode, const InputFn& input_fn, Params::Placement* placement);
  // For mode eval; InvalidArgument too for an input that has no end.
  absl::StatusOr<Prepared> PrepareEvaluation(const InputFn& input_fn, const EvaluateOptions& options);
  // What input_fn, hooks and functions of the pipeline, which have copies of the params, or those of model_fn have
  // asked of them as another kind than it is: they went on with a default.
  absl::Status CheckParams(const ModeProgram& program) const;
  // Begin of all hooks, then compilation with what they fetch.
  absl::Status Finalize(const Prepared& prepared, const HookList& hooks);
  // How a program is compiled for these devices, with `batch` rows each.
  absl::StatusOr<CompileOptions> OptionsFor(Mode mode, std::vector<std::string> devices, int64_t batch);
  // After Finalize: makes the session for the program. `averages`: its weights are read from their moving averages,
  // where these are in memory.
  absl::Status BindVariables(const Prepared& prepared, bool averages);
  // The moving averages in memory of a program's variables, by the variables' names.
  std::map<std::string, std::string> AveragesFor(const ModeProgram& program) const;
  // Values of variables of a program, or with `averages` those of their moving averages, where these are in memory.
  absl::StatusOr<std::vector<HostTensor>> ReadWeights(const ModeProgram& program, std::vector<std::string> names,
                                                      bool averages) const;
  const DistributionStrategy Strategy(Mode mode) const;
  // Whether the environment or the RunConfig describes a cluster that these strategies fit.
  absl::Status ResolveWorkers();
  // The names of tensors that hooks of any worker fetch: all compile one program.
  absl::StatusOr<ModeProgram::Fetches> FetchesOfAll(WorkerGroup& workers, const ModeProgram::Fetches& mine);
  // That all workers have the same program, numbers of model_fn, data, and order of the input.
  absl::Status AgreeOnWork(const Prepared& prepared);
  // The values of the program's variables, their step and the seed.
  absl::StatusOr<CheckpointData> ValuesInMemory(const ModeProgram& program) const;
  // The chief's variables and seed, for the others that have made theirs: of another seed, or of a file that a warm
  // start finds on one machine only.
  absl::Status TakeValuesOfChief(const Prepared& prepared);
  // For loops of several workers.
  void MeetBetweenSteps(const Prepared& prepared, LoopOptions* loop);
  // How a loop that a signal ended, here or at another worker, is reported.
  absl::Status SignalErrorOf(const LoopResult& result, absl::string_view detail) const;

  // estimator_served.cc: with parameter servers
  absl::Status ResolveServers(const Cluster& cluster);
  StepPart PartOfStep(Mode mode) const;
  // The servers' values and step in memory, or the chief's there, before a training's first step.
  absl::Status BeginServed(const Prepared& prepared);
  // Goes to where a checkpoint has this worker's input; the chief notes where it has those of the others, for
  // BeginServed. FailedPrecondition for other inputs.
  absl::Status RestoreServed(const Prepared& prepared, const std::string& position);
  // Where the inputs of all workers are, for a checkpoint with the values that the chief has read.
  absl::StatusOr<std::string> ServedPositions(const Prepared& prepared) const;
  // Examples in a round of batches of all workers.
  int64_t RoundOf(const Prepared& prepared) const;
  // The numbers that a model_fn gave, which tasks must have in common: "learning_rate: 0.5".
  static std::string NumbersOf(const ModeProgram& program);
  // What all tasks have in common.
  std::map<std::string, std::string> ServedFacts(const Prepared& prepared) const;
  // Inside of a training: the values in memory are those of the servers' step.
  absl::Status TakeServedStep();
  // Whether the chief wants this worker to end its training.
  std::optional<StopReason> WishOfChief() const;
  // This worker makes no steps any more, for that reason. On the chief: waits for the others, and reads the values that
  // they leave. Gives the reason, or kSignal where one has ended the wait.
  absl::StatusOr<StopReason> EndServed(StopReason reason);
  // The chief's: all values as the servers have them, and their step.
  absl::Status ReadServed();

  // estimator_record.cc
  // A runner that records in model_dir what `runner`, a training's, does; null where nothing is to be recorded. Both
  // arguments must outlive it.
  std::unique_ptr<StepRunner> RecordSteps(const Prepared& prepared, StepRunner* runner);
  // What a training begins with, but for the step and the input's position; and before it is compiled, but for what the
  // compiler chose.
  RunStart DescribeStart(const Prepared& prepared, bool compiled = true) const;

  // Writes what RecordSteps has found out of the run, unless that is done. While the training is there.
  void DescribeRun();

  // estimator_replay.cc
  class Replay;
  absl::Status ReplayTraining(const InputFn& input_fn, const TrainOptions& options);

  // estimator_warnings.cc
  // An input without an end, and no number of steps.
  void WarnIfEndless(const TrainOptions& options, const BatchDealer& dealer) const;
  // Before the first step: an input of known length that has fewer steps than `options` ask for.
  void WarnIfShort(const TrainOptions& options, const BatchDealer& dealer);
  // An input that has ended after `steps` steps of this call, before those that `options` ask for, unless WarnIfShort
  // has said it.
  void WarnOfEndedInput(const TrainOptions& options, const BatchDealer& dealer, int64_t steps) const;
  // Of numbers of a training that are only watched; null where there are none.
  std::unique_ptr<WatchedValues> MakeWatchedValues(const ModeProgram& program) const;
  // When model_fn was called: each line once, also where several modes have the same.
  void WarnOfModel(const ModeProgram& program);
  // Once, when model_fn, input_fn and hooks have had their chance to ask.
  void WarnOfUnreadParams();

  // First values for a new model: the initialisers, and what warm_start_from has.
  absl::Status InitializeVariables(const ModeProgram& program);

  // Whether AssignVariables has given values that no training has begun with, and which are not in memory yet.
  bool AssignedIsDue() const { return !assigned_.empty() && (assigned_anew_ || !resident_.assigned()); }
  // Puts them over the values of the program in memory. A program that does not train may have less variables.
  // InvalidArgument for values that do not fit.
  absl::Status ApplyAssigned(const ModeProgram& program);
  // For a model that nobody has trained: first values, and those that were assigned.
  absl::Status InitializeAssigned(const ModeProgram& program);
  // The variables outside of a training, without what was assigned.
  struct StoredVariables;
  absl::StatusOr<StoredVariables> StoredOutsideTraining();
  absl::Status CheckHasVariables(absl::string_view method) const;

  // estimator_train.cc
  // The chief's, on all workers.
  absl::StatusOr<std::optional<CheckpointData>> StartingPoint();
  absl::Status StartFrom(const std::optional<CheckpointData>& start, const Prepared& prepared, bool input_from_start);
  // Only the snapshot: writing goes on behind the next steps (CheckpointSaverHook's finish_save).
  absl::Status Save(const Prepared& prepared, int64_t step);
  absl::Status FinishSave(bool wait);
  // The best evaluations up to the step that training starts from, by its checkpoint and by the logs.
  absl::Status RestoreBest(const CheckpointData& start, const std::string& path);
  // Adds to `best` what the logs in model_dir have up to that global step; a warning where they cannot be read.
  void AddFromLogs(int64_t last_step, BestRecords& best) const;
  // The event file of a directory; null when there are to be none.
  std::shared_ptr<EventWriter> SummariesIn(const std::string& directory);
  // estimator_summaries.cc: the hooks of this process that write about a training; none where there are no event files.
  HookList SummaryHooks(const Prepared& prepared);
  HookList TrainHooks(const TrainOptions& options, const Prepared& prepared, int64_t restored_step,
                      const HookList& evaluations = {});
  void LogModel(const Prepared& prepared);

  // NotFound for a model_dir that an evaluation or prediction would have to make: its name is mistyped.
  absl::Status CheckModelDirExists(const std::string& checkpoint_path) const;
  // Whether what a call is to write besides the model can be written.
  absl::Status CheckOutputs() const;
  // The first error of writing traces, once, where no training goes on: it must not end one.
  absl::Status TakeTraceStatus(const absl::Status& of_loop);

  // Brings the weights for an evaluation or prediction into memory. True when they are this model's own: trained here,
  // or of a checkpoint in model_dir.
  absl::StatusOr<bool> LoadForInference(const Prepared& prepared, const std::string& checkpoint_path, const char* what);
  absl::StatusOr<bool> LoadAlone(const ModeProgram& program, const std::string& checkpoint_path, const char* what);
  absl::StatusOr<EvalResult> EvaluateTogether(const InputFn& input_fn, const EvaluateOptions& options);
  // Whether an evaluation of the model's own weights, that no hook has stopped and whose log is in `dir`, is compared
  // with those before.
  bool IsCompared(const std::string& dir, const EvalScope& scope) const;

  ModelFn model_fn_;
  absl::Status replay_status_;             // of opening what follows
  std::shared_ptr<ReplayedRun> replayed_;  // null unless a step is to be made again
  int64_t replay_position_ = 0;            // the step that calls of Train which were passed over would have come to
  bool temporary_model_dir_ = false;
  RunConfig config_;
  Params params_;
  InputSpec input_spec_;
  absl::Status status_;             // of the configuration
  std::optional<Cluster> cluster_;  // of several workers, this process one of them
  bool is_evaluator_ = false, has_evaluator_ = false;
  std::shared_ptr<JoinedWorkers> joined_;
  std::unique_ptr<ServedVariables> served_;  // null without parameter servers
  absl::Status served_status_;               // of what the chief has done
  ServedVariables::Positions first_positions_;
  bool is_server_ = false, server_has_ended_ = false;
  int64_t served_training_ = 0;  // the number of the training, from 1 on
  int tasks_here_ = 1;           // of a cluster with parameter servers, on this machine
  std::unique_ptr<StallWatch> stall_watch_;
  CheckpointManager checkpoints_;
  ResidentState resident_;
  std::shared_ptr<ThreadPool> pool_;
  std::optional<std::string> user_cache_;                         // UserProgramCache, once it was asked for
  std::unique_ptr<Tracer> tracer_;                                // null without a trace
  absl::Status trace_status_;                                     // of loops inside of Train
  std::map<std::string, std::unique_ptr<ModeProgram>> programs_;  // by mode and input signature
  int64_t programs_built_ = 0;
  bool short_input_said_ = false;                                  // WarnIfShort, of the training
  bool params_looked_at_ = false;                                  // WarnOfUnreadParams
  std::set<std::string> warned_of_model_;                          // WarnOfModel
  bool model_logged_ = false;                                      // LogModel says it once
  std::map<std::string, std::shared_ptr<EventWriter>> summaries_;  // by directory
  bool model_shown_ = false;                                       // its graphs and hyperparameters are in them
  std::shared_ptr<SummaryWarnings> summary_warnings_ = std::make_shared<SummaryWarnings>();

  // The training's, besides its values.
  uint64_t seed_ = 0;
  BackgroundSave saving_;
  std::shared_ptr<CheckpointSaverHook> saver_;  // of the training, on the chief where checkpoints are on
  std::string data_fingerprint_;                // of the training's input; may be empty
  std::function<void()> describe_run_;          // null where there is nothing to write
  std::unique_ptr<StepsWriter> steps_writer_;   // null before anything is recorded
  bool other_data_ = false;                     // than those of the checkpoint that training goes on from
  std::string iterator_state_;                  // at the end of the last Train, for jobs without checkpoints
  BestRecords best_;
  int64_t evaluations_ = 0;
  bool trains_here_ = false;  // a training of this process has begun
  int64_t best_step_ = -1;    // of the last evaluation that keep_best found to be the best so far, in this process
  StepScalarSettings step_scalars_;
  HookList hooks_;          // of the training that goes on
  HookStates hook_states_;  // of it, or of the last one
  // What AssignVariables was given outside of a training, over what is loaded, until one has begun with it.
  NamedTensors assigned_;
  bool assigned_anew_ = false;  // since it was put over the values in memory
  std::optional<int64_t> assigned_step_;
  std::optional<TrainResult> last_train_;
  std::optional<Job> job_;
  // Of the job's evaluations that are checked, by their name.
  std::map<std::string, std::vector<std::string>> evaluation_metrics_;
  std::optional<StopReason> ending_;
  std::optional<int> evaluation_of_job_;
  bool between_own_steps_ = false;  // of a MonitoredTrainingSession: what is called now, all workers call
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_ESTIMATOR_IMPL_H_
