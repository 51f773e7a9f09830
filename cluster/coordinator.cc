#include "cluster/coordinator.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "absl/strings/str_cat.h"
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

ServerMessage Heartbeat() {
  ServerMessage message;
  message.mutable_heartbeat();
  return message;
}

ServerMessage FailureMessage(const absl::Status& status) {
  ServerMessage message;
  ToMessage(status, message.mutable_failure());
  return message;
}

}  // namespace

// Its state, but what it reads into, is guarded by the coordinator's mutex. gRPC calls back from threads of its own,
// never from inside of what it is asked to start.
class Coordinator::Visitor : public grpc::ServerBidiReactor<ClientMessage, ServerMessage> {
 public:
  explicit Visitor(Coordinator* coordinator) : coordinator_(coordinator) {
    std::lock_guard lock(coordinator_->mutex_);
    coordinator_->visitors_.insert(this);
    ++coordinator_->calls_;
    StartRead(&received_);
  }

  void Send(ServerMessage message) {
    if (finishing_) return;
    queue_.push_back(std::move(message));
    if (queue_.size() == 1) StartWrite(&queue_.front());
  }
  // After what is to be sent.
  void End() {
    if (finishing_) return;
    finishing_ = true;
    if (queue_.empty()) Finish(grpc::Status::OK);
  }
  bool idle() const { return queue_.empty() && !finishing_; }

  int64_t rank = -1;  // once it is admitted
  bool greeted = false;

  void OnReadDone(bool ok) override {
    std::lock_guard lock(coordinator_->mutex_);
    if (!ok) return coordinator_->Broke(this);
    coordinator_->Hear(this, received_);
    if (!finishing_) StartRead(&received_);
  }
  void OnWriteDone(bool ok) override {
    std::lock_guard lock(coordinator_->mutex_);
    if (!ok) queue_.resize(1);  // the rest would not arrive either
    queue_.pop_front();
    if (!queue_.empty()) {
      StartWrite(&queue_.front());
    } else if (finishing_) {
      Finish(grpc::Status::OK);
    }
  }
  void OnDone() override {
    {
      std::lock_guard lock(coordinator_->mutex_);
      coordinator_->visitors_.erase(this);
      --coordinator_->calls_;
      coordinator_->changed_.notify_all();
    }
    delete this;
  }

 private:
  Coordinator* const coordinator_;
  ClientMessage received_;
  std::deque<ServerMessage> queue_;  // the first is being sent
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
  void OnCancel() override {
    std::lock_guard lock(coordinator_->mutex_);
    if (coordinator_->store_.Cancel(this)) Finish(grpc::Status::CANCELLED);
  }
  void OnDone() override {
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
      roster_(cluster, who, facts, deadline_seconds, start_deadline_seconds, Now()),
      store_(&roster_) {}

Coordinator::~Coordinator() {
  if (watch_.joinable()) {
    std::unique_lock lock(mutex_);
    const SteadyTime end = After<Steady>(deadline_seconds_ * 0.75);
    changed_.wait_until(lock, end, [&] { return !roster_.verdict().ok() || roster_.all_others_left(); });
    roster_.EndOfCoordinator();
    Announce();
    // Whoever has not come yet shall hear too that the processes differ, and not look for rank 0 in vain.
    constexpr double kLinger = 5;
    const bool differ = absl::IsInvalidArgument(roster_.verdict());
    const SteadyTime told = std::min(end, After<Steady>(kLinger));
    changed_.wait_until(lock, told, [&] { return !differ || roster_.seen() >= roster_.world_size(); });
  }
  // What is being sent arrives, unless the other end has stopped.
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
      roster_.Tick(now);
      for (Visitor* visitor : visitors_) {
        if (visitor->rank >= 0 && visitor->idle()) visitor->Send(Heartbeat());
      }
      if (!roster_.complete() && roster_.verdict().ok() && now >= note) {
        TD_LOG(INFO) << "Waiting: " << roster_.Missing() << ".";
        note = After<Steady>(kNotes);
      }
    }
    store_.Expire(Now());
    Announce();
    changed_.wait_until(lock, std::min(beat, store_.NextDeadline()));
  }
}

grpc::ServerBidiReactor<ClientMessage, ServerMessage>* Coordinator::Join(grpc::CallbackServerContext*) {
  return new Visitor(this);
}

