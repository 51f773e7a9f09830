#include "cluster/coordinator_state.h"

#include <chrono>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "cluster/clock.h"
#include "cluster/wire.h"

namespace tandem {

using rendezvous::ClientMessage;
using rendezvous::ServerMessage;

namespace {

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

CoordinatorState::CoordinatorState(const Cluster& cluster, absl::string_view who, const Facts& facts,
                                   double deadline_seconds, double start_deadline_seconds)
    : deadline_seconds_(deadline_seconds),
      roster_(cluster, who, facts, deadline_seconds, start_deadline_seconds, SteadyTime::clock::now()),
      store_(&roster_) {}

void CoordinatorState::Hear(Visitor* visitor, const ClientMessage& message) {
  if (message.kind_case() == ClientMessage::kHello && !visitor->greeted_) {
    visitor->greeted_ = true;
    Welcome(visitor, message.hello());
  } else if (visitor->rank_ < 0) {
    visitor->End();  // the sender is not an admitted process of this cluster
  } else {
    roster_.Heard(visitor->rank_, SteadyTime::clock::now());
    if (message.kind_case() == ClientMessage::kGivesUp) {
      const absl::Status why = ToStatus(message.gives_up());
      roster_.GaveUp(visitor->rank_, why.ok() ? absl::InternalError("it does not say why") : why,
                     SteadyTime::clock::now());
    } else if (message.kind_case() == ClientMessage::kLeave) {
      roster_.Left(visitor->rank_);
      store_.Left();
      visitor->End();
    }
  }
  Announce();
}

void CoordinatorState::Welcome(Visitor* visitor, const rendezvous::Hello& hello) {
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
  if (absl::Status status = roster_.Admit(comer, SteadyTime::clock::now()); !status.ok()) return refuse(status);
  visitor->rank_ = comer.rank;
  uint64_t session = 0;
  while (session == 0 || ranks_.contains(session)) session = (uint64_t{random_()} << 32) | random_();
  ranks_[session] = comer.rank;
  ServerMessage message;
  message.mutable_accepted()->set_session(session);
  message.mutable_accepted()->set_who(roster_.Name(0));
  message.mutable_accepted()->set_deadline_seconds(deadline_seconds_);
  visitor->Send(std::move(message));
}

void CoordinatorState::Broke(Visitor* visitor) {
  if (visitor->rank_ >= 0) roster_.Broke(visitor->rank_, SteadyTime::clock::now());
  visitor->End();
  Announce();
}

void CoordinatorState::Beat() {
  roster_.Tick(SteadyTime::clock::now());
  for (Visitor* visitor : visitors_) {
    if (visitor->rank_ >= 0 && visitor->idle()) visitor->Send(Heartbeat());
  }
  Announce();
}

void CoordinatorState::Expire() {
  store_.Expire(SteadyTime::clock::now());
  Announce();
}

void CoordinatorState::EndOfCoordinator() {
  roster_.EndOfCoordinator();
  Announce();
}

void CoordinatorState::Announce() {
  if (roster_.complete() && !announced_complete_ && roster_.verdict().ok()) {
    announced_complete_ = true;
    ServerMessage message;
    message.mutable_complete();
    for (Visitor* visitor : visitors_) {
      if (visitor->rank_ >= 0) visitor->Send(message);
    }
  }
  if (!roster_.verdict().ok() && !announced_verdict_) {
    announced_verdict_ = true;
    for (Visitor* visitor : visitors_) {
      if (visitor->rank_ < 0) continue;
      visitor->Send(FailureMessage(roster_.verdict()));
      visitor->End();
    }
    store_.Fail(roster_.verdict());
  }
}

void CoordinatorState::Ask(const rendezvous::Request& request, const void* ticket, const SharedStore::Answer& answer) {
  const auto rank = ranks_.find(request.session());
  if (rank == ranks_.end()) return answer(absl::PermissionDeniedError("no process of this cluster"));
  if (!roster_.verdict().ok()) return answer(roster_.verdict());
  roster_.Heard(rank->second, SteadyTime::clock::now());
  if (request.name().size() > kMaxNameBytes || request.value().size() > kMaxValueBytes) {
    return answer(absl::InvalidArgumentError("a name or a value that is too long"));
  }
  const SteadyTime deadline = After<std::chrono::steady_clock>(request.timeout_seconds());
  switch (request.kind()) {
    case rendezvous::Request::SET:
      return store_.Set(request.name(), request.value(), answer);
    case rendezvous::Request::GET:
      return store_.Get(request.name(), ticket, deadline, answer);
    case rendezvous::Request::BARRIER:
      return store_.Barrier(request.name(), rank->second, ticket, deadline, answer);
    case rendezvous::Request::AGREE:
      return store_.Agree(request.name(), rank->second, request.value(), ticket, deadline, answer);
    default:
      return answer(absl::UnimplementedError("rank 0 does not know this request"));
  }
}

}  // namespace tandem
