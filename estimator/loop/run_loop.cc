#include "estimator/loop/run_loop.h"

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
#include "estimator/loop/round_seed.h"
#include "estimator/trace/tracer.h"
#include "frontends/summary_marks.h"

namespace tandem {
namespace {

// If the input returns batches without examples for so many steps in a row, the loop fails, even if the input has
// examples but filters out nearly all.
constexpr int64_t kMaxEmptyRounds = 100000;

std::string HookName(const SessionRunHook& hook) {
  return CallUserCode([&] { return hook.name(); }).value_or("SessionRunHook");
}

absl::Status InHook(const SessionRunHook& hook, const char* method, const absl::Status& status) {
  return status.ok() ? status : Annotate(status, absl::StrCat(HookName(hook), "::", method, ": "));
}

// Returns the hooks in the order in which AfterRun is called. Hooks whose state is part of checkpoints come before the
// hook that saves, so that its checkpoint has their state from after the step.
HookList OrderOfAfterRun(HookList hooks) {
  std::stable_partition(hooks.begin(), hooks.end(), [](const auto& hook) {
    return !CallUserCode([&] { return hook->checkpoint_key(); }).value_or("").empty();
  });
  return hooks;
}

// True if the values of every hook have this tensor. "global_step" is no tensor of the program, but the loop adds it.
bool AllSee(const std::string& name, const LoopOptions& options) {
  return name == "global_step" ||
         std::find(options.fetches.begin(), options.fetches.end(), name) != options.fetches.end();
}

// Returns the names without those of summaries, whose names the library invents.
std::vector<std::string> OfModels(const std::set<std::string>& names) {
  std::vector<std::string> own;
  for (const std::string& name : names) {
    if (!ParseSummaryMark(name).has_value()) own.push_back(name);
  }
  return own;
}

absl::Status EndHooks(const HookList& hooks, RunContext& context) {
  absl::Status first;
  for (const auto& hook : hooks) {
    absl::Status status = InHook(*hook, "End", CallUserCode([&] { return hook->End(context); }));
    if (status.ok()) continue;
    // After an error the End of later hooks is still called, because one of them may have to write what exists nowhere
    // else.
    if (first.ok()) {
      first = status;
    } else {
      TD_LOG(ERROR) << "After a first error, " << status.message();
    }
  }
  return first;
}

// Draws rounds (the batches of one step) until one has an example; returns false at the end of the input. A round
// without examples, which a Map that removes rows may produce, is skipped, because it has no loss and means over no
// examples are undefined. If a signal arrives meanwhile and this process trains alone, returns true with an empty
// round.
absl::StatusOr<bool> NextWithExamples(BatchSource& source, const LoopOptions& options, BatchRound* round) {
  // All workers must skip the same batches. So with several workers, a signal that only one of them has received does
  // not end this loop.
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

// Calls a tracer on behalf of the loop; the tracer may be null. Errors of writing a trace do not end a training.
class StepLoop::Trace {
 public:
  explicit Trace(Tracer* tracer) : tracer_(tracer) {
    if (tracer_ != nullptr) tracer_->BeginLoop();
  }
  ~Trace() { (void)Finish(); }
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  void BeginStep() {
    if (tracer_ != nullptr) tracer_->BeginStep();
  }
  void EndStep() {
    if (tracer_ != nullptr) Note(tracer_->EndStep());
  }
  // Ends the loop's trace and returns the first error of writing it.
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
  Tracer* tracer_;  // null if nothing is traced, and after Finish
  absl::Status status_;
};

StepLoop::StepLoop(StepRunner& runner, BatchSource& source, const HookList& hooks, const LoopOptions& options,
                   int64_t* global_step)
    : runner_(runner),
      source_(source),
      hooks_(hooks),
      after_run_(OrderOfAfterRun(hooks)),
      options_(options),
      global_step_(global_step),
      context_(options.mode, global_step) {
  context_.set_step_scalars(options.step_scalars);
  context_.set_saves(options.saves);
  context_.set_variables(options.variables);
}

StepLoop::~StepLoop() = default;

absl::Status StepLoop::Begin() {
  for (const auto& hook : hooks_) {
    TD_RETURN_IF_ERROR(
        InHook(*hook, "AfterCreateSession", CallUserCode([&] { return hook->AfterCreateSession(context_); })));
  }
  begin_ = options_.now();
  trace_ = std::make_unique<Trace>(options_.tracer);
  if (options_.stall_watch != nullptr) {
    input_ = options_.stall_watch->Add(absl::StrCat("The input of mode ", ModeName(options_.mode)));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::optional<StopReason>> StepLoop::ReasonToStop() {
  std::optional<StopReason> stop;
  if (options_.signalled && options_.signalled()) {
    stop = StopReason::kSignal;
  } else if (context_.stop_requested()) {
    stop = StopReason::kStopRequested;
  }
  if (!options_.agree) return stop;
  // The first BeforeRun saves a checkpoint, which a listener may evaluate, so it is called before agree(). Meanwhile
  // the other workers wait in agree() and take part in the evaluation.
  if (rounds_ == 0) {
    TD_ASSIGN_OR_RETURN(fetches_, CollectFetches());
  }
  return options_.agree(stop);
}

absl::StatusOr<StepLoop::FetchesOfStep> StepLoop::CollectFetches() {
  FetchesOfStep fetches = {.all = {options_.fetches.begin(), options_.fetches.end()}};
  context_.BeginStep();
  for (const auto& hook : hooks_) {
    absl::StatusOr<std::vector<std::string>> names = CallUserCode([&] { return hook->BeforeRun(context_); });
    TD_RETURN_IF_ERROR(InHook(*hook, "BeforeRun", names.status()));
    for (std::string& name : *names) {
      if (name != "global_step" && options_.fetchable.count(name) == 0) {
        return absl::InvalidArgumentError(absl::StrCat(HookName(*hook), "::BeforeRun fetches \"", name,
                                                       "\", which no hook has asked for in Begin; asked for are: ",
                                                       absl::StrJoin(OfModels(options_.fetchable), ", ")));
      }
      if (!AllSee(name, options_)) fetches.own[hook.get()].insert(name);
      fetches.all.insert(std::move(name));
    }
    TD_RETURN_IF_ERROR(InHook(*hook, "BeforeRun", context_.status()));
  }
  return fetches;
}

absl::StatusOr<bool> StepLoop::Prepare() {
  TD_ASSIGN_OR_RETURN(const bool more, PrepareRound());
  if (!more) context_.StepIsNotRun();
  return more;
}

absl::StatusOr<bool> StepLoop::PrepareRound() {
  while (!round_.has_value()) {
    TD_ASSIGN_OR_RETURN(const std::optional<StopReason> stop, ReasonToStop());
    if (stop.has_value()) {
      result_.reason = *stop;
      if (*stop == StopReason::kStopRequested) result_.stop_why = context_.stop_why();
      return false;
    }
    if (options_.max_rounds >= 0 && result_.steps >= options_.max_rounds) {
      result_.reason = StopReason::kMaxRounds;
      return false;
    }
    // BeforeRun is called before the batches are drawn. So a hook that saves a checkpoint in it saves the input
    // position from before this step.
    trace_->BeginStep();
    const int64_t begin = options_.now();
    if (!fetches_.has_value()) {
      TD_ASSIGN_OR_RETURN(fetches_, CollectFetches());
    }
    BatchRound round;
    const int64_t asked = options_.now();
    if (input_ != nullptr) input_->Begin();
    TD_ASSIGN_OR_RETURN(const bool more, NextWithExamples(source_, options_, &round));
    if (input_ != nullptr) input_->End();
    started_ = options_.now();
    trace_->Phase("hooks before the step", begin, asked);
    trace_->Phase("input wait", asked, started_, trace_->recording() ? source_.TraceArgs() : "");
    if (!more) {
      result_.reason = StopReason::kEndOfInput;
      return false;
    }
    input_seconds_ = Seconds(started_ - asked);
    // The round has no examples if a signal arrived while it was drawn: handle the signal, and call BeforeRun again.
    if (round.examples > 0) {
      round_ = std::move(round);
    } else {
      fetches_.reset();
    }
  }
  return true;
}

StepRequest StepLoop::RequestFor(const BatchRound& round) const {
  StepRequest request;
  request.round = &round;
  request.scalars = options_.scalars;
  if (options_.step_scalars != nullptr) {
    for (const auto& [name, value] : options_.step_scalars->values()) request.scalars[name] = value;
  }
  request.scalars["global_step"] = *global_step_;
  if (options_.mode != Mode::kTrain) {
    request.scalars["seed"] = SeedOfRound(request.scalars["seed"].integer(), rounds_);
  }
  for (const std::string& name : fetches_->all) {
    if (name != "global_step") request.fetches.push_back(name);
  }
  request.tracer = options_.tracer;
  return request;
}

RunValues StepLoop::ValuesOf(StepOutcome outcome) {
  RunValues values;
  values.input_secs = input_seconds_;
  values.tensors = std::move(outcome.values);
  // A step that is not finite is stopped before most of the requested tensors are computed. These are removed.
  std::erase_if(values.tensors, [](const auto& entry) { return entry.second.empty(); });
  values.step = *global_step_;
  values.examples = outcome.examples;
  values.applied = outcome.finite;
  values.finite = outcome.finite;
  if (options_.mode == Mode::kTrain) {
    if (values.Has("loss")) {
      result_.last_loss = values.Number("loss");
      values.finite = values.finite && std::isfinite(result_.last_loss);
    }
    if (values.finite) *global_step_ = outcome.global_step.value_or(*global_step_ + 1);
  }
  values.tensors["global_step"] = HostTensor::Scalar<int64_t>(*global_step_);
  if (values.finite) {
    ++result_.steps;
    result_.examples += values.examples;
  }
  return values;
}

// Calls AfterRun of all hooks. Each gets the tensors that it has fetched and those that all hooks get.
absl::Status StepLoop::AfterRun(const FetchesOfStep& fetches, const RunValues& values) {
  // The values for hooks that have fetched nothing of their own. Only set if another hook has, which is rare.
  RunValues common;
  if (!fetches.own.empty()) {
    common = values;
    std::erase_if(common.tensors, [&](const auto& entry) { return !AllSee(entry.first, options_); });
  }
  for (const auto& hook : after_run_) {
    TracePhase phase(options_.tracer, options_.tracer != nullptr ? HookName(*hook) : "");
    const auto own = fetches.own.find(hook.get());
    RunValues seen;
    if (own != fetches.own.end()) {
      seen = common;
      for (const std::string& name : own->second) {
        if (const auto found = values.tensors.find(name); found != values.tensors.end()) seen.tensors.insert(*found);
      }
    }
    const RunValues& of_hook = own != fetches.own.end() ? seen : fetches.own.empty() ? values : common;
    TD_RETURN_IF_ERROR(InHook(*hook, "AfterRun", CallUserCode([&] { return hook->AfterRun(context_, of_hook); })));
  }
  return absl::OkStatus();
}

absl::StatusOr<RunValues> StepLoop::Run() {
  if (!round_.has_value()) return absl::FailedPreconditionError("no step is prepared");
  // The step is no longer prepared once it is run, even if it fails.
  const BatchRound round = *std::exchange(round_, std::nullopt);
  context_.StepIsRun();
  const StepRequest request = RequestFor(round);
  const FetchesOfStep fetches = *std::exchange(fetches_, std::nullopt);
  ++rounds_;
  const int64_t step = *global_step_, started = started_;
  if (BatchRound next; runner_.WantsNext() && source_.Peek(&next)) runner_.Prefetch(next);
  TD_ASSIGN_OR_RETURN(StepOutcome outcome, runner_.Run(request));
  const int64_t done = options_.now();
  trace_->Phase("step", started, done, absl::StrCat("\"step\":", step, ",\"examples\":", outcome.examples));
  result_.input_secs += input_seconds_;
  RunValues values = ValuesOf(std::move(outcome));
  context_.set_find_non_finite([&]() -> absl::StatusOr<std::string> {
    TD_ASSIGN_OR_RETURN(std::string op, runner_.FindNonFinite(request));
    return op.empty() && options_.shared_steps ? "an op of another worker, whose message names it" : op;
  });
  context_.set_ends_pass([this] { return source_.ends_pass(); });
  if (options_.on_step) TD_RETURN_IF_ERROR(options_.on_step(values));
  TD_RETURN_IF_ERROR(AfterRun(fetches, values));
  context_.set_find_non_finite(nullptr);
  context_.set_ends_pass(nullptr);
  trace_->Phase("hooks after the step", done, options_.now());
  trace_->EndStep();
  return values;
}

absl::StatusOr<LoopResult> StepLoop::End() {
  TD_RETURN_IF_ERROR(EndHooks(hooks_, context_));
  result_.seconds = Seconds(options_.now() - begin_);
  result_.trace = trace_->Finish();
  return result_;
}

absl::StatusOr<LoopResult> RunLoop(StepRunner& runner, BatchSource& source, const HookList& hooks,
                                   const LoopOptions& options, int64_t* global_step) {
  StepLoop loop(runner, source, hooks, options, global_step);
  TD_RETURN_IF_ERROR(loop.Begin());
  for (;;) {
    TD_ASSIGN_OR_RETURN(const bool more, loop.Prepare());
    if (!more) break;
    TD_RETURN_IF_ERROR(loop.Run().status());
  }
  return loop.End();
}

}  // namespace tandem