void Coordinator::Hear(Visitor* visitor, const ClientMessage& message) {
  if (message.kind_case() == ClientMessage::kHello && !visitor->greeted) {
    visitor->greeted = true;
    Welcome(visitor, message.hello());
  } else if (visitor->rank < 0) {
    visitor->End();  // somebody else
  } else {
    roster_.Heard(visitor->rank, Now());
    if (message.kind_case() == ClientMessage::kGivesUp) {
      roster_.GaveUp(visitor->rank, ToStatus(message.gives_up()), Now());
    } else if (message.kind_case() == ClientMessage::kLeave) {
      roster_.Left(visitor->rank);
      store_.Left();
      visitor->End();
    }
  }
  Announce();
  changed_.notify_all();
}

void Coordinator::Welcome(Visitor* visitor, const rendezvous::Hello& hello) {
  const auto refuse = [&](const absl::Status& status) {
    visitor->Send(FailureMessage(status));
    visitor->End();
  };
  if (hello.protocol() != kProtocol || hello.ByteSizeLong() > kMaxHelloBytes || hello.rank() < 0 ||
      hello.rank() >= hello.world_size()) {
    return refuse(
        absl::InvalidArgumentError(absl::StrCat("rank 0 does not understand this process: it speaks protocol ",
                                                kProtocol, "; start all with the same program")));
  }
  Comer comer{hello.rank(), hello.world_size(), hello.who(), {}};
  for (const rendezvous::Fact& fact : hello.facts()) comer.facts[fact.name()] = fact.value();
  if (absl::Status status = roster_.Admit(comer, Now()); !status.ok()) return refuse(status);
  visitor->rank = comer.rank;
  uint64_t session = 0;
  while (session == 0 || ranks_.contains(session)) session = (uint64_t{random_()} << 32) | random_();
  ranks_[session] = comer.rank;
  ServerMessage message;
  message.mutable_accepted()->set_session(session);
  message.mutable_accepted()->set_who(roster_.Name(0));
  message.mutable_accepted()->set_deadline_seconds(deadline_seconds_);
  visitor->Send(std::move(message));
}

void Coordinator::Broke(Visitor* visitor) {
  if (visitor->rank >= 0) roster_.Broke(visitor->rank, Now());
  visitor->End();
  Announce();
  changed_.notify_all();
}

void Coordinator::Announce() {
  if (roster_.complete() && !announced_complete_ && roster_.verdict().ok()) {
    announced_complete_ = true;
    ServerMessage message;
    message.mutable_complete();
    for (Visitor* visitor : visitors_) {
      if (visitor->rank >= 0) visitor->Send(message);
    }
  }
  if (!roster_.verdict().ok() && !announced_verdict_) {
    announced_verdict_ = true;
    for (Visitor* visitor : visitors_) {
      if (visitor->rank < 0) continue;
      visitor->Send(FailureMessage(roster_.verdict()));
      visitor->End();
    }
    store_.Fail(roster_.verdict());
  }
}

grpc::ServerUnaryReactor* Coordinator::Ask(grpc::CallbackServerContext*, const rendezvous::Request* request,
                                           rendezvous::Reply* reply) {
  std::lock_guard lock(mutex_);
  auto* question = new Question(this, reply);
  Answer(question, *request);
  changed_.notify_all();  // its deadline may be the next
  return question;
}

void Coordinator::Answer(Question* question, const rendezvous::Request& request) {
  const auto answer = [question](const absl::StatusOr<std::string>& value) { question->Answer(value); };
  const auto rank = ranks_.find(request.session());
  if (rank == ranks_.end()) return answer(absl::PermissionDeniedError("no process of this cluster"));
  if (!roster_.verdict().ok()) return answer(roster_.verdict());
  roster_.Heard(rank->second, Now());
  if (request.name().size() > kMaxNameBytes || request.value().size() > kMaxValueBytes) {
    return answer(absl::InvalidArgumentError("a name or a value that is too long"));
  }
  const SteadyTime deadline = After<Steady>(request.timeout_seconds());
  switch (request.kind()) {
    case rendezvous::Request::SET:
      return store_.Set(request.name(), request.value(), answer);
    case rendezvous::Request::GET:
      return store_.Get(request.name(), question, deadline, answer);
    case rendezvous::Request::BARRIER:
      return store_.Barrier(request.name(), rank->second, question, deadline, answer);
    case rendezvous::Request::AGREE:
      return store_.Agree(request.name(), rank->second, request.value(), question, deadline, answer);
    default:
      return answer(absl::UnimplementedError("rank 0 does not know this request"));
  }
}

}  // namespace tandem
