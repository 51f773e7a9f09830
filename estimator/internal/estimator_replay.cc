// Estimator::Train in a process that replays a step of an earlier run (docs/guide/replay.md).
#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "base/annotate.h"
#include "base/count_text.h"
#include "base/exit_code.h"
#include "base/logging.h"
#include "base/output_file.h"
#include "base/status_macros.h"
#include "estimator/checkpoint/done_marker.h"
#include "estimator/checkpoint/pointer_file.h"
#include "estimator/internal/estimator_impl.h"
#include "estimator/loop/run_loop.h"
#include "estimator/loop/signals.h"
#include "estimator/model/extra_keys.h"
#include "estimator/record/recording_runner.h"
#include "estimator/replay/step_file.h"
#include "estimator/replay/tensor_lines.h"
#include "estimator/replay/wanted_tensors.h"
#include "runtime/format/index.h"

namespace tandem {
namespace {

constexpr char kGlobalStep[] = "global_step";
constexpr size_t kMostDifferences = 4;
constexpr int kMostPrograms = 64;  // most programs that are compiled to fetch tensors

// Returns the step of a checkpoint path from CheckpointManager; -1 if it has none.
int64_t StepOfCheckpoint(const std::string& path) { return CheckpointStep(BaseName(path)).value_or(-1); }

class StopBehindStep : public SessionRunHook {
 public:
  explicit StopBehindStep(int64_t step) : step_(step) {}
  std::string name() const override { return "Replay"; }
  absl::Status AfterRun(RunContext& context, const RunValues& values) override {
    if (values.step >= step_) context.RequestStop();
    if (values.finite || values.step >= step_) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat("--replay_step=", step_, ": step ", values.step,
                                                   " is not finite, so that the run ended there; replay that one"));
  }

 private:
  const int64_t step_;
};

// Makes the steps of a replay with one program. For step number `step` it calls `both` instead, which runs a second
// program as well.
class TwoProgramsRunner : public StepRunner {
 public:
  using Both = std::function<absl::StatusOr<StepOutcome>(const StepRequest& request)>;
  TwoProgramsRunner(StepRunner* runner, int64_t step, Both both)
      : runner_(*runner), step_(step), both_(std::move(both)) {}
  absl::StatusOr<StepOutcome> Run(const StepRequest& request) override {
    return request.scalars.at(kGlobalStep).integer() == step_ ? both_(request) : runner_.Run(request);
  }
  absl::StatusOr<std::string> FindNonFinite(const StepRequest& request) override {
    return runner_.FindNonFinite(request);
  }

 private:
  StepRunner& runner_;
  const int64_t step_;
  const Both both_;
};

// Returns all variables and slots.
TensorMap ValuesOf(CheckpointData data) {
  TensorMap values = std::move(data.variables);
  values.merge(data.slots);
  return values;
}

absl::StatusOr<HostTensor> Difference(const std::string& name, const HostTensor& after, const HostTensor& before) {
  HostTensor result = after.Clone();
  if (after.dtype() == DType::kFloat32) {
    for (int64_t i = 0; i < after.num_elements(); ++i) result.data<float>()[i] -= before.data<float>()[i];
  } else if (after.dtype() == DType::kFloat64) {
    for (int64_t i = 0; i < after.num_elements(); ++i) result.data<double>()[i] -= before.data<double>()[i];
  } else {
    return absl::InvalidArgumentError(absl::StrCat(
        "--fetch: \"", name, "\": an update is a difference of floating-point numbers, and the variable is ",
        Name(after.dtype()), "; fetch it without @update, and @new"));
  }
  return result;
}

}  // namespace

// Makes one replay. The run's own program makes the steps; the last one is then made again, from the same variables, by
// programs that have the wanted tensors as outputs and give the same bits if that is possible.
class Estimator::Impl::Replay {
 public:
  Replay(Estimator::Impl* estimator, ReplayedRun* run)
      : e_(*estimator), run_(*run), env_(estimator->config_.file_env()), step_(run->request.step) {}

