#include "estimator/run_loop.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/annotate.h"
#include "base/exit_code.h"
#include "base/logging.h"
#include "base/status_macros.h"
#include "base/user_code.h"
#include "estimator/round_seed.h"
#include "estimator/trace/tracer.h"

namespace tandem {
namespace {

// In a row; an input that is filtered so hard that this is too few is taken for one that has nothing.
constexpr int64_t kMaxEmptyRounds = 100000;

std::string HookName(const SessionRunHook& hook) {
  return CallUserCode([&] { return hook.name(); }).value_or("SessionRunHook");
}

absl::Status InHook(const SessionRunHook& hook, const char* method, const absl::Status& status) {
  return status.ok() ? status : Annotate(status, absl::StrCat(HookName(hook), "::", method, ": "));
}

// What hooks fetch in this step. "global_step" is not a tensor of the program: the loop provides it.
absl::StatusOr<std::set<std::string>> CollectFetches(const HookList& hooks, const LoopOptions& options,
                                                     RunContext& context) {
  std::set<std::string> fetches(options.fetches.begin(), options.fetches.end());
  for (const auto& hook : hooks) {
    absl::StatusOr<std::vector<std::string>> names = CallUserCode([&] { return hook->BeforeRun(context); });
    TD_RETURN_IF_ERROR(InHook(*hook, "BeforeRun", names.status()));
    for (std::string& name : *names) {
      if (name != "global_step" && options.fetchable.count(name) == 0) {
        return absl::InvalidArgumentError(absl::StrCat(
            HookName(*hook), "::BeforeRun fetches \"", name,
            "\", which no hook has asked for in Begin; available are: ", absl::StrJoin(options.fetchable, ", ")));
      }
      fetches.insert(std::move(name));
    }
    TD_RETURN_IF_ERROR(InHook(*hook, "BeforeRun", context.status()));
  }
  return fetches;
}

absl::Status EndHooks(const HookList& hooks, RunContext& context) {
  absl::Status first;
  for (const auto& hook : hooks) {
    absl::Status status = InHook(*hook, "End", CallUserCode([&] { return hook->End(context); }));
    if (status.ok()) continue;
    // Later hooks must still get their End: one of them may hold the only copy of something.
    if (first.ok()) {
      first = status;
    } else {
      TD_LOG(ERROR) << "After a first error, " << status.message();
    }
  }
  return first;
}

// The loop's calls to a tracer that may be null. A trace that cannot be written ends no training.
class LoopTrace {
 public:
  explicit LoopTrace(Tracer* tracer) : tracer_(tracer) {
    if (tracer_ != nullptr) tracer_->BeginLoop();
  }
  ~LoopTrace() { (void)Finish(); }
  LoopTrace(const LoopTrace&) = delete;
  LoopTrace& operator=(const LoopTrace&) = delete;

  void BeginStep() {
    if (tracer_ != nullptr) tracer_->BeginStep();
  }
  void EndStep() {
    if (tracer_ != nullptr) Note(tracer_->EndStep());
  }
  // The end of the loop: the first error of all writing.
  absl::Status Finish() {
    if (tracer_ != nullptr) Note(std::exchange(tracer_, nullptr)->EndLoop());
    return status_;
  }
  bool recording() const { return tracer_ != nullptr && tracer_->recording(); }
  void Phase(absl::string_view name, int64_t begin, int64_t end, absl::string_view args = "") {
    if (tracer_ != nullptr) tracer_->AddPhase(name, begin, end, args);
  }

 private:
  void Note(const absl::Status& status) {
    if (status.ok()) return;
    TD_LOG(ERROR) << "The trace could not be written: " << status.message();
    if (status_.ok()) status_ = WithExitCode(Annotate(status, "The trace could not be written: "), kExitIo);
  }
  Tracer* tracer_;  // null after Finish
  absl::Status status_;
};

// The next round that has an example; false at the end of the input. A round without any (a Map may leave no rows) is
// no step: it has no loss, and means over nothing would be no numbers.
absl::StatusOr<bool> NextWithExamples(BatchSource& source, const LoopOptions& options, Round* round) {
  // Workers pass over the same rounds, whoever of them has got a signal.
  const bool alone = !options.agree;
  for (int64_t skipped = 0; !(alone && options.signalled && options.signalled()); ++skipped) {
    if (skipped == 1) TD_LOG(WARNING) << "A round of batches has no examples on any replica; it is passed over.";
    if (skipped == kMaxEmptyRounds) {
      return absl::InvalidArgumentError(absl::StrCat("mode ", ModeName(options.mode), ": the input gave ", skipped,
                                                     " rounds of batches in a row without any example"));
    }
    TD_ASSIGN_OR_RETURN(const bool more, source.Next(round));
    if (!more || round->examples > 0) return more;
  }
  return true;
}

double Seconds(int64_t nanoseconds) { return 1e-9 * static_cast<double>(nanoseconds); }

}  // namespace

absl::Status CheckHooks(absl::string_view list, const HookList& hooks) {
  for (size_t i = 0; i < hooks.size(); ++i) {
    if (hooks[i] != nullptr) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(list, ": hook ", i, " of ", hooks.size(), " is null; leave it out, or make it"));
  }
  return absl::OkStatus();
}

