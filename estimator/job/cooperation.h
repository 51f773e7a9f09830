// Cooperation: how this process works on a job with others, if there are others.
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
// The methods are what an Estimator does differently in these cases; in this class they do nothing and return their
// argument. All processes call them in the same order. If one of them fails, so does the job.
class Cooperation {
 public:
  // The parts of the Estimator that a cooperation uses. They must outlive it.
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

  // Returns the cooperation for calls of a mode: this one or, if each process makes such calls by itself, one that
  // works alone.
  virtual Cooperation& In(Mode mode) { return *this; }

  // The workers that share the input of a mode, and those that share each step.
  struct Share {
    int workers = 1;       // number of workers that share the input
    int worker = 0;        // number of this worker, counted from 0
    int step_workers = 1;  // number of workers that compute a part of each step
    AutoShard input = AutoShard::kBatch;
  };
  virtual Share ShareOf(Mode mode) const { return {}; }
  // Returns the part of a training's step that this process computes.
  virtual StepPart PartOfStep() const { return {}; }
  // Returns the input of this process's steps. `share` is that of the mode; `dealer` must outlive the input.
  virtual std::unique_ptr<WorkerInput> MakeInput(const Share& share, BatchDealer* dealer);

  // Connects to the other workers, unless that has happened already.
  virtual absl::Status Join() { return absl::OkStatus(); }
  // Call with the result of work that all processes do at the same time. After an error the calls of the other
  // processes fail too. Returns the error, with the process that caused it if that is known.
  virtual absl::Status Ended(const absl::Status& status) { return status; }

  // Returns InvalidArgument (exit code 2), on all workers, unless all have the same `value` of `what`.
  virtual absl::Status Agree(absl::string_view what, absl::string_view value, absl::string_view remedy) {
    return absl::OkStatus();
  }
  // Returns an error unless all workers have the same program, numbers from model_fn, data, and order of the input.
  virtual absl::Status AgreeOnWork(const ModeProgram& program, const WorkerInput& input, BatchDealer& dealer) {
    return absl::OkStatus();
  }
  // Returns the tensors that hooks of any worker fetch, because all workers compile the same program.
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
  // step's scalars, which must be the same on all.
  virtual void ConfigureLoop(LoopOptions* loop, std::function<uint64_t()> scalars) {}

  // Returns the runner to make a training's steps with; null: that of the program.
  virtual std::unique_ptr<StepRunner> MakeRunner(ModeProgram& program) { return nullptr; }
  // Begins a training and its loop, when the variables have their values. The chief's hooks look at the values before
  // any worker makes a step with them, so that they can end the training without one.
  virtual absl::Status BeginTraining(ModeProgram& program, WorkerInput& input, StepLoop& loop) { return loop.Begin(); }
  // Call when this process makes no more steps, before the hooks' End. Returns `reason`, or that for which another one
  // has ended the training meanwhile.
  virtual absl::StatusOr<StopReason> EndSteps(StopReason reason) { return reason; }
  // Call after the hooks' End. The chief's End may evaluate; other workers wait in this call and take part in that.
  virtual absl::Status MeetAtEnd() { return absl::OkStatus(); }
  // Call when a training is over, also after an error.
  virtual void TrainingOver() {}
  // On the chief, before a checkpoint: gets the newest values of the variables and the workers' positions in their
  // inputs, and sets *step to the step of these values.
  virtual absl::Status PrepareSave(int64_t* step) { return absl::OkStatus(); }

  // Call before an evaluation, also before one inside of a training. `number` is the number of the job's evaluation.
  virtual absl::Status MeetForEvaluation(uint64_t number) { return absl::OkStatus(); }
  // Called on workers other than the chief if the chief has announced an evaluation inside of a training. May be null.
  using OnEvaluate = std::function<absl::Status(uint64_t number)>;
  virtual void set_on_evaluate(OnEvaluate on_evaluate) {}
  // Set to true while a training is between two steps of the user's own loop, where all workers make the same calls.
  virtual void set_between_own_steps(bool between) {}

  // Runs a parameter server until the chief says that the job is done. The input of `dealer` is not read, but its
  // description must be the same as on the workers.
  virtual absl::Status Serve(const ModeProgram& program, const BatchDealer& dealer, std::shared_ptr<ThreadPool> pool) {
    return absl::FailedPreconditionError("this process is no parameter server");
  }
  // True if Serve has run until the job ended.
  virtual bool has_served() const { return false; }

  // Return log lines that say who takes part, and whose input it is; empty if there is nothing to say.
  virtual std::string WorkersText() const { return ""; }
  virtual std::string InputText(const WorkerInput& input) const { return ""; }

 private:
  const bool is_evaluator_, has_evaluator_;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_JOB_COOPERATION_H_