  absl::Status Run(const InputFn& input_fn) {
    const double begin = env_->MonotonicSeconds();
    const SignalGuard guard(e_.config_.handle_signals);
    TD_RETURN_IF_ERROR(CheckStep());
    TD_ASSIGN_OR_RETURN(prepared_, e_.Prepare(Mode::kTrain, input_fn));
    TD_RETURN_IF_ERROR(CheckProgram());
    TD_ASSIGN_OR_RETURN(wanted_,
                        FindWantedTensors(prepared_.program->graph(), prepared_.program->nodes(), run_.request));
    TD_RETURN_IF_ERROR(CompileAsTheRun());
    TD_RETURN_IF_ERROR(GoToStart());
    TD_RETURN_IF_ERROR(e_.BindVariables(prepared_, /*averages=*/false));
    TD_RETURN_IF_ERROR(MakeSteps());
    TD_RETURN_IF_ERROR(Report(env_->MonotonicSeconds() - begin));
    return ReplayDone(step_);
  }

 private:
  const RunStart* StartOfRun() const { return run_.description.has_value() ? run_.description->At(step_) : nullptr; }

  absl::Status Refuse(absl::string_view what) const {
    return absl::FailedPreconditionError(absl::StrCat("--replay_step=", step_, ": ", what));
  }

  // Returns an error if the run did not come to this step.
  absl::Status CheckStep() {
    TD_ASSIGN_OR_RETURN(checkpoints_, e_.checkpoints_.ListCheckpoints());
    int64_t last = -1;  // number of steps that the run is known to have made; -1: nothing is known
    if (run_.steps.has_value()) last = run_.steps->end();
    if (!checkpoints_.empty()) last = std::max(last, StepOfCheckpoint(checkpoints_.back()));
    if (last < 0) {
      return Refuse(absl::StrCat("there is neither a checkpoint nor a record of steps in ", e_.config_.model_dir,
                                 "; give the program the model_dir of the run"));
    }
    // Steps are counted from 0, so step `last` comes after the last known one and may be the one that ended the run. A
    // record of steps or the file DONE tells that the run came no further.
    const auto done = ReadDoneMarker(env_, e_.config_.model_dir);
    const bool known = run_.steps.has_value() || (done.ok() && done->has_value());
    if (step_ <= last) return absl::OkStatus();
    if (known) {
      return absl::InvalidArgumentError(absl::StrCat("--replay_step=", step_, ": the run has made ", last,
                                                     " steps, the last of them step ", last - 1,
                                                     "; name one of these"));
    }
    TD_LOG(WARNING) << "Nothing is recorded of steps behind " << last
                    << ", so that it is not known whether the run came to step " << step_ << ".";
    return absl::OkStatus();
  }

  // Returns an error unless model_fn, the data and the settings that change bits are those of the run.
  absl::Status CheckProgram() {
    const RunStart* start = StartOfRun();
    if (start == nullptr) {
      TD_LOG(WARNING) << "The run is not described in " << JoinPath(e_.config_.model_dir, kRunName)
                      << ": whether this is its program is not known.";
      return absl::OkStatus();
    }
    const Facts program = prepared_.program->model_parts();
    if (ProgramFingerprint(program) != start->program) {
      std::string differences;
      if (const auto known = run_.description->programs.find(start->program);
          known != run_.description->programs.end()) {
        differences =
            absl::StrCat(": ", absl::StrJoin(FactDifferences(known->second, program, "the run", "this program",
                                                             /*without_places=*/true, kMostDifferences),
                                             "; "));
      }
      return Refuse(absl::StrCat("this is another program than the run's", differences,
                                 "; start the program that made the run, with its flags"));
    }
    if (prepared_.dealer->batch_size() != start->batch || prepared_.replicas != start->replicas) {
      return Refuse(absl::StrCat("a step has ", prepared_.dealer->batch_size(), " examples x ", prepared_.replicas,
                                 " replicas here, and had ", start->batch, " x ", start->replicas,
                                 " in the run; give the program the run's flags"));
    }
    const std::string data = prepared_.dealer->data_fingerprint();
    if (!data.empty() && !start->data.empty() && data != start->data) {
      return Refuse(absl::StrCat("the data are not those of the run: they were { ", start->data, " } and are { ", data,
                                 " }; replay with the data of the run"));
    }
    const RunStart here = e_.DescribeStart(prepared_, /*compiled=*/false);
    std::vector<std::string> differences;
    for (const char* name : {"precision", "accumulate_batches", "communication_dtype", "tf32", "deterministic"}) {
      const auto is_it = [&](const auto& fact) { return fact.first == name; };
      const auto was = std::find_if(start->configuration.begin(), start->configuration.end(), is_it);
      const auto is = std::find_if(here.configuration.begin(), here.configuration.end(), is_it);
      if (was == start->configuration.end() || is == here.configuration.end() || was->second == is->second) continue;
      differences.push_back(absl::StrCat("RunConfig.", name, " is ", is->second, " and was ", was->second));
    }
    for (std::string& line : FactDifferences(start->numbers, here.numbers, "the run", "this program")) {
      differences.push_back(std::move(line));
    }
    if (differences.empty()) return absl::OkStatus();
    return Refuse(absl::StrCat("this is not what the run computed: ", absl::StrJoin(differences, "; "),
                               "; give the program the flags of the run"));
  }

