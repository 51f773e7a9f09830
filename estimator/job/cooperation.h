// Cooperation: how this process works on a job, such as a training, together with other processes, if there are others.
#ifndef TANDEM_ESTIMATOR_JOB_COOPERATION_H_
#define TANDEM_ESTIMATOR_JOB_COOPERATION_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/checkpoint/checkpoint.h"
#include "estimator/config/auto_shard.h"
#include "estimator/config/mode.h"
#include "estimator/config/run_config.h"
#include "estimator/config/strategy.h"
#include "estimator/loop/batch_dealer.h"
#include "estimator/loop/run_loop.h"
#include "estimator/loop/stall_watch.h"
#include "estimator/loop/worker_input.h"
#include "estimator/model/mode_program.h"
#include "estimator/model/resident_state.h"
#include "graph/parameter_servers.h"
#include "runtime/session/session.h"
#include "runtime/threads/thread_pool.h"

namespace tandem {

// A process works
//   alone (this class), as a task of type evaluator does;
//   with others synchronously (SynchronousWorkers): all workers compute a part of each step;
//   with others asynchronously (ServedWorker, ParameterServerTask): each worker makes steps of its own, on variables
//   that parameter servers keep.
// Each method does a part of an Estimator's work that differs in these cases; in this class most methods do nothing or
// return their argument. All processes call them in the same order. If one of them fails, so does the job.
class Cooperation {
 public:
  // The parts of the Estimator that a cooperation uses. They must outlive the cooperation.
  struct Context {
    const RunConfig& config;
    StallWatch& stall_watch;
    ResidentState& resident;
  };

  // `is_evaluator`: this process is a task of type evaluator. `has_evaluator`: the cluster has such a task.
  explicit Cooperation(bool is_evaluator = false, bool has_evaluator = false)
      : is_evaluator_(is_evaluator), has_evaluator_(has_evaluator) {}
  virtual ~Cooperation() = default;
  Cooperation(const Cooperation&) = delete;
  Cooperation& operator=(const Cooperation&) = delete;

  // True if this process writes into model_dir.
  virtual bool is_chief() const { return true; }
  virtual bool is_server() const { return false; }
  bool is_evaluator() const { return is_evaluator_; }
  bool has_evaluator() const { return has_evaluator_; }
  virtual int64_t rank() const { return 0; }
  // True if other workers compute a part of each step, so that all must have the same variables.
  virtual bool synchronous() const { return false; }
  // True if other workers change the variables between this worker's steps.
  virtual bool asynchronous() const { return false; }
  // Returns the number of processes on this machine that compute, this one included.
  virtual int processes_here() const { return 1; }

  // Returns the cooperation to use in calls of a mode: this object or, if each process makes such calls by itself, one
  // that works alone.
  virtual Cooperation& In(Mode mode) { return *this; }

  // How many workers share the input of a mode, and how many compute each step together.
  struct Share {
    int workers = 1;       // number of workers that share the input
    int worker = 0;        // number of this worker, counted from 0
    int step_workers = 1;  // number of workers that compute a part of each step
    AutoShard input = AutoShard::kBatch;
  };
  virtual Share ShareOf(Mode mode) const { return {}; }
  // Returns which part of a training's step this process computes: all of it or, with parameter servers, the gradients
  // of a worker or the updates of one server.
  virtual StepPart PartOfStep() const { return {}; }
  // Returns the source of the batches for this process's steps. `share` is what ShareOf returns for the mode; `dealer`,
  // which draws the batches, must outlive it.
  virtual std::unique_ptr<WorkerInput> MakeInput(const Share& share, BatchDealer* dealer);

  // Connects to the other workers, unless that has happened already.
  virtual absl::Status Join() { return absl::OkStatus(); }
  // Call with the result of work that all processes do at the same time. After an error the calls of the other
  // processes fail too. Returns the error, with the process that caused it if that is known.
  virtual absl::Status Ended(const absl::Status& status) { return status; }

