#include "cluster/coordinator.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "base/logging.h"
#include "base/status_macros.h"
#include "base/threads.h"
#include "cluster/clock.h"
#include "cluster/wire.h"

namespace tandem {

using rendezvous::ClientMessage;
using rendezvous::ServerMessage;
using Seconds = std::chrono::duration<double>;
using Steady = std::chrono::steady_clock;

namespace {

SteadyTime Now() { return std::chrono::steady_clock::now(); }

}  // namespace

// The coordinator's mutex guards the visitor's state, except the message that gRPC is reading. gRPC calls back on
// threads of its own, never inside of the calls that start an operation. Callbacks are noexcept, so an exception ends
// the process: gRPC would drop it, and the other processes would wait forever for what the callback did not do.
class Coordinator::Visitor : public grpc::ServerBidiReactor<ClientMessage, ServerMessage>,
                             public CoordinatorState::Visitor {
 public:
  explicit Visitor(Coordinator* coordinator) : coordinator_(coordinator) {
    std::lock_guard lock(coordinator_->mutex_);
    coordinator_->state_.Add(this);
    ++coordinator_->calls_;
    StartRead(&received_);
  }

  void Send(ServerMessage message) override {
    if (finishing_) return;
    queue_.push_back(std::move(message));
    if (queue_.size() == 1) StartWrite(&queue_.front());
  }
  void End() override {
    if (finishing_) return;
    finishing_ = true;
    if (queue_.empty()) Finish(grpc::Status::OK);
  }
  bool idle() const override { return queue_.empty() && !finishing_; }

  void OnReadDone(bool ok) noexcept override {
    std::lock_guard lock(coordinator_->mutex_);
    if (ok) {
      coordinator_->state_.Hear(this, received_);
    } else {
      coordinator_->state_.Broke(this);
    }
    coordinator_->changed_.notify_all();
    if (ok && !finishing_) StartRead(&received_);
  }
  void OnWriteDone(bool ok) noexcept override {
    std::lock_guard lock(coordinator_->mutex_);
    if (!ok) queue_.resize(1);  // after a failed write, drops the messages that follow: they would not arrive either
    queue_.pop_front();
    if (!queue_.empty()) {
      StartWrite(&queue_.front());
    } else if (finishing_) {
      Finish(grpc::Status::OK);
    }
  }
  void OnDone() noexcept override {
    {
      std::lock_guard lock(coordinator_->mutex_);
      coordinator_->state_.Remove(this);
      --coordinator_->calls_;
      coordinator_->changed_.notify_all();
    }
    delete this;
  }

 private:
  Coordinator* const coordinator_;
  ClientMessage received_;
  std::deque<ServerMessage> queue_;  // messages to send; the first one is being sent
  bool finishing_ = false;
};

class Coordinator::Question : public grpc::ServerUnaryReactor {
 public:
  Question(Coordinator* coordinator, rendezvous::Reply* reply) : coordinator_(coordinator), reply_(reply) {
    ++coordinator_->calls_;
  }
  void Answer(const absl::StatusOr<std::string>& value) {
    if (value.ok()) {
      reply_->set_value(*value);
    } else {
      ToMessage(value.status(), reply_->mutable_failure());
    }
    Finish(grpc::Status::OK);
  }
  void OnCancel() noexcept override {
    std::lock_guard lock(coordinator_->mutex_);
    if (coordinator_->state_.Cancel(this)) Finish(grpc::Status::CANCELLED);
  }
  void OnDone() noexcept override {
    {
      std::lock_guard lock(coordinator_->mutex_);
      --coordinator_->calls_;
      coordinator_->changed_.notify_all();
    }
    delete this;
  }

