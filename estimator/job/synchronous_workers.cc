#include "estimator/job/synchronous_workers.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/fingerprint.h"
#include "base/logging.h"
#include "base/status_macros.h"
#include "estimator/workers/agree_on_parts.h"
#include "estimator/workers/share_checkpoint.h"
#include "runtime/device_classes/device_classes.h"
#include "runtime/format/index.h"

namespace tandem {
namespace {

using WorkersWish = WorkerGroup::Wish;

WorkersWish WishOf(const std::optional<StopReason>& stop) {
  if (!stop.has_value()) return WorkersWish::kGoOn;
  return *stop == StopReason::kSignal ? WorkersWish::kSignal : WorkersWish::kStop;
}

}  // namespace

Cooperation::Share SynchronousWorkers::ShareOf(Mode mode) const {
  const auto workers = static_cast<int>(cluster().world_size);
  AutoShard input = context().config.auto_shard;
  if (input == AutoShard::kFile && mode != Mode::kTrain) input = AutoShard::kBatch;
  return {.workers = workers, .worker = static_cast<int>(cluster().rank), .step_workers = workers, .input = input};
}

std::unique_ptr<WorkerInput> SynchronousWorkers::MakeInput(const Share& share, BatchDealer* dealer) {
  if (share.input == AutoShard::kBatch || joined_ == nullptr) return Cooperation::MakeInput(share, dealer);
  return std::make_unique<OwnInputs>(&workers(), dealer);
}

absl::Status SynchronousWorkers::Join() {
  if (joined_ != nullptr) return absl::OkStatus();
  const StallWatch::Scope meeting(context().stall_watch,
                                  absl::StrCat("Meeting the other workers (", cluster().Text(), ")"));
  TD_ASSIGN_OR_RETURN(joined_, JoinedWorkers::Join(cluster(), context().config));
  // The chief's log tells what all workers do, so the others log only warnings.
  if (!is_chief()) SetMinLogSeverity(LogSeverity::kWarning);
  return absl::OkStatus();
}

absl::Status SynchronousWorkers::Ended(const absl::Status& status) {
  // A signal is not reported as a failure, because all workers agree to stop because of it.
  return joined_ != nullptr && !absl::IsCancelled(status) ? joined_->Ended(status) : status;
}

absl::Status SynchronousWorkers::Agree(absl::string_view what, absl::string_view value, absl::string_view remedy) {
  return joined_ != nullptr ? workers().Agree(what, value, remedy) : absl::OkStatus();
}

absl::Status SynchronousWorkers::AgreeOnWork(const ModeProgram& program, const WorkerInput& input,
                                             BatchDealer& dealer) {
  const format::Index& index = program.executable().index();
  TD_RETURN_IF_ERROR(Agree("target", index.target_name, "name one as RunConfig.target"));
  TD_RETURN_IF_ERROR(AgreeOnParts(
      workers(), absl::StrCat("the program of mode ", ModeName(program.mode())), index.key,
      [&] { return program.parts(); }, "model_fn, input_fn and RunConfig must be the same on all of them"));
  TD_RETURN_IF_ERROR(Agree(absl::StrCat("the numbers of mode ", ModeName(program.mode())), program.NumbersText(),
                           "model_fn and its params must be the same on all of them"));
  if (program.mode() == Mode::kTrain) {
    TD_RETURN_IF_ERROR(Agree("RunConfig.check_steps_every", absl::StrCat(context().config.check_steps_every),
                             "they make such steps twice together: set the same on all of them"));
  }
  if (!input.is_same_for_all()) return absl::OkStatus();
  TD_RETURN_IF_ERROR(Agree("data", dealer.data_fingerprint(),
                           "give all workers the same input, each takes its part of it; or set RunConfig.auto_shard to "
                           "kOff, where each has an input of its own"));
  TD_ASSIGN_OR_RETURN(const std::string order, dealer.SaveState());
  return Agree("the order of the input", absl::StrCat(absl::Hex(Fingerprint64(order))),
               "give its stages the same options, seeds and shards on all of them, or set RunConfig.auto_shard to "
               "kOff, where each has an input of its own");
}

absl::StatusOr<ModeProgram::Fetches> SynchronousWorkers::FetchesOfAll(const ModeProgram& program,
                                                                      ModeProgram::Fetches mine) {
  const StallWatch::Scope waiting(context().stall_watch,
                                  absl::StrCat("Waiting until all workers are in mode ", ModeName(program.mode())));
  std::vector<std::string> names;
  for (const auto& [name, hook] : mine) names.push_back(absl::StrCat(name, "\t", hook));
  TD_ASSIGN_OR_RETURN(const std::vector<std::string> all,
                      workers().Gather(absl::StrJoin(names, "\n"), "what hooks fetch"));
  ModeProgram::Fetches fetches;
  for (const std::string& text : all) {
    for (absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
      const std::pair<std::string, std::string> fetch = absl::StrSplit(line, absl::MaxSplits('\t', 1));
      fetches.insert(fetch);
    }
  }
  return fetches;
}

absl::StatusOr<std::string> SynchronousWorkers::TextFromChief(std::string mine, absl::string_view what) {
  return workers().FromChief(mine, what);
}

absl::StatusOr<std::optional<CheckpointData>> SynchronousWorkers::CheckpointFromChief(
    std::optional<CheckpointData> mine) {
  return ShareCheckpoint(workers(), std::move(mine));
}

absl::StatusOr<std::vector<std::string>> SynchronousWorkers::OwnGpus(const std::vector<std::string>& named) const {
  const size_t here = joined_->workers_here(), each = named.size();
  for (size_t i = 0; i < each; ++i) {
    if (named[i] != absl::StrCat("gpu:", i)) return named;
  }
  TD_ASSIGN_OR_RETURN(const std::vector<DeviceInfo> gpus, ListDevices("gpu"));
  // The machine has fewer GPUs than its workers need together, so a launcher has given each worker GPUs of its own.
  if (gpus.size() < here * each) return named;
  std::vector<std::string> own;
  for (size_t i = 0; i < each; ++i) own.push_back(absl::StrCat("gpu:", joined_->workers_here_before() * each + i));
  return own;
}

absl::Status SynchronousWorkers::ConfigureSession(const DistributionStrategy& strategy, Session::Options* session) {
  session->group = &workers().group();
  if (strategy.gpu()) {
    TD_ASSIGN_OR_RETURN(session->devices, OwnGpus(strategy.devices));
  }
  return absl::OkStatus();
}

void SynchronousWorkers::ConfigureLoop(LoopOptions* loop, std::function<uint64_t()> scalars) {
  loop->shared_steps = true;
  loop->agree = [this, scalars = std::move(scalars)](
                    std::optional<StopReason> mine) -> absl::StatusOr<std::optional<StopReason>> {
    TD_ASSIGN_OR_RETURN(const WorkerGroup::Meeting met, workers().Meet(WishOf(mine), scalars));
    switch (met.wish) {
      case WorkersWish::kGoOn:
        return std::optional<StopReason>();
      case WorkersWish::kStop:
        return std::optional<StopReason>(StopReason::kStopRequested);
      case WorkersWish::kSignal:
        break;
    }
    if (mine == StopReason::kSignal) return std::optional<StopReason>(StopReason::kSignal);
    TD_LOG(WARNING) << "The worker of rank " << met.from << " was asked to stop by a signal: all workers stop.";
    return std::optional<StopReason>(StopReason::kPeerSignal);
  };
}

absl::Status SynchronousWorkers::BeginTraining(ModeProgram& program, WorkerInput& input, StepLoop& loop) {
  inputs_differ_ = !input.is_same_for_all();
  if (inputs_differ_) workers().set_on_save([&input] { return input.PositionForCheckpoint().status(); });
  return loop.Begin();
}

void SynchronousWorkers::TrainingOver() {
  inputs_differ_ = between_own_steps_ = false;
  if (joined_ != nullptr) workers().set_on_save(nullptr);
}

absl::Status SynchronousWorkers::PrepareSave(int64_t* step) {
  return inputs_differ_ ? workers().AnnounceSave() : absl::OkStatus();
}

absl::Status SynchronousWorkers::MeetForEvaluation(uint64_t number) {
  if (joined_ == nullptr || !context().resident.training() || workers().evaluating_with_chief()) {
    return absl::OkStatus();
  }
  if (between_own_steps_) return workers().MeetForEvaluation();
  if (is_chief()) return workers().AnnounceEvaluation(number);
  return absl::FailedPreconditionError(absl::StrCat(
      "Evaluate inside of a training: the chief evaluates there, for TrainAndEvaluate, and this is ",
      workers().name(workers().rank()), "; all workers may evaluate between the steps of a MonitoredTrainingSession"));
}

std::string SynchronousWorkers::InputText(const WorkerInput& input) const {
  if (joined_ == nullptr) return "";
  if (input.is_same_for_all()) return "Every worker reads the whole input and takes its own batches of it.";
  return context().config.auto_shard == AutoShard::kFile ? "Every worker reads files of its own (auto_shard: file)."
                                                         : "Every worker has an input of its own (auto_shard: off).";
}

}  // namespace tandem
