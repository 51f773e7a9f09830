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
//   alone (this class): nobody takes part, as for a task of type evaluator;
//   with others synchronously (SynchronousWorkers): all workers compute a part of each step;
//   with others asynchronously (ServedWorker, ParameterServerTask): each worker makes steps of its own, on variables
//   that parameter servers keep.
// The methods are what an Estimator asks and does where these differ; alone they do nothing and return their argument.
// All processes call them in the same order. If one of them fails, so does the job.
class Cooperation {
 public:
  // What a cooperation needs of its Estimator. All must outlive it.
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

  // Returns the cooperation in calls of a mode: this one, or that of a process which works alone.
  virtual Cooperation& In(Mode mode) { return *this; }

  // The workers that share the input of a mode, and those that share each step.
  struct Share {
    int workers = 1;       // that share the input
    int worker = 0;        // the number of this one, from 0 on
    int step_workers = 1;  // that compute a part of each step
    AutoShard input = AutoShard::kBatch;
  };
  virtual Share ShareOf(Mode mode) const { return {}; }
  // Returns the part of a training's step that this process computes.
  virtual StepPart PartOfStep() const { return {}; }
  // Returns the batches of this process's steps. `share` is that of the mode; `dealer` must outlive the input.
  virtual std::unique_ptr<WorkerInput> MakeInput(const Share& share, BatchDealer* dealer);

  // Meets the other workers, if it has not yet.
  virtual absl::Status Join() { return absl::OkStatus(); }
  // Takes note of how work has ended that all processes do at the same time: after an error the others end as well.
  // Returns the error, with the process that caused it if that is known.
  virtual absl::Status Ended(const absl::Status& status) { return status; }

  // Returns InvalidArgument (exit code 2), on all workers, unless all have the same `value` of `what`.
  virtual absl::Status Agree(absl::string_view what, absl::string_view value, absl::string_view remedy) {
    return absl::OkStatus();
  }
  // Returns an error unless all workers have the same program, numbers from model_fn, data, and order of the input.
  virtual absl::Status AgreeOnWork(const ModeProgram& program, const WorkerInput& input, BatchDealer& dealer) {
    return absl::OkStatus();
  }
  // Returns what hooks of any worker fetch: all workers compile one program.
  virtual absl::StatusOr<ModeProgram::Fetches> FetchesOfAll(const ModeProgram& program, ModeProgram::Fetches mine) {
    return mine;
  }
  // Return the chief's argument where the workers are synchronous; others need not see model_dir.
  virtual absl::StatusOr<std::string> TextFromChief(std::string mine, absl::string_view what) { return mine; }
  virtual absl::StatusOr<std::optional<CheckpointData>> CheckpointFromChief(std::optional<CheckpointData> mine) {
    return mine;
  }
  // Sets the group and the devices of a session, whose strategy is the mode's.
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
  // Call after the hooks' End, which may evaluate.
  virtual absl::Status MeetAtEnd() { return absl::OkStatus(); }
  // Call when a training is over, also after an error.
  virtual void TrainingOver() {}
  // On the chief, before a checkpoint: brings the variables up to date, whose step *step is set to, and the workers'
  // positions in their input.
  virtual absl::Status PrepareSave(int64_t* step) { return absl::OkStatus(); }

  // Call before an evaluation, which may be one inside of a training; `number` is that of the job's evaluation.
  virtual absl::Status MeetForEvaluation(uint64_t number) { return absl::OkStatus(); }
  // Called on other workers than the chief for an evaluation in a training that the chief has announced. May be null.
  using OnEvaluate = std::function<absl::Status(uint64_t number)>;
  virtual void set_on_evaluate(OnEvaluate on_evaluate) {}
  // True: the training is between two steps of a loop of the user's own, where all workers make the same calls.
  virtual void set_between_own_steps(bool between) {}

  // Runs a parameter server until the chief says that the job is done. `dealer` has the input that the facts name.
  virtual absl::Status Serve(const ModeProgram& program, const BatchDealer& dealer, std::shared_ptr<ThreadPool> pool) {
    return absl::FailedPreconditionError("this process is no parameter server");
  }
  // True if Serve has come to the job's end.
  virtual bool has_served() const { return false; }

  // Return log lines that say who takes part, and whose input it is; empty if there is nothing to say.
  virtual std::string WorkersText() const { return ""; }
  virtual std::string InputText(const WorkerInput& input) const { return ""; }

 private:
  const bool is_evaluator_, has_evaluator_;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_JOB_COOPERATION_H_