  absl::StatusOr<CompileOptions> Options() {
    return e_.OptionsFor(Mode::kTrain, e_.Strategy(Mode::kTrain).devices, prepared_.dealer->batch_size());
  }

  absl::StatusOr<std::unique_ptr<ModeProgram>> BuildAgain() {
    return e_.programs_.Build({.mode = Mode::kTrain,
                               .components = prepared_.dealer->spec(),
                               .placement = {.num_replicas = prepared_.replicas},
                               .replicas = {.all = prepared_.replicas, .processes = 1}});
  }

  // The tensors that hooks fetched and how the batch is split change the bits, so both are taken from the run.
  absl::Status CompileAsTheRun() {
    TD_ASSIGN_OR_RETURN(CompileOptions options, Options());
    const RunStart* start = StartOfRun();
    if (start != nullptr) {
      for (const std::string& name : start->fetches) of_hooks_[name] = "a hook of the run";
    }
    TD_RETURN_IF_ERROR(prepared_.program->Compile(of_hooks_, options));
    const auto& index = prepared_.program->executable().index();
    if (start == nullptr || (start->lanes == index.lanes && start->microbatch_rows == index.microbatch_rows)) {
      return absl::OkStatus();
    }
    TD_ASSIGN_OR_RETURN(again_, BuildAgain());
    options.lanes = static_cast<int>(start->lanes);
    options.microbatch_rows = static_cast<int>(start->microbatch_rows);
    TD_RETURN_IF_ERROR(again_->Compile(of_hooks_, options));
    prepared_.program = again_.get();
    return absl::OkStatus();
  }

  // Loads the newest checkpoint at or before the step; without one, sets the first values.
  absl::Status GoToStart() {
    const RunStart* start = StartOfRun();
    const std::vector<VariableSpec>& variables = prepared_.program->variables();
    std::string passed_over;
    for (auto path = checkpoints_.rbegin(); path != checkpoints_.rend(); ++path) {
      if (StepOfCheckpoint(*path) > step_) continue;
      absl::StatusOr<CheckpointData> data = e_.checkpoints_.Restore(*path);
      if (absl::IsNotFound(data.status()) || absl::IsDataLoss(data.status())) {
        TD_LOG(WARNING) << (absl::IsNotFound(data.status()) ? absl::StrCat(*path, " was rotated away")
                                                            : std::string(data.status().message()))
                        << "; the replay begins at the next older checkpoint.";
        continue;
      }
      TD_RETURN_IF_ERROR(data.status());
      const std::string saved = Extra(*data, kDataKey), here = prepared_.dealer->data_fingerprint();
      if (!saved.empty() && !here.empty() && saved != here) {
        return Refuse(absl::StrCat("the data are not those that ", *path, " was trained with: they were { ", saved,
                                   " } and are { ", here, " }; replay with the data of the run"));
      }
      TD_RETURN_IF_ERROR(
          Annotate(e_.state_.step_scalars.Restore(Extra(*data, kStepScalarsKey)), absl::StrCat(*path, ": ")));
      TD_RETURN_IF_ERROR(e_.resident_.LoadForTraining(*data, *path, variables));
      e_.state_.seed = data->seed;
      if (!data->iterator_state.empty()) {
        TD_RETURN_IF_ERROR(Annotate(prepared_.input->RestorePosition(data->iterator_state),
                                    absl::StrCat("--replay_step=", step_, ": ", *path, ": ")));
      }
      first_ = data->global_step;
      began_at_ = BaseName(*path);
      e_.state_.step_scalars.SetDefaults(prepared_.program->scalar_defaults());
      return absl::OkStatus();
    }
    if (start != nullptr) e_.state_.seed = start->seed;
    TD_LOG(WARNING) << "There is no checkpoint at or before step " << step_ << " in " << e_.config_.model_dir
                    << "; the replay begins with the first values, of seed " << e_.state_.seed << ".";
    TD_RETURN_IF_ERROR(e_.InitializeVariables(*prepared_.program));
    TD_RETURN_IF_ERROR(e_.state_.step_scalars.Restore(""));
    e_.state_.step_scalars.SetDefaults(prepared_.program->scalar_defaults());
    began_at_ = "the first values";
    return absl::OkStatus();
  }

