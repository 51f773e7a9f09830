#include "estimator/job/served_worker.h"

#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/count_text.h"
#include "base/logging.h"
#include "base/status_macros.h"
#include "estimator/loop/signals.h"
#include "estimator/parameter_server/own_batches.h"
#include "estimator/parameter_server/served_runner.h"
#include "estimator/workers/worker_positions.h"

namespace tandem {
namespace {

using ServedWish = ServedVariables::Wish;

}  // namespace

// The input of a worker that makes steps of its own.
class ServedInput : public WorkerInput {
 public:
  ServedInput(ServedWorker* worker, BatchDealer* dealer) : worker_(*worker), dealer_(*dealer), batches_(dealer) {}

  absl::StatusOr<bool> Next(BatchRound* round) override { return batches_.Next(round); }
  bool ends_pass() override { return batches_.ends_pass(); }
  std::string TraceArgs() const override { return batches_.TraceArgs(); }

  absl::StatusOr<std::string> SavePosition() override {
    TD_ASSIGN_OR_RETURN(const InputPosition position, batches_.Position());
    return position.ToText();
  }
  absl::StatusOr<std::string> PositionForCheckpoint() override;
  // Goes on from this worker's position in `text`. On the chief also stores the other workers' positions in it, which
  // BeginTraining sends to the servers.
  absl::Status RestorePosition(absl::string_view text) override;
  void KeepEnd() override { batches_.KeepEnd(); }
  int64_t batches() const override { return dealer_.batches(); }
  bool had_ended() const override { return batches_.had_ended(); }

  const BatchDealer& dealer() const { return dealer_; }
  OwnBatches& own_batches() { return batches_; }

 private:
  const RunConfig& config() const { return worker_.context().config; }
  // Returns the number of examples in a round, which has a batch for each replica of all workers.
  int64_t round() const { return dealer_.batches_per_round() * (dealer_.batch_size() / config().accumulate_batches); }
  // Goes on from the only position in `text`. If the workers share an input, all of them go on from that position.
  absl::Status RestoreOne(absl::string_view text);