  // Returns InvalidArgument (exit code 2), on all workers, unless all pass the same `value` for `what`. The message
  // ends with `remedy`.
  virtual absl::Status Agree(absl::string_view what, absl::string_view value, absl::string_view remedy) {
    return absl::OkStatus();
  }
  // Returns an error unless all workers have the same program, numbers from model_fn, data, and order of the input.
  virtual absl::Status AgreeOnWork(const ModeProgram& program, const WorkerInput& input, BatchDealer& dealer) {
    return absl::OkStatus();
  }
  // Returns the tensors that hooks of this worker (`mine`) or of any other one fetch, because all workers compile the
  // same program.
  virtual absl::StatusOr<ModeProgram::Fetches> FetchesOfAll(const ModeProgram& program, ModeProgram::Fetches mine) {
    return mine;
  }
  // If the workers are synchronous, these return the chief's argument on all workers, because only the chief needs to
  // see model_dir.
  virtual absl::StatusOr<std::string> TextFromChief(std::string mine, absl::string_view what) { return mine; }
  virtual absl::StatusOr<std::optional<CheckpointData>> CheckpointFromChief(std::optional<CheckpointData> mine) {
    return mine;
  }
  // Sets the process group and the devices of a session. `strategy` is that of the session's mode.
  virtual absl::Status ConfigureSession(const DistributionStrategy& strategy, Session::Options* session) {
    return absl::OkStatus();
  }
  // Makes the workers of a loop agree before each step on whether to stop. `scalars` returns a fingerprint of the
  // step's scalars, which must be the same on all workers.
  virtual void ConfigureLoop(LoopOptions* loop, std::function<uint64_t()> scalars) {}

  // Returns a runner that makes a training's steps in place of the program's own runner; null: the program's own makes
  // them.
  virtual std::unique_ptr<StepRunner> MakeRunner(ModeProgram& program) { return nullptr; }
  // Call when the variables have the values that a training starts with: begins the training and its loop. The chief's
  // hooks see these values before any worker makes a step, so that they can end the training without a step.
  virtual absl::Status BeginTraining(ModeProgram& program, WorkerInput& input, StepLoop& loop) { return loop.Begin(); }
  // Call when this process makes no more steps, before the hooks' End. Returns why the training ends: `reason`, or what
  // has ended it while this process waited for others, such as a signal.
  virtual absl::StatusOr<StopReason> EndSteps(StopReason reason) { return reason; }
  // Call after the hooks' End. On the chief, a hook's End may evaluate; the other workers wait in this call and take
  // part in such an evaluation.
  virtual absl::Status MeetAtEnd() { return absl::OkStatus(); }
  // Call when a training is over, also after an error.
  virtual void TrainingOver() {}
  // Call on the chief before it saves a checkpoint. With parameter servers, reads the newest values and the workers'
  // input positions from them, and sets *step to the step of these values. Workers with inputs of their own are told to
  // send their positions.
  virtual absl::Status PrepareSave(int64_t* step) { return absl::OkStatus(); }

  // Call before an evaluation, also before one inside of a training. `number` is the index of the job's evaluation
  // (EvalSpec), counted from 0.
  virtual absl::Status MeetForEvaluation(uint64_t number) { return absl::OkStatus(); }
  // Called on workers other than the chief when the chief has announced an evaluation inside of a training, with that
  // number. May be null.
  using OnEvaluate = std::function<absl::Status(uint64_t number)>;
  virtual void set_on_evaluate(OnEvaluate on_evaluate) {}
  // Set to true while a MonitoredTrainingSession is between two steps of the user's own loop, where all workers make
  // the same calls.
  virtual void set_between_own_steps(bool between) {}

  // Runs a parameter server until the chief says that the job is done. The input of `dealer` is not read, but its
  // description must be the same as on the workers.
  virtual absl::Status Serve(const ModeProgram& program, const BatchDealer& dealer, std::shared_ptr<ThreadPool> pool) {
    return absl::FailedPreconditionError("this process is no parameter server");
  }
  // True if Serve has run until the job ended.
  virtual bool has_served() const { return false; }

  // Return log lines that say which processes take part (WorkersText) and whether the workers share the input
  // (InputText); empty if there is nothing to say.
  virtual std::string WorkersText() const { return ""; }
  virtual std::string InputText(const WorkerInput& input) const { return ""; }

 private:
  const bool is_evaluator_, has_evaluator_;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_JOB_COOPERATION_H_
