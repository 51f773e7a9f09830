#include "cluster/connection.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/exit_code.h"
#include "base/logging.h"
#include "base/printable.h"
#include "base/status_macros.h"
#include "base/threads.h"
#include "cluster/clock.h"
#include "cluster/wire.h"

namespace tandem {

using rendezvous::ClientMessage;
using rendezvous::ServerMessage;

namespace {

absl::Status Unavailable(absl::string_view message) {
  return WithExitCode(absl::UnavailableError(message), kExitTemporary);
}

using Steady = std::chrono::steady_clock;

}  // namespace

// The connection's mutex guards the stream's state, except the message that gRPC is reading. Callbacks are noexcept, so
// an exception ends the process: gRPC would drop it, and this process would wait forever for what the callback did not
// do.
class Connection::Stream : public grpc::ClientBidiReactor<ClientMessage, ServerMessage> {
 public:
  Stream(Connection* connection, const rendezvous::Hello& hello) : connection_(connection) {
    connection_->stub_->async()->Join(&context_, this);
    AddHold();  // Keeps the stream alive between callbacks, because messages are also sent outside of them.
    ClientMessage message;
    *message.mutable_hello() = hello;
    Send(std::move(message));
    StartRead(&received_);
    StartCall();
  }

  void Send(ClientMessage message) {
    if (closed_ || last_) return;
    queue_.push_back(std::move(message));
    if (queue_.size() == 1) StartWrite(&queue_.front());
  }
  // Closes this side of the stream once the messages in the queue are sent.
  void End() {
    if (closed_ || last_) return;
    last_ = true;
    if (queue_.empty()) StartWritesDone();
  }
  void Cancel() { context_.TryCancel(); }
  bool idle() const { return queue_.empty(); }
  bool done() const { return done_; }

  void OnReadDone(bool ok) noexcept override {
    std::lock_guard lock(connection_->mutex_);
    if (ok) {
      connection_->Hear(received_);
      StartRead(&received_);
    } else {
      closed_ = true;
      RemoveHold();
    }
  }
  void OnWriteDone(bool ok) noexcept override {
    std::lock_guard lock(connection_->mutex_);
    if (!ok) queue_.resize(1);
    queue_.pop_front();
    if (closed_) return;
    if (!queue_.empty()) {
      StartWrite(&queue_.front());
    } else if (last_) {
      StartWritesDone();
    }
  }
  void OnDone(const grpc::Status& status) noexcept override {
    std::lock_guard lock(connection_->mutex_);
    done_ = true;
    connection_->Ended(status);
  }

