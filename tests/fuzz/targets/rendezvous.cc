// What the processes of a cluster say to rank 0 while they meet and train, and what it says to them. An input is a list
// of frames: who it is from and what it is, a byte; its length, two bytes; a message.
#include <algorithm>
#include <list>
#include <set>
#include <string>
#include <vector>

#include "base/exit_code.h"
#include "base/printable.h"
#include "cluster/coordinator_state.h"
#include "cluster/wire.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/require.h"

namespace tandem::fuzz {
namespace {

using rendezvous::ClientMessage;
using rendezvous::Request;
using rendezvous::ServerMessage;

constexpr int64_t kProcesses = 2;
constexpr int kStreams = 4;  // of which not all find a place
const Facts kFacts = {{"build", "7"}, {"communication", "auto"}};

enum Kind { kMessage, kRequest, kEnd, kAnswer };

// An error that the processes end with, and that users read.
void RequireTold(const absl::Status& status) {
  Require(!status.ok(), "a failure is one");
  Require(Printable(status.message()) == status.message(), "what a failure says can be printed");
  const int exit_code = ExitCodeFor(status);
  Require(exit_code > 0 && exit_code < 256, "a failure has an exit code");
}

// The stream of a process, which hears what it is told.
class Stream : public CoordinatorState::Visitor {
 public:
  void Send(ServerMessage message) override {
    if (ended) return;
    Require(!failed, "a failure is the last message");
    if (message.has_accepted()) {
      Require(session == 0 && message.accepted().session() != 0, "a process gets one place");
      session = message.accepted().session();
    }
    if (message.has_complete()) complete = true;
    if (!message.has_failure()) return;
    failed = true;
    RequireTold(ToStatus(message.failure()));
  }
  void End() override { ended = true; }
  bool idle() const override { return !ended; }

  uint64_t session = 0;
  bool complete = false, failed = false, ended = false;
};

// Rank 0, and the streams to it.
class Conversation {
 public:
  Conversation() : state_(OfSome(), "chief 0 at host", kFacts, kForever, kForever) {
    for (Stream& stream : streams_) state_.Add(&stream);
  }
  ~Conversation() {
    state_.EndOfCoordinator();
    for (const Stream& stream : streams_) Require(stream.session == 0 || stream.ended, "all hear of the end");
    for (const int answers : answers_) Require(answers == 1, "a request has one answer");
  }

  // Whether somebody has got what was asked for.
  bool Hear(int kind, int from, const std::string& bytes) {
    Stream& stream = streams_[from];
    const bool heard = kind == kMessage   ? Say(stream, bytes)
                       : kind == kRequest ? Ask(stream, bytes)
                       : kind == kAnswer  ? Answered(bytes)
                                          : Break(stream);
    state_.Beat();
    state_.Expire();
    Check();
    return heard;
  }

 private:
  static constexpr double kForever = 1e8;

  static Cluster OfSome() {
    Cluster cluster;
    cluster.world_size = kProcesses;
    return cluster;
  }

  bool Say(Stream& stream, const std::string& bytes) {
    ClientMessage message;
    if (stream.ended || !message.ParseFromString(bytes)) return false;
    state_.Hear(&stream, message);
    return stream.session != 0;
  }

  // Which session it has is not for others to guess.
  bool Ask(const Stream& stream, const std::string& bytes) {
    Request request;
    if (!request.ParseFromString(bytes)) return false;
    if (stream.session != 0) request.set_session(stream.session);
    int& answers = answers_.emplace_back(0);
    state_.Ask(request, &answers, [&answers](const absl::StatusOr<std::string>& value) {
      ++answers;
      if (!value.ok()) RequireTold(value.status());
    });
    return answers == 1 && stream.session != 0;
  }

  bool Break(Stream& stream) {
    if (!stream.ended) state_.Broke(&stream);
    return false;
  }

  // As a process that joins hears rank 0.
  static bool Answered(const std::string& bytes) {
    ServerMessage message;
    if (!message.ParseFromString(bytes)) return false;
    if (message.has_accepted()) {
      const Acceptance acceptance = AcceptanceOf(message.accepted());
      Require(PrintableLine(acceptance.who) == acceptance.who, "rank 0 has a name on one line");
      const double period = HeartbeatPeriod(acceptance.deadline_seconds).count();
      Require(period > 0 && period <= 1, "there is a time between two signs of life");
      return acceptance.session != 0;
    }
    const absl::Status failure = ToStatus(message.failure());
    const int exit_code = ExitCodeFor(failure);
    Require(failure.ok() || (exit_code > 0 && exit_code < 256), "a failure has an exit code");
    return message.has_failure() && !failure.ok();
  }