absl::Status BeginHooks(const HookList& hooks, HookContext& context) {
  for (const auto& hook : hooks) {
    context.set_hook(HookName(*hook));
    TD_RETURN_IF_ERROR(InHook(*hook, "Begin", CallUserCode([&] { return hook->Begin(context); })));
  }
  return absl::OkStatus();
}

absl::StatusOr<LoopResult> RunLoop(StepRunner& runner, BatchSource& source, const HookList& hooks,
                                   const LoopOptions& options, int64_t* global_step) {
  LoopResult result;
  RunContext context(options.mode, global_step);
  context.set_step_scalars(options.step_scalars);
  for (const auto& hook : hooks) {
    TD_RETURN_IF_ERROR(
        InHook(*hook, "AfterCreateSession", CallUserCode([&] { return hook->AfterCreateSession(context); })));
  }
  int64_t rounds = 0;
  const int64_t loop_begin = options.now();
  LoopTrace trace(options.tracer);
  std::unique_ptr<StallWatch::Activity> input;
  if (options.stall_watch != nullptr) {
    input = options.stall_watch->Add(absl::StrCat("The input of mode ", ModeName(options.mode)));
  }
  while (true) {
    std::optional<StopReason> stop;
    if (options.signalled && options.signalled()) {
      stop = StopReason::kSignal;
    } else if (context.stop_requested()) {
      stop = StopReason::kStopRequested;
    }
    std::optional<std::set<std::string>> fetches;
    if (options.agree) {
      // A first checkpoint is saved in BeforeRun, and a listener may evaluate it while the others wait here.
      if (rounds == 0) {
        TD_ASSIGN_OR_RETURN(fetches, CollectFetches(hooks, options, context));
      }
      TD_ASSIGN_OR_RETURN(stop, options.agree(stop));
    }
    if (stop.has_value()) {
      result.reason = *stop;
      if (*stop == StopReason::kStopRequested) result.stop_why = context.stop_why();
      break;
    }
    if (options.max_rounds >= 0 && result.steps >= options.max_rounds) {
      result.reason = StopReason::kMaxRounds;
      break;
    }
    // BeforeRun comes before the batches are drawn: a hook that saves here saves the input's position before this step.
    trace.BeginStep();
    const int64_t begin = options.now();
    if (!fetches.has_value()) {
      TD_ASSIGN_OR_RETURN(fetches, CollectFetches(hooks, options, context));
    }
    Round round;
    const int64_t asked = options.now();
    if (input != nullptr) input->Begin();
    TD_ASSIGN_OR_RETURN(const bool more, NextWithExamples(source, options, &round));
    if (input != nullptr) input->End();
    const int64_t started = options.now();
    trace.Phase("hooks before the step", begin, asked);
    trace.Phase("input wait", asked, started, trace.recording() ? source.TraceArgs() : "");
    if (!more) {
      result.reason = StopReason::kEndOfInput;
      break;
    }
    if (round.examples == 0) continue;  // a signal came while there were none
    StepRequest request;
    request.round = &round;
    request.scalars = options.scalars;
    if (options.step_scalars != nullptr) {
      for (const auto& [name, value] : options.step_scalars->values()) request.scalars[name] = value;
    }
    request.scalars["global_step"] = *global_step;
    if (options.mode != Mode::kTrain) request.scalars["seed"] = SeedOfRound(request.scalars["seed"].integer(), rounds);
    ++rounds;
    fetches->erase("global_step");
    request.fetches.assign(fetches->begin(), fetches->end());
    request.tracer = options.tracer;
    if (Round next; runner.WantsNext() && source.Peek(&next)) runner.Prefetch(next);
    TD_ASSIGN_OR_RETURN(StepOutcome outcome, runner.Run(request));
    const int64_t done = options.now();
    trace.Phase("step", started, done, absl::StrCat("\"step\":", *global_step, ",\"examples\":", outcome.examples));

    RunValues values;
    values.input_seconds = Seconds(started - asked);
    result.input_seconds += values.input_seconds;
    values.tensors = std::move(outcome.values);
    // A step that was not finite computes little of what was asked for.
    std::erase_if(values.tensors, [](const auto& entry) { return entry.second.empty(); });
    values.step = *global_step;
    values.examples = outcome.examples;
    values.applied = outcome.finite;
    values.finite = outcome.finite;
    if (options.mode == Mode::kTrain) {
      if (values.Has("loss")) {
        result.last_loss = values.Number("loss");
        values.finite = values.finite && std::isfinite(result.last_loss);
      }
      if (values.finite) ++*global_step;
    }
    values.tensors["global_step"] = HostTensor::Scalar<int64_t>(*global_step);
    if (values.finite) {
      ++result.steps;
      result.examples += values.examples;
    }
    context.set_find_non_finite([&] { return runner.FindNonFinite(request); });
    if (options.on_step) TD_RETURN_IF_ERROR(options.on_step(values));
    for (const auto& hook : hooks) {
      TracePhase phase(options.tracer, options.tracer != nullptr ? HookName(*hook) : "");
      TD_RETURN_IF_ERROR(InHook(*hook, "AfterRun", CallUserCode([&] { return hook->AfterRun(context, values); })));
    }
    context.set_find_non_finite(nullptr);
    trace.Phase("hooks after the step", done, options.now());
    trace.EndStep();
  }
  TD_RETURN_IF_ERROR(EndHooks(hooks, context));
  result.seconds = Seconds(options.now() - loop_begin);
  result.trace = trace.Finish();
  return result;
}

}  // namespace tandem