 private:
  Connection* const connection_;
  grpc::ClientContext context_;
  ServerMessage received_;
  std::deque<ClientMessage> queue_;  // messages to send; the first one is being sent
  bool last_ = false, closed_ = false, done_ = false;
};

absl::StatusOr<std::unique_ptr<Connection>> Connection::Open(std::shared_ptr<grpc::Channel> channel,
                                                             const rendezvous::Hello& hello, const std::string& place,
                                                             double patience_seconds, DialWatch watch) {
  constexpr double kFirstNote = 10, kNotes = 30;
  const SteadyTime end = After<Steady>(patience_seconds);
  SteadyTime next_note = After<Steady>(std::min(kFirstNote, patience_seconds / 2));
  std::unique_ptr<Connection> connection(new Connection(std::move(channel), hello));
  const auto note = [&] {
    if (Steady::now() < next_note) return;
    next_note = After<Steady>(kNotes);
    const std::string why = connection->why_ended_.empty() ? "no answer" : PrintableLine(connection->why_ended_);
    TD_LOG(INFO) << "Waiting: rank 0 does not answer at " << PrintableLine(place) << " (" << why << ").";
  };
  std::unique_lock lock(connection->mutex_);
  while (true) {
    connection->stream_ = std::make_unique<Stream>(connection.get(), hello);
    Stream* stream = connection->stream_.get();
    const auto answered = [&] { return connection->session_ != 0 || !connection->failure_.ok() || stream->done(); };
    bool in_time;
    while (!(in_time = connection->changed_.wait_until(lock, std::min(next_note, end), answered)) &&
           Steady::now() < end) {
      note();
    }
    if (!connection->failure_.ok()) return connection->failure_;
    if (connection->session_ != 0) break;
    stream->Cancel();
    connection->changed_.wait(lock, [&] { return stream->done(); });
    constexpr double kPause = 0.05;
    if (!in_time || Steady::now() + Seconds(kPause) > end) {
      return Unavailable(absl::StrFormat(
          "rank 0 does not answer at %s within %g s (%s); it must run, and that address must be its own and open to "
          "this machine",
          PrintableLine(place), patience_seconds,
          connection->why_ended_.empty() ? "no answer" : PrintableLine(connection->why_ended_)));
    }
    lock.unlock();
    TD_RETURN_IF_ERROR(watch.Failed());
    lock.lock();
    connection->changed_.wait_for(lock, Seconds(kPause));
    note();
  }
  lock.unlock();
  TD_ASSIGN_OR_RETURN(connection->pulse_, StartThread("heartbeats to rank 0", [c = connection.get()] { c->Pulse(); }));
  TD_RETURN_IF_ERROR(connection->WaitForAll());
  return connection;
}

Connection::Connection(std::shared_ptr<grpc::Channel> channel, const rendezvous::Hello& hello)
    : channel_(std::move(channel)),
      stub_(rendezvous::Rendezvous::NewStub(channel_)),
      self_(absl::StrCat("rank ", hello.rank(), " (", hello.who(), ")")) {}

Connection::~Connection() {
  std::unique_lock lock(mutex_);
  leaving_ = true;
  if (stream_ != nullptr && !stream_->done()) {
    ClientMessage message;
    message.mutable_leave();
    stream_->Send(std::move(message));
    stream_->End();
    // Seconds for which this waits after a failure, such as the loss of rank 0, for messages that are being sent.
    constexpr double kFlush = 0.2;
    const double patience = failure_.ok() ? deadline_seconds_ * 0.75 : std::min(kFlush, deadline_seconds_);
    changed_.wait_until(lock, After<Steady>(patience), [&] { return stream_->done(); });
    if (!stream_->done()) stream_->Cancel();
    changed_.wait(lock, [&] { return stream_->done(); });
  }
  stop_ = true;
  changed_.notify_all();
  lock.unlock();
  if (pulse_.joinable()) pulse_.join();
}

absl::Status Connection::WaitForAll() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return complete_ || !failure_.ok(); });
  return failure_;
}

void Connection::Hear(const ServerMessage& message) {
  heard_ = Steady::now();
  switch (message.kind_case()) {
    case ServerMessage::kAccepted: {
      if (session_ != 0) break;
      Acceptance acceptance = AcceptanceOf(message.accepted());
      session_ = acceptance.session;
      last_pulse_ = heard_;
      coordinator_ = std::move(acceptance.who);
      deadline_seconds_ = acceptance.deadline_seconds;
      break;
    }
    case ServerMessage::kComplete:
      complete_ = true;
      break;
    case ServerMessage::kFailure: {
      absl::Status failure = ToStatus(message.failure());
      Failed(failure.ok() ? absl::InternalError("rank 0 reports a failure that is none") : failure);
      break;
    }
    default:
      break;
  }
  changed_.notify_all();
}

void Connection::Ended(const grpc::Status& status) {
  why_ended_ = status.error_message();
  if (session_ != 0 && !leaving_) {
    NoticePause(Steady::now());  // Pulse may not have noticed a pause of this process yet
    if (pause_.count() > deadline_seconds_ && Seconds(Steady::now() - pause_end_).count() < deadline_seconds_) {
      Failed(
          Unavailable(absl::StrFormat("%s stood still for %.1f s and has been taken for lost", self_, pause_.count())));
    } else {
      Failed(Unavailable(absl::StrCat(coordinator_, " is lost: its connection broke")));
    }
  }
  changed_.notify_all();
}

void Connection::Failed(absl::Status failure) {
  if (!failure_.ok()) return;
  failure_ = std::move(failure);
  for (grpc::ClientContext* call : calls_) call->TryCancel();
  changed_.notify_all();
}