  absl::Status MakeSteps() {
    TD_ASSIGN_OR_RETURN(ResidentState::TrainingScope scope, e_.resident_.StartTraining());
    StepRunner& own = prepared_.program->runner();
    TwoProgramsRunner both(&own, step_, [this](const StepRequest& request) { return MakeTheStep(request); });
    RecordingRunner compared(&both, StepSampler(*e_.resident_.model().store(), prepared_.program->variables()),
                             [this](int64_t step, const StepBits& bits) { return CompareWithRecord(step, bits); });
    const HookList hooks = {std::make_shared<StopBehindStep>(step_)};
    LoopOptions loop;
    loop.mode = Mode::kTrain;
    loop.scalars["seed"] = e_.state_.seed;
    loop.step_scalars = &e_.state_.step_scalars;
    loop.fetches = {"loss"};
    loop.stall_watch = e_.stall_watch_.get();
    loop.fetchable = prepared_.program->runner().output_names();
    loop.on_step = [this](const RunValues& values) -> absl::Status {
      if (values.applied) TD_RETURN_IF_ERROR(e_.resident_.StepTaken());
      return e_.CheckParams(*prepared_.program);
    };
    if (e_.config_.handle_signals) loop.signalled = [] { return SignalGuard::pending() != 0; };
    TD_ASSIGN_OR_RETURN(const LoopResult result,
                        RunLoop(compared, *prepared_.input, hooks, loop, e_.resident_.step_counter()));
    if (result.reason == StopReason::kSignal) return SignalError(SignalGuard::pending(), " in a replay");
    if (made_) return absl::OkStatus();
    return Refuse(absl::StrCat("the input has ended at step ", e_.resident_.global_step(),
                               "; where the run went on from there, it called Train again, which is not replayed"));
  }

  absl::StatusOr<TensorMap> Values() {
    TD_ASSIGN_OR_RETURN(CheckpointData data, e_.ValuesInMemory(*prepared_.program));
    return ValuesOf(std::move(data));
  }

  absl::StatusOr<StepOutcome> MakeTheStep(const StepRequest& request) {
    TD_ASSIGN_OR_RETURN(before_, Values());
    TD_ASSIGN_OR_RETURN(const StepOutcome own, prepared_.program->runner().Run(request));
    TD_ASSIGN_OR_RETURN(after_, Values());
    finite_ = own.finite;
    if (!own.finite) {
      TD_ASSIGN_OR_RETURN(culprit_, prepared_.program->runner().FindNonFinite(request));
    }
    rows_ = request.round->rows;
    made_ = true;
    loss_ = own.values.contains("loss") ? own.values.at("loss") : HostTensor();
    std::vector<std::string> names;
    for (const WantedTensor& tensor : wanted_) {
      if (tensor.kind != WantedTensor::Kind::kTensor || tensor.source == "loss") continue;
      if (tensor.source != kGlobalStep) names.push_back(tensor.source);
    }
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    if (!names.empty()) TD_RETURN_IF_ERROR(Fetch(request, names, own));
    // The replay goes on with the values that the run's own program computed.
    TD_RETURN_IF_ERROR(Assign(after_));
    return own;
  }

  absl::Status Assign(const TensorMap& values) {
    for (const auto& [name, value] : values) {
      TD_RETURN_IF_ERROR(e_.resident_.model().store()->Assign(name, value));
    }
    return absl::OkStatus();
  }

