#include "estimator/monitored_training_session.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/logging.h"
#include "base/status_macros.h"
#include "estimator/internal/estimator_impl.h"
#include "estimator/internal/training.h"

namespace tandem {
namespace {

// Fetches the tensors that the session's user has named.
class FetchHook : public SessionRunHook {
 public:
  explicit FetchHook(std::vector<std::string> names) : names_(std::move(names)) {}
  std::string name() const override { return "MonitoredTrainingSession"; }
  absl::Status Begin(HookContext& context) override {
    for (const std::string& name : names_) context.Fetch(name);
    return absl::OkStatus();
  }
  std::vector<std::string> BeforeRun(RunContext&) override { return names_; }

 private:
  const std::vector<std::string> names_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<MonitoredTrainingSession>> MonitoredTrainingSession::Start(
    Estimator& estimator, const InputFn& input_fn, const TrainOptions& options,
    const std::vector<std::string>& fetches) {
  Estimator::Impl& impl = *estimator.impl_;
  if (impl.replays()) {
    return absl::FailedPreconditionError(
        "MonitoredTrainingSession: --replay_step makes steps of Train and TrainAndEvaluate again, and not those of a "
        "loop of one's own; train with one of them to go back into a run");
  }
  TD_RETURN_IF_ERROR(impl.CheckTrains());
  if (impl.config().compile_only) {
    return absl::FailedPreconditionError(
        "MonitoredTrainingSession: RunConfig.compile_only is set, and a session makes steps; call Train");
  }
  TrainOptions all = options;
  if (!fetches.empty()) all.hooks.push_back(std::make_shared<FetchHook>(fetches));
  std::unique_ptr<Training> training;
  TD_RETURN_IF_ERROR(impl.Together([&]() -> absl::Status {
    TD_ASSIGN_OR_RETURN(training, Training::Start(&impl, input_fn, all));
    return absl::OkStatus();
  }));
  return std::unique_ptr<MonitoredTrainingSession>(
      new MonitoredTrainingSession(estimator, std::move(training), fetches));
}

MonitoredTrainingSession::MonitoredTrainingSession(const Estimator& estimator, std::unique_ptr<Training> training,
                                                   const std::vector<std::string>& fetches)
    : impl_(estimator.impl_),
      alive_(estimator.alive()),
      training_(std::move(training)),
      fetches_(fetches.begin(), fetches.end()) {
  fetches_.insert({"loss", "global_step"});
  if (training_ == nullptr) state_ = State::kNoStepLeft;
  impl_->cooperation().set_between_own_steps(training_ != nullptr);
}

MonitoredTrainingSession::~MonitoredTrainingSession() {
  if (training_ == nullptr || !status_.ok()) return;
  TD_LOG(WARNING) << "A MonitoredTrainingSession ends without Close: what came after the last checkpoint is lost.";
  // Makes the next call of the other workers fail, so that they do not wait for this one.
  (void)impl_->Together([] { return absl::FailedPreconditionError("a MonitoredTrainingSession ended without Close"); });
}

absl::Status MonitoredTrainingSession::InTraining(const std::function<absl::Status()>& call) {
  impl_->cooperation().set_between_own_steps(false);
  const absl::Status status = impl_->Together(call);
  impl_->cooperation().set_between_own_steps(true);
  return status;
}

absl::Status MonitoredTrainingSession::Prepare() {
  TD_RETURN_IF_ERROR(status_);
  if (alive_.expired()) {
    status_ = absl::FailedPreconditionError(
        "MonitoredTrainingSession: its Estimator is gone; keep it until the session is closed");
    return status_;
  }
  if (state_ != State::kBetweenSteps) return absl::OkStatus();
  status_ = InTraining([&]() -> absl::Status {
    TD_ASSIGN_OR_RETURN(const bool more, training_->Prepare());
    state_ = more ? State::kPrepared : State::kNoStepLeft;
    return absl::OkStatus();
  });
  return status_;
}

bool MonitoredTrainingSession::ShouldStop() {
  return Prepare().ok() && (state_ == State::kNoStepLeft || state_ == State::kClosed);
}

absl::StatusOr<RunValues> MonitoredTrainingSession::Run() {
  TD_RETURN_IF_ERROR(Prepare());
  if (state_ != State::kPrepared) {
    return absl::FailedPreconditionError(
        "MonitoredTrainingSession::Run: there is no step left; ask ShouldStop before each");
  }
  state_ = State::kBetweenSteps;
  RunValues values;
  status_ = InTraining([&]() -> absl::Status {
    TD_ASSIGN_OR_RETURN(values, training_->Run());
    return absl::OkStatus();
  });
  TD_RETURN_IF_ERROR(status_);
  // Removes tensors that hooks have fetched and the session's user has not named.
  std::erase_if(values.tensors, [&](const auto& entry) { return !fetches_.contains(entry.first); });
  return values;
}

absl::Status MonitoredTrainingSession::Save() {
  TD_RETURN_IF_ERROR(status_);
  if (state_ == State::kClosed || alive_.expired()) {
    return absl::FailedPreconditionError("MonitoredTrainingSession::Save: it is closed, or its Estimator is gone");
  }
  if (state_ == State::kPrepared) {
    return absl::FailedPreconditionError(
        "MonitoredTrainingSession::Save: ShouldStop has prepared the next step, whose batches are drawn; call Save "
        "behind Run, in front of ShouldStop");
  }
  // There was nothing to train, so the checkpoint exists already.
  if (training_ == nullptr) return absl::OkStatus();
  // If checkpoints are off, Save of the training returns an error; status_ stays OK, so that the session can go on.
  if (!impl_->config().checkpoints_enabled()) return training_->Save();
  status_ = InTraining([&] { return training_->Save(); });
  return status_;
}

absl::Status MonitoredTrainingSession::Close() {
  if (state_ == State::kClosed) {
    return absl::FailedPreconditionError("MonitoredTrainingSession::Close: it is closed already");
  }
  TD_RETURN_IF_ERROR(status_);
  if (state_ == State::kPrepared) TD_RETURN_IF_ERROR(Run().status());
  if (training_ == nullptr) {  // there was nothing to train
    state_ = State::kClosed;
    return absl::OkStatus();
  }
  if (state_ == State::kBetweenSteps) training_->RequestStop();
  TD_RETURN_IF_ERROR(Prepare());
  state_ = State::kClosed;
  status_ = InTraining([&] { return training_->End(); });
  training_ = nullptr;
  return status_;
}

int64_t MonitoredTrainingSession::global_step() const {
  return training_ != nullptr ? impl_->global_step() : impl_->last_train()->global_step;
}

}  // namespace tandem