void Connection::Pulse() {
  const auto period = std::chrono::duration_cast<Steady::duration>(HeartbeatPeriod(deadline_seconds_));
  std::unique_lock lock(mutex_);
  SteadyTime beat = Steady::now();
  while (!stop_) {
    if (const SteadyTime now = Steady::now(); now >= beat) {
      beat = now + period;
      LookForSilence(now);
    }
    if (call_due_ && !failure_.ok()) {
      call_due_ = false;
      const absl::Status failure = failure_;
      lock.unlock();
      {
        std::lock_guard callback_lock(callback_mutex_);
        if (on_failure_ && !called_) {
          called_ = true;
          on_failure_(failure);
        }
      }
      lock.lock();
    }
    changed_.wait_until(lock, beat, [&] { return stop_ || (call_due_ && !failure_.ok()); });
  }
}

void Connection::NoticePause(SteadyTime now) {
  const Seconds gap = now - last_pulse_;
  if (gap.count() <= deadline_seconds_ / 2) return;
  // A pause of this process must not look like silence of rank 0, so the time starts anew. Rank 0 decides what the
  // pause means.
  heard_ = last_pulse_ = pause_end_ = now;
  pause_ = gap;
}

void Connection::LookForSilence(SteadyTime now) {
  NoticePause(now);
  last_pulse_ = now;
  if (!failure_.ok() || stream_->done()) return;
  if (stream_->idle()) {
    ClientMessage message;
    message.mutable_heartbeat();
    stream_->Send(std::move(message));
  }
  const Seconds silence = now - heard_;
  if (silence.count() <= deadline_seconds_) return;
  Failed(Unavailable(absl::StrFormat("%s is lost: it has been silent for %.1f s", coordinator_, silence.count())));
  // If rank 0 is still running, it must learn that this process has given up.
  ClientMessage message;
  ToMessage(failure_, message.mutable_gives_up());
  stream_->Send(std::move(message));
}

absl::StatusOr<std::string> Connection::Ask(rendezvous::Request request, absl::Duration timeout) {
  constexpr double kMost = 1e8;
  const double seconds = std::clamp(absl::ToDoubleSeconds(timeout), 0.0, kMost);
  grpc::ClientContext context;
  {
    std::lock_guard lock(mutex_);
    if (!failure_.ok()) return failure_;
    request.set_session(session_);
    request.set_timeout_seconds(seconds);
    // Rank 0 answers at the timeout, and its answer says which processes are missing, so the call itself waits a little
    // longer.
    context.set_deadline(After<std::chrono::system_clock>(seconds + deadline_seconds_));
    calls_.insert(&context);
  }
  rendezvous::Reply reply;
  const grpc::Status status = stub_->Ask(&context, request, &reply);
  std::unique_lock lock(mutex_);
  calls_.erase(&context);
  if (status.ok()) {
    if (absl::Status failure = ToStatus(reply.failure()); !failure.ok()) return failure;
    return std::move(*reply.mutable_value());
  }
  // The failure that broke the call breaks the stream too, and the stream's error says who is to blame.
  changed_.wait_until(lock, After<Steady>(deadline_seconds_), [&] { return !failure_.ok(); });
  if (!failure_.ok()) return failure_;
  return Unavailable(absl::StrCat(coordinator_, " does not answer: ", PrintableLine(status.error_message())));
}

absl::Status Connection::status() const {
  std::lock_guard lock(mutex_);
  return failure_;
}

void Connection::SetOnFailure(std::function<void(const absl::Status&)> on_failure) {
  std::lock_guard callback_lock(callback_mutex_);
  on_failure_ = std::move(on_failure);
  called_ = false;
  std::lock_guard lock(mutex_);
  call_due_ = true;
  changed_.notify_all();
}

void Connection::Fail(const absl::Status& why) {
  std::lock_guard lock(mutex_);
  ClientMessage message;
  ToMessage(why, message.mutable_gives_up());
  stream_->Send(std::move(message));
}

}  // namespace tandem