 private:
  Coordinator* const coordinator_;
  rendezvous::Reply* const reply_;
};

absl::StatusOr<std::unique_ptr<Coordinator>> Coordinator::Start(const Cluster& cluster, absl::string_view who,
                                                                const MeetingPlace& place, const Facts& facts,
                                                                double deadline_seconds, double start_deadline_seconds,
                                                                const Credentials& credentials) {
  TD_ASSIGN_OR_RETURN(ClaimedPlace claim, ClaimedPlace::Claim(place));
  std::unique_ptr<Coordinator> coordinator(
      new Coordinator(cluster, who, std::move(claim), facts, deadline_seconds, start_deadline_seconds));
  grpc::ServerBuilder builder;
  SetServerArguments(deadline_seconds, &builder);
  int port = 0;
  builder.AddListeningPort(place.target(), credentials.Listening(place.target()), &port);
  builder.RegisterService(coordinator.get());
  coordinator->server_ = builder.BuildAndStart();
  if (coordinator->server_ == nullptr || port == 0) return CannotListen(place, "address in use");
  TD_ASSIGN_OR_RETURN(coordinator->watch_,
                      StartThread("watching the processes of the cluster", [c = coordinator.get()] { c->Watch(); }));
  return coordinator;
}

Coordinator::Coordinator(const Cluster& cluster, absl::string_view who, ClaimedPlace claim, const Facts& facts,
                         double deadline_seconds, double start_deadline_seconds)
    : deadline_seconds_(deadline_seconds),
      claim_(std::move(claim)),
      state_(cluster, who, facts, deadline_seconds, start_deadline_seconds) {}

Coordinator::~Coordinator() {
  if (watch_.joinable()) {
    std::unique_lock lock(mutex_);
    const SteadyTime end = After<Steady>(deadline_seconds_ * 0.75);
    const Roster& roster = state_.roster();
    changed_.wait_until(lock, end, [&] { return !roster.verdict().ok() || roster.all_others_left(); });
    state_.EndOfCoordinator();
    // Seconds for which this waits if the processes differ (in world size or facts): a process that has not connected
    // yet must learn this too, instead of trying in vain to reach rank 0.
    constexpr double kLinger = 5;
    const bool differ = absl::IsInvalidArgument(roster.verdict());
    const SteadyTime told = std::min(end, After<Steady>(kLinger));
    changed_.wait_until(lock, told, [&] { return !differ || roster.seen() >= roster.world_size(); });
  }
  // Waits a little, so that messages that are being sent arrive, unless the other end has stopped.
  if (server_ != nullptr) {
    server_->Shutdown(std::chrono::system_clock::now() +
                      std::chrono::duration_cast<std::chrono::system_clock::duration>(
                          Seconds(std::min(deadline_seconds_ * 0.25, 2.0))));
  }
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return calls_ == 0; });
    stop_ = true;
    changed_.notify_all();
  }
  if (watch_.joinable()) watch_.join();
}

std::shared_ptr<grpc::Channel> Coordinator::Channel() {
  return server_->InProcessChannel(ClientArguments(deadline_seconds_));
}

void Coordinator::Watch() {
  constexpr double kFirstNote = 10, kNotes = 30;
  SteadyTime note = After<Steady>(kFirstNote), beat = Now();
  std::unique_lock lock(mutex_);
  while (!stop_) {
    if (const SteadyTime now = Now(); now >= beat) {
      beat = now + std::chrono::duration_cast<SteadyTime::duration>(HeartbeatPeriod(deadline_seconds_));
      state_.Beat();
      const Roster& roster = state_.roster();
      if (!roster.complete() && roster.verdict().ok() && now >= note) {
        TD_LOG(INFO) << "Waiting: " << roster.Missing() << ".";
        note = After<Steady>(kNotes);
      }
    }
    state_.Expire();
    changed_.wait_until(lock, std::min(beat, state_.NextDeadline()));
  }
}

grpc::ServerBidiReactor<ClientMessage, ServerMessage>* Coordinator::Join(grpc::CallbackServerContext*) noexcept {
  return new Visitor(this);
}

grpc::ServerUnaryReactor* Coordinator::Ask(grpc::CallbackServerContext*, const rendezvous::Request* request,
                                           rendezvous::Reply* reply) noexcept {
  std::lock_guard lock(mutex_);
  auto* question = new Question(this, reply);
  state_.Ask(*request, question, [question](const absl::StatusOr<std::string>& value) { question->Answer(value); });
  changed_.notify_all();  // wakes Watch, because this request's deadline may be the earliest
  return question;
}

}  // namespace tandem