  ServedWorker& worker_;
  BatchDealer& dealer_;
  OwnBatches batches_;
};

absl::StatusOr<std::string> ServedInput::PositionForCheckpoint() {
  const int64_t workers = worker_.cluster().world_size;
  TD_ASSIGN_OR_RETURN(const InputPosition mine, batches_.Position());
  if (workers == 1) return mine.state;
  WorkerPositions all{.shared = config().auto_shard == AutoShard::kBatch, .round = round()};
  const ServedVariables::Positions& positions = worker_.variables_->positions();
  for (int64_t rank = 0; rank < workers; ++rank) {
    const auto found = positions.find(rank);
    const bool known = rank > 0 && found != positions.end();
    const InputPosition position = known      ? InputPosition::FromText(found->second.position)
                                   : rank > 0 ? InputPosition()
                                              : mine;
    all.states.push_back(position.state);
    all.examples.push_back(position.examples);
    if (!known || found->second.behind == 0) continue;
    TD_LOG(WARNING) << "The worker of rank " << rank << " has not said where its input is for " << found->second.behind
                    << " updates, which the checkpoint holds: a training that goes on from it takes their examples "
                       "again.";
  }
  return all.ToText();
}

absl::Status ServedInput::RestoreOne(absl::string_view text) {
  TD_RETURN_IF_ERROR(batches_.Restore(InputPosition::FromText(text)));
  if (config().auto_shard != AutoShard::kBatch) return absl::OkStatus();
  for (int64_t rank = 0; rank < worker_.cluster().world_size; ++rank) {
    worker_.first_positions_[rank] = {.position = std::string(text)};
  }
  return absl::OkStatus();
}

absl::Status ServedInput::RestorePosition(absl::string_view text) {
  const bool shared = config().auto_shard == AutoShard::kBatch;
  const int64_t workers = worker_.cluster().world_size;
  TD_ASSIGN_OR_RETURN(const std::optional<WorkerPositions> saved, WorkerPositions::FromText(text));
  worker_.first_positions_.clear();
  if (!saved.has_value()) return RestoreOne(text);
  if (saved->shared != shared) {
    return absl::FailedPreconditionError(
        shared ? "the checkpoint has the positions of workers with an input of their own each (auto_shard: off or file)"
               : "the checkpoint has positions in an input that all workers shared, and each has its own now "
                 "(auto_shard)");
  }
  const auto count = static_cast<int64_t>(saved->states.size());
  if (!shared && count != workers) {
    return absl::FailedPreconditionError(absl::StrCat("the checkpoint has the positions of ", count,
                                                      " workers' own inputs, and there are ", workers, " workers"));
  }
  const bool earliest = shared && (count != workers || saved->round != round());
  if (earliest) TD_LOG(INFO) << saved->EarliestText();
  ServedVariables::Positions positions;
  for (int64_t rank = 0; rank < workers; ++rank) {
    const size_t from = earliest ? saved->Earliest() : rank;
    const InputPosition position{.state = saved->states[from], .examples = shared ? saved->examples[from] : 0};
    if (rank == 0) TD_RETURN_IF_ERROR(batches_.Restore(position));
    if (!position.state.empty()) positions[rank] = {.position = position.ToText()};
  }
  worker_.first_positions_ = std::move(positions);
  return absl::OkStatus();
}

ServedWorker::ServedWorker(const Cluster& cluster, const Context& context) : ServedTask(cluster, context) {
  const RunConfig& config = context.config;
  ServedVariables::Options options;
  options.addresses = servers();
  options.rank = cluster.rank;
  options.who = WhoIs();
  options.deadline_seconds = config.peer_deadline_secs;
  options.start_deadline_seconds = 10 * config.peer_deadline_secs;
  options.tls = config.tls;
  if (config.handle_signals) options.interrupted = [] { return SignalGuard::pending() != 0; };
  variables_ = std::make_unique<ServedVariables>(std::move(options));
}

ServedWorker::~ServedWorker() {
  if (is_chief()) variables_->End(result_);
}

Cooperation::Share ServedWorker::ShareOf(Mode mode) const {
  return {.workers = static_cast<int>(cluster().world_size),
          .worker = static_cast<int>(cluster().rank),
          .input = context().config.auto_shard};
}

std::unique_ptr<WorkerInput> ServedWorker::MakeInput(const Share& share, BatchDealer* dealer) {
  return std::make_unique<ServedInput>(this, dealer);
}

absl::Status ServedWorker::Ended(const absl::Status& status) {
  if (!absl::IsCancelled(status)) result_ = status;
  return status;
}

void ServedWorker::ConfigureLoop(LoopOptions* loop, std::function<uint64_t()> scalars) {
  loop->agree = [this](std::optional<StopReason> mine) -> absl::StatusOr<std::optional<StopReason>> {
    if (mine.has_value() || variables_->wish() == ServedWish::kGoOn) return mine;
    const bool by_signal = variables_->wish() == ServedWish::kSignal;
    return std::make_optional(by_signal ? StopReason::kPeerSignal : StopReason::kStopRequested);
  };
}

std::unique_ptr<StepRunner> ServedWorker::MakeRunner(ModeProgram& program) {
  return std::make_unique<ServedRunner>(&program.runner(), variables_.get());
}

absl::Status ServedWorker::BeginTraining(ModeProgram& program, WorkerInput& input, StepLoop& loop) {
  ++training_;
  met_ = false;
  auto& served = static_cast<ServedInput&>(input);  // MakeInput has made this object
  OwnBatches& batches = served.own_batches();
  batches.set_all_at_end([this](bool keep) { return variables_->AllAtEnd(keep); });
  variables_->set_position([&served] { return served.SavePosition(); });
  variables_->set_facts(FactsOf(program, served.dealer()));
  TD_RETURN_IF_ERROR(Meet(program, loop));
  met_ = true;
  return RestoreInput(batches);
}

absl::Status ServedWorker::Meet(ModeProgram& program, StepLoop& loop) {
  const StallWatch::Scope meeting(context().stall_watch,
                                  absl::StrCat("Meeting the parameter servers (", cluster().Text(), ")"));
  bool looked = false;
  absl::Status of_loop;
  variables_->set_look([&]() -> absl::StatusOr<bool> {
    looked = true;
    TD_RETURN_IF_ERROR(of_loop = loop.Begin());
    return loop.context().stop_requested();
  });
  ResidentState& resident = context().resident;
  const absl::Status begun = variables_->Begin(program.executable(), resident.model().store(), resident.global_step(),
                                               training_, std::exchange(first_positions_, {}));
  variables_->set_look(nullptr);
  TD_RETURN_IF_ERROR(of_loop);
  if (absl::IsCancelled(begun)) {
    return SignalError(SignalGuard::pending(), ", while it waited for the parameter servers and the chief's values");
  }
  TD_RETURN_IF_ERROR(begun);
  TD_RETURN_IF_ERROR(TakeStep());
  return looked ? absl::OkStatus() : loop.Begin();
}

absl::Status ServedWorker::RestoreInput(OwnBatches& batches) {
  // In a later training of this process the input is at this worker's position already. So is the input of a chief that
  // has just sent its own values to the servers, because it has restored its position together with these values.
  if (training_ > 1 || (is_chief() && !variables_->had_values())) return absl::OkStatus();
  const auto mine = variables_->positions().find(cluster().rank);
  if (mine == variables_->positions().end() || mine->second.position.empty()) return absl::OkStatus();
  const absl::Status restored = batches.Restore(InputPosition::FromText(mine->second.position));
  if (!absl::IsFailedPrecondition(restored)) return restored;
  TD_LOG(WARNING) << "The input starts from its beginning: " << restored.message();
  return absl::OkStatus();
}

absl::Status ServedWorker::TakeStep() {
  ResidentState& resident = context().resident;
  const bool changed = *resident.step_counter() != variables_->step();
  *resident.step_counter() = variables_->step();
  return changed ? resident.StepTaken() : absl::OkStatus();
}

absl::Status ServedWorker::ReadAll() {
  TD_RETURN_IF_ERROR(variables_->ReadAll());
  return TakeStep();
}

absl::Status ServedWorker::PrepareSave(int64_t* step) {
  // Until the servers have values, the newest values are those in this process's memory.
  if (met_) TD_RETURN_IF_ERROR(ReadAll());
  *step = context().resident.global_step();
  return absl::OkStatus();
}

absl::StatusOr<StopReason> ServedWorker::WaitForOthers(StopReason reason) {
  const StallWatch::Scope waiting(context().stall_watch, "Waiting for the steps of the other workers");
  // Leave and Stop also release workers that are too many updates ahead and wait for an update of the chief.
  if (reason == StopReason::kEndOfInput) TD_RETURN_IF_ERROR(variables_->Leave(training_));
  if (reason == StopReason::kStopRequested) TD_RETURN_IF_ERROR(variables_->Stop(ServedWish::kStop));
  if (reason != StopReason::kSignal) {
    const absl::Status waited = variables_->WaitForOthers(training_);
    if (!absl::IsCancelled(waited)) TD_RETURN_IF_ERROR(waited);
    if (!waited.ok()) reason = StopReason::kSignal;
  }
  if (reason == StopReason::kSignal) {
    TD_RETURN_IF_ERROR(variables_->Stop(ServedWish::kSignal));
    TD_RETURN_IF_ERROR(variables_->WaitForOthers(training_, /*here_only=*/true));
  }
  return reason;
}

absl::StatusOr<StopReason> ServedWorker::EndSteps(StopReason reason) {
  if (!is_chief()) {
    TD_RETURN_IF_ERROR(variables_->Leave(training_));
    return reason;
  }
  TD_ASSIGN_OR_RETURN(reason, WaitForOthers(reason));
  TD_RETURN_IF_ERROR(ReadAll());
  return reason;
}

std::string ServedWorker::WorkersText() const {
  return absl::StrCat(CountText(cluster().world_size, "worker"), ", each with steps of its own, and ",
                      CountText(static_cast<int64_t>(servers().size()), "parameter server"),
                      context().config.tls.has_value() ? ". TLS encrypts what they send to each other." : ".");
}

}  // namespace tandem