  // Makes the step again with outputs `names`, which the run's program may have fused away. If all of them together
  // change the bits of the step, fewer of them at once may not, so each half is tried by itself.
  absl::Status Fetch(const StepRequest& request, absl::Span<const std::string> names, const StepOutcome& own) {
    std::map<std::string, HostTensor> values;
    TD_ASSIGN_OR_RETURN(const bool same, FetchAtOnce(request, names, own, &values));
    if (same || names.size() == 1 || programs_ >= kMostPrograms) {
      for (const std::string& name : names) {
        fetched_[name] = values[name];
        if (!same) changing_.push_back(name);
      }
      return absl::OkStatus();
    }
    const size_t half = names.size() / 2;
    TD_RETURN_IF_ERROR(Fetch(request, names.first(half), own));
    return Fetch(request, names.subspan(half), own);
  }

  // Sets `values` to the tensors `names`. Returns true if the step has the same loss and variables as the run's.
  absl::StatusOr<bool> FetchAtOnce(const StepRequest& request, absl::Span<const std::string> names,
                                   const StepOutcome& own, std::map<std::string, HostTensor>* values) {
    ++programs_;
    TD_RETURN_IF_ERROR(Assign(before_));
    TD_ASSIGN_OR_RETURN(const std::unique_ptr<ModeProgram> program, BuildAgain());
    TD_ASSIGN_OR_RETURN(CompileOptions options, Options());
    const auto& index = prepared_.program->executable().index();
    options.lanes = static_cast<int>(index.lanes);
    options.microbatch_rows = static_cast<int>(index.microbatch_rows);
    // The finite check would stop a step that is not finite before the rest of it is computed.
    if (!own.finite) options.disabled_passes.emplace_back("td-insert-finite-check");
    ModeProgram::Fetches fetches = of_hooks_;
    StepRequest all = request;
    for (const std::string& name : names) {
      fetches[name] = "--fetch";
      all.fetches.push_back(name);
    }
    TD_RETURN_IF_ERROR(program->Compile(fetches, options));
    Estimator::Impl::Prepared bound;
    bound.program = program.get();
    bound.replicas = prepared_.replicas;
    bound.cooperation = prepared_.cooperation;
    TD_RETURN_IF_ERROR(e_.BindVariables(bound, /*averages=*/false));
    TD_ASSIGN_OR_RETURN(StepOutcome outcome, program->runner().Run(all));
    *values = std::move(outcome.values);
    if (!own.finite) return true;
    TD_ASSIGN_OR_RETURN(const TensorMap after, Values());
    bool same = values->contains("loss") && values->at("loss").BitEqual(loss_);
    for (const auto& [name, value] : after) same = same && value.BitEqual(after_.at(name));
    return same;
  }

  absl::Status CompareWithRecord(int64_t step, const StepBits& bits) {
    if (!run_.steps.has_value()) return absl::OkStatus();
    const std::optional<StepBits> recorded = run_.steps->At(step);
    if (!recorded.has_value()) return absl::OkStatus();
    ++compared_;
    const std::string differences = recorded->Differences(bits);
    if (differences.empty()) return absl::OkStatus();
    std::string why = "a hook that changes rates or variables is not run here, and data or libraries may be others";
    const RunStart* start = StartOfRun();
    if (start != nullptr) {
      const Facts machine = e_.DescribeStart(prepared_).machine;
      const std::vector<std::string> others = FactDifferences(start->machine, machine, "the run", "this process");
      if (!others.empty()) why = absl::StrJoin(others, "; ");
    }
    return WithExitCode(absl::InternalError(absl::StrCat(
                            "--replay_step=", step_, ": step ", step, ", replayed from ", began_at_,
                            ", is not the run's: in the record against here differ ", differences, "; ", why)),
                        kExitInternal);
  }

  absl::StatusOr<HostTensor> ValueOf(const WantedTensor& tensor) const {
    switch (tensor.kind) {
      case WantedTensor::Kind::kBefore:
        return before_.at(tensor.source);
      case WantedTensor::Kind::kAfter:
        return after_.at(tensor.source);
      case WantedTensor::Kind::kUpdate:
        return Difference(tensor.name, after_.at(tensor.source), before_.at(tensor.source));
      case WantedTensor::Kind::kTensor:
        break;
    }
    if (tensor.source == "loss") return loss_;
    if (tensor.source == kGlobalStep) return HostTensor::Scalar<int64_t>(step_);
    const auto value = fetched_.find(tensor.source);
    return value == fetched_.end() ? HostTensor() : value->second;
  }