  void Check() {
    std::set<uint64_t> sessions;
    int64_t places = 0;
    bool complete = false;
    for (const Stream& stream : streams_) {
      if (stream.session == 0) continue;
      ++places;
      sessions.insert(stream.session);
      complete = complete || stream.complete;
    }
    Require(places <= kProcesses && sessions.size() == static_cast<size_t>(places), "no more places than processes");
    Require(!complete || places == kProcesses, "all are there when it is said so");
    if (!state_.roster().verdict().ok()) RequireTold(state_.roster().verdict());
  }

  CoordinatorState state_;
  Stream streams_[kStreams];
  std::list<int> answers_;  // by request
};

std::string Frame(Kind kind, int from, const google::protobuf::MessageLite& message) {
  const std::string bytes = message.SerializeAsString();
  return std::string{static_cast<char>(kind * kStreams + from), static_cast<char>(bytes.size() & 255),
                     static_cast<char>(bytes.size() >> 8)} +
         bytes;
}

std::string Hello(int rank) {
  ClientMessage message;
  rendezvous::Hello* hello = message.mutable_hello();
  hello->set_protocol(kProtocol);
  hello->set_rank(rank);
  hello->set_world_size(kProcesses);
  hello->set_who("worker at host, pid 7");
  for (const auto& [name, value] : kFacts) {
    rendezvous::Fact* fact = hello->add_facts();
    fact->set_name(name);
    fact->set_value(value);
  }
  return Frame(kMessage, rank, message);
}

std::string Asked(Request::Kind kind, int from, const std::string& name, const std::string& value = "") {
  Request request;
  request.set_kind(kind);
  request.set_name(name);
  request.set_value(value);
  request.set_timeout_seconds(30);
  return Frame(kRequest, from, request);
}

}  // namespace

std::vector<std::string> Seeds() {
  ClientMessage heartbeat, leave, gives_up;
  heartbeat.mutable_heartbeat();
  leave.mutable_leave();
  ToMessage(absl::InternalError("loss is NaN"), gives_up.mutable_gives_up());
  ServerMessage accepted, failure;
  accepted.mutable_accepted()->set_session(7);
  accepted.mutable_accepted()->set_who("rank 0 (chief 0 at host)");
  accepted.mutable_accepted()->set_deadline_seconds(30);
  ToMessage(absl::UnavailableError("rank 1 is lost"), failure.mutable_failure());

  const std::string met = Hello(0) + Hello(1);
  std::string agreed, waited;
  for (int from = 0; from < kProcesses; ++from) {
    agreed += Asked(Request::AGREE, from, "steps", "100");
    waited += Asked(Request::BARRIER, from, "start");
  }
  return {
      met + Frame(kMessage, 1, heartbeat) + Asked(Request::GET, 1, "key") + Asked(Request::SET, 0, "key", "value"),
      met + agreed + waited + Frame(kMessage, 1, leave) + Asked(Request::BARRIER, 0, "end"),
      met + Asked(Request::AGREE, 0, "steps", "100") + Asked(Request::AGREE, 1, "steps", "101") +
          Frame(kMessage, 1, gives_up),
      met + Asked(Request::GET, 0, "key") + Frame(kEnd, 1, heartbeat),
      Hello(0) + Hello(0).replace(0, 1, 1, 2),
      Frame(kAnswer, 0, accepted),
      Frame(kAnswer, 0, failure),
  };
}

}  // namespace tandem::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr size_t kHead = 3;
  tandem::fuzz::Conversation conversation;
  bool heard = false;
  for (size_t at = 0; at + kHead <= size;) {
    const int kind = data[at] / tandem::fuzz::kStreams % 4, from = data[at] % tandem::fuzz::kStreams;
    const size_t length = data[at + 1] | size_t{data[at + 2]} << 8;
    at += kHead;
    const size_t rest = std::min(length, size - at);
    heard |= conversation.Hear(kind, from, std::string(reinterpret_cast<const char*>(data) + at, rest));
    at += rest;
  }
  if (heard) tandem::fuzz::NoteAccepted();
  return 0;
}
