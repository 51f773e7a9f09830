// The loop of steps with hooks around it that Train, Evaluate, Predict and MonitoredTrainingSession use.
#ifndef TANDEM_ESTIMATOR_LOOP_RUN_LOOP_H_
#define TANDEM_ESTIMATOR_LOOP_RUN_LOOP_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/config/mode.h"
#include "estimator/loop/session_run_hook.h"
#include "estimator/loop/stall_watch.h"
#include "estimator/loop/step_runner.h"
#include "estimator/loop/stop_reason.h"
#include "runtime/session/command_trace.h"

namespace tandem {

struct LoopOptions {
  Mode mode = Mode::kTrain;
  // Scalars that are sent with every step, with "global_step" added.
  StepScalars scalars;
  // Tensors that are fetched in every step, whatever hooks ask for.
  std::vector<std::string> fetches;
  // Names that hooks may fetch: the compiled program's outputs.
  std::set<std::string> fetchable;
  // Number of steps of this loop; -1: until the input ends or a hook stops it.
  int64_t max_rounds = -1;
  // Called with each step's values before the hooks' AfterRun.
  std::function<absl::Status(const RunValues&)> on_step;
  // Returns true if a signal asks the process to stop; called between steps.
  std::function<bool()> signalled;
  // With several workers: called before every step, with the reason for which this worker would end the loop, if it has
  // one. Exchanges these reasons, and returns the same reason, or none, on all workers. Null if this process trains
  // alone.
  std::function<absl::StatusOr<std::optional<StopReason>>(std::optional<StopReason>)> agree;
  // True if other workers take part in each step, so that a part of it is computed elsewhere.
  bool shared_steps = false;
  // True if checkpoints are saved: allows RunContext::RequestSave.
  bool saves = false;
  // Step scalars that hooks may set, sent with every step; null outside of training.
  StepScalarSettings* step_scalars = nullptr;
  // Implements RunContext::ReadVariables and AssignVariables; null outside of training.
  VariableAccess* variables = nullptr;
  // Records the phases and steps of the loop; may be null.
  Tracer* tracer = nullptr;
  // Logs when the input takes long; may be null.
  StallWatch* stall_watch = nullptr;
  // Returns the time in nanoseconds; for tests. With a tracer it must be TraceNow, the clock of the threads.
  std::function<int64_t()> now = TraceNow;
};

struct LoopResult {
  int64_t steps = 0;  // number of finite steps of this loop
  int64_t examples = 0;
  double last_loss = 0;
  // Wall time of the loop, and the part of it in which steps waited for their batches.
  double seconds = 0;
  double input_secs = 0;
  StopReason reason = StopReason::kEndOfInput;
  std::string stop_why;  // with kStopRequested, the reason given by a hook of this process
  absl::Status trace;    // error of writing the trace file
};

// Returns InvalidArgument, with the name of the list, if one of a user's hooks is null.
absl::Status CheckHooks(absl::string_view list, const HookList& hooks);

// Calls Begin of all hooks, none of which may be null. Afterwards the context's fetches() has the names they fetch.
absl::Status BeginHooks(const HookList& hooks, HookContext& context);

// The loop of steps, for a caller that makes each step by a call. In mode train, *global_step grows by one with every
// finite step. After an error no other method may be called.
class StepLoop {
 public:
  // `hooks` must be those that BeginHooks was called with. References and pointers given must outlive this object.
  StepLoop(StepRunner& runner, BatchSource& source, const HookList& hooks, const LoopOptions& options,
           int64_t* global_step);
  ~StepLoop();
  StepLoop(const StepLoop&) = delete;
  StepLoop& operator=(const StepLoop&) = delete;

  // Calls AfterCreateSession of all hooks.
  absl::Status Begin();
  // Prepares the next step: calls BeforeRun of all hooks, then draws the step's batches. Returns false if there is no
  // step; then End must follow. Does nothing if a step is prepared already.
  absl::StatusOr<bool> Prepare();
  // Makes the prepared step and calls AfterRun of all hooks.
  absl::StatusOr<RunValues> Run();
  // Returns why Prepare returned false.
  StopReason reason() const { return result_.reason; }
  // Like RunContext::RequestStop, for the caller that runs the loop.
  void RequestStop() { context_.RequestStop(); }
  // The context that hooks get, for a hook that is called between steps.
  RunContext& context() { return context_; }
  // Calls End of all hooks.
  absl::StatusOr<LoopResult> End();

 private:
  class Trace;
  // The tensors fetched in a step: `all` of them and, for each hook, those of its own that not all hooks get.
  struct FetchesOfStep {
    std::set<std::string> all;
    std::map<const SessionRunHook*, std::set<std::string>> own;
  };
  absl::StatusOr<FetchesOfStep> CollectFetches();
  absl::StatusOr<bool> PrepareRound();

  // Returns why the loop must end before another step; nothing if it does not end. All workers get the same result.
  absl::StatusOr<std::optional<StopReason>> ReasonToStop();
  StepRequest RequestFor(const BatchRound& round) const;
  // Updates the step counts and returns the step's values for hooks.
  RunValues ValuesOf(StepOutcome outcome);
  absl::Status AfterRun(const FetchesOfStep& fetches, const RunValues& values);

  StepRunner& runner_;
  BatchSource& source_;
  const HookList hooks_;
  const HookList after_run_;  // hooks_, in the order in which AfterRun is called
  const LoopOptions options_;
  int64_t* const global_step_;
  RunContext context_;
  LoopResult result_;
  int64_t rounds_ = 0;
  int64_t begin_ = 0;  // time at which the loop began, in nanoseconds
  std::unique_ptr<Trace> trace_;
  std::unique_ptr<StallWatch::Activity> input_;

  // The fetches of the next step, set once BeforeRun of all hooks was called, and its batches, set once the step is
  // prepared.
  std::optional<FetchesOfStep> fetches_;
  std::optional<BatchRound> round_;
  double input_seconds_ = 0;
  int64_t started_ = 0;
};

// Makes all steps of the loop.
absl::StatusOr<LoopResult> RunLoop(StepRunner& runner, BatchSource& source, const HookList& hooks,
                                   const LoopOptions& options, int64_t* global_step);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_LOOP_RUN_LOOP_H_