  absl::Status Report(double seconds) {
    std::vector<ShownTensor> shown;
    StepFile file{.step = step_, .run = e_.config_.model_dir};
    std::map<std::string, std::string> sources;  // the graph's names of tensors, by their names in the file
    for (const WantedTensor& tensor : wanted_) {
      TD_ASSIGN_OR_RETURN(HostTensor value, ValueOf(tensor));
      if (!value.empty()) {
        file.arrays[tensor.name] = value;
        if (tensor.kind != WantedTensor::Kind::kAfter && tensor.kind != WantedTensor::Kind::kUpdate) {
          sources[tensor.name] = tensor.source;
        }
      }
      shown.push_back({tensor.name, tensor.origin, std::move(value)});
    }
    const int64_t steps = step_ - first_ + 1;
    std::printf("Step %d of %s, from %s: %s in %.1f s; ", static_cast<int>(step_), e_.config_.model_dir.c_str(),
                began_at_.c_str(), CountText(steps, "step").c_str(), seconds);
    if (compared_ == steps) {
      std::printf("all have the bits of the run's record.\n");
    } else {
      std::printf("%d of them have the bits of the run's record, of the others nothing is recorded.\n",
                  static_cast<int>(compared_));
    }
    if (rows_.size() > 1)
      std::printf("Rows of replicas, one behind the other: %s.\n", absl::StrJoin(rows_, ", ").c_str());
    if (!finite_) {
      std::printf("The step is not finite%s.\n", culprit_.empty() ? "" : absl::StrCat(": ", culprit_).c_str());
    }
    if (!changing_.empty()) {
      std::printf(
          "To fetch %s changes the last bits of the step, which keeps no such value: what is shown is that of the "
          "changed step.\n",
          absl::StrJoin(changing_, ", ").c_str());
    }
    std::fputs(TensorLines(shown).c_str(), stdout);
    if (run_.request.out.empty()) return absl::OkStatus();
    file.order = OrderOfModel(prepared_.program->model_parts(), sources);
    TD_ASSIGN_OR_RETURN(const std::string bytes, SerializeStepFile(file));
    TD_RETURN_IF_ERROR(WriteOutputFile(env_, "--replay_out", run_.request.out, bytes));
    std::printf("%s: %d arrays\n", run_.request.out.c_str(), static_cast<int>(file.arrays.size()));
    return absl::OkStatus();
  }

  Estimator::Impl& e_;
  ReplayedRun& run_;
  Env* const env_;
  const int64_t step_;
  std::vector<std::string> checkpoints_;  // checkpoints of the run, oldest first
  Estimator::Impl::Prepared prepared_;
  ModeProgram::Fetches of_hooks_;  // tensors that hooks of the run fetched
  // The program that was compiled with the run's options; null if the first one had the same options.
  std::unique_ptr<ModeProgram> again_;
  std::vector<WantedTensor> wanted_;
  int64_t first_ = 0;     // the first step of the run that the replay makes
  std::string began_at_;  // where the replay began: "model.ckpt-100"
  int64_t compared_ = 0;  // number of steps compared with the record
  // What the replayed step gave: whether it was made, whether it was finite, and the following members.
  bool made_ = false, finite_ = true;
  std::string culprit_;  // the op whose result is not finite
  TensorMap before_, after_;
  HostTensor loss_;
  std::map<std::string, HostTensor> fetched_;
  std::vector<int64_t> rows_;
  std::vector<std::string> changing_;  // tensors that change the step's bits if fetched
  int programs_ = 0;                   // number of programs compiled to fetch tensors
};

absl::Status Estimator::Impl::ReplayTraining(const InputFn& input_fn, const TrainOptions& options) {
  TD_RETURN_IF_ERROR(status_);
  const int64_t step = replayed_->request.step;
  // The global step up to which this call of Train would train, if earlier calls, which the replay skipped, had
  // trained.
  std::optional<int64_t> end = options.max_steps;
  if (options.steps.has_value()) end = replayed_->position + *options.steps;
  if (end.has_value() && step >= *end) {
    replayed_->position = std::max(replayed_->position, *end);
    TD_LOG(INFO) << "A training to step " << *end << " is passed over: step " << step << " is behind it.";
    return absl::OkStatus();
  }
  return Replay(this, replayed_.get()).Run(input_fn);
}

}  // namespace tandem
