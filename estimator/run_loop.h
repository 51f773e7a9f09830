// The loop of steps with hooks around it: what Train, Evaluate, Predict and TrainingSession have in common.
#ifndef TANDEM_ESTIMATOR_RUN_LOOP_H_
#define TANDEM_ESTIMATOR_RUN_LOOP_H_

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
#include "estimator/mode.h"
#include "estimator/session_run_hook.h"
#include "estimator/stall_watch.h"
#include "estimator/step_runner.h"
#include "estimator/stop_reason.h"
#include "runtime/command_trace.h"

namespace tandem {

struct LoopOptions {
  Mode mode = Mode::kTrain;
  // Sent with every step, with "global_step" added.
  StepScalars scalars;
  // Fetched in every step, whatever hooks ask for.
  std::vector<std::string> fetches;
  // Names that hooks may fetch: the compiled program's outputs.
  std::set<std::string> fetchable;
  // Steps of this loop; -1 until the input ends or a hook stops it.
  int64_t max_rounds = -1;
  // Called with each step's values before the hooks' AfterRun.
  std::function<absl::Status(const RunValues&)> on_step;
  // Whether a signal asks the process to stop; asked between steps.
  std::function<bool()> signalled;
  // In a group of workers: tells the others before every step whether this one wants to end, and why; gives what all of
  // them want. Null: nobody else is asked.
  std::function<absl::StatusOr<std::optional<StopReason>>(std::optional<StopReason>)> agree;
  // Whether other workers take part in each step: what they compute is not seen here.
  bool shared_steps = false;
  // Whether somebody saves checkpoints: RunContext::RequestSave.
  bool saves = false;
  // Step scalars that hooks may set, sent with every step; null outside of training.
  StepScalarSettings* step_scalars = nullptr;
  // RunContext::ReadVariables and AssignVariables; null outside of training.
  VariableAccess* variables = nullptr;
  // Gets the phases and steps of the loop; may be null.
  Tracer* tracer = nullptr;
  // Watches the input; may be null.
  StallWatch* stall_watch = nullptr;
  // Nanoseconds; for tests. A tracer needs TraceNow, the clock of the threads.
  std::function<int64_t()> now = TraceNow;
};

struct LoopResult {
  int64_t steps = 0;  // of this loop that were finite
  int64_t examples = 0;
  double last_loss = 0;
  // Wall time of the loop, and the part of it that waited for the batches of all steps.
  double seconds = 0;
  double input_secs = 0;
  StopReason reason = StopReason::kEndOfInput;
  std::string stop_why;  // with kStopRequested, where a hook of this process said it
  absl::Status trace;    // whether the tracer could write its file
};

// InvalidArgument, with the name of the list, for a null pointer among a user's hooks.
absl::Status CheckHooks(absl::string_view list, const HookList& hooks);

// Begin of all hooks, of which none is null. The names they want to fetch are the context's fetches().
absl::Status BeginHooks(const HookList& hooks, HookContext& context);

// The loop, for a caller who decides when the next step comes. In mode train, *global_step grows by one with every
// finite step. After an error nothing more may be called.
class StepLoop {
 public:
  // Hooks are those of BeginHooks. What is given by reference or pointer must outlive this.
  StepLoop(StepRunner& runner, BatchSource& source, const HookList& hooks, const LoopOptions& options,
           int64_t* global_step);
  ~StepLoop();
  StepLoop(const StepLoop&) = delete;
  StepLoop& operator=(const StepLoop&) = delete;

  // AfterCreateSession of all hooks.
  absl::Status Begin();
  // Prepares the next step: BeforeRun of all hooks, then its batches. False when there is none; then End must follow.
  // Does nothing where one is prepared.
  absl::StatusOr<bool> Prepare();
  // The prepared step, and AfterRun of all hooks.
  absl::StatusOr<RunValues> Run();
  // Why Prepare gave no step.
  StopReason reason() const { return result_.reason; }
  // As RunContext's, for who runs the loop.
  void RequestStop() { context_.RequestStop(); }
  // What hooks are given, for one that is called between steps.
  RunContext& context() { return context_; }
  // End of all hooks.
  absl::StatusOr<LoopResult> End();

 private:
  class Trace;
  // What is fetched in a step: in all, and what each hook has asked for beyond what all hooks see.
  struct FetchesOfStep {
    std::set<std::string> all;
    std::map<const SessionRunHook*, std::set<std::string>> own;
  };
  absl::StatusOr<FetchesOfStep> CollectFetches();
  absl::StatusOr<bool> PrepareRound();

  // Why the loop is to end before another step; nothing when it goes on. In a group of workers all agree on it.
  absl::StatusOr<std::optional<StopReason>> ReasonToStop();
  StepRequest RequestFor(const BatchRound& round) const;
  // What is known when a step has been run.
  RunValues ValuesOf(StepOutcome outcome);
  absl::Status AfterRun(const FetchesOfStep& fetches, const RunValues& values);

  StepRunner& runner_;
  BatchSource& source_;
  const HookList hooks_;
  const HookList after_run_;  // the same, in the order of AfterRun
  const LoopOptions options_;
  int64_t* const global_step_;
  RunContext context_;
  LoopResult result_;
  int64_t rounds_ = 0;
  int64_t begin_ = 0;  // of the loop
  std::unique_ptr<Trace> trace_;
  std::unique_ptr<StallWatch::Activity> input_;

  // Of the next step: what is fetched, once hooks have been asked; its batches, once it is prepared.
  std::optional<FetchesOfStep> fetches_;
  std::optional<BatchRound> round_;
  double input_seconds_ = 0;
  int64_t started_ = 0;
};

// All of it at once.
absl::StatusOr<LoopResult> RunLoop(StepRunner& runner, BatchSource& source, const HookList& hooks,
                                   const LoopOptions& options, int64_t* global_step);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_RUN_LOOP_H_
