#include "runtime/collectives/gloo_exchange.h"

#include <gloo/context.h>
#include <gloo/transport/unbound_buffer.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/threads.h"
#include "runtime/collectives/sigpipe_block.h"

namespace tandem {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using UnboundBuffer = gloo::transport::UnboundBuffer;

// A slot (message tag) that no collective uses. A rank that leaves without an error sends its farewell message to it.
constexpr uint64_t kFarewellSlot = uint64_t{0x55} << 56;
constexpr milliseconds kAtOnce(1);
constexpr milliseconds kFarewellTime(200);
constexpr std::chrono::hours kForever(24 * 365);

}  // namespace

GlooExchange::Message::Message() = default;
GlooExchange::Message::Message(Message&&) noexcept = default;
GlooExchange::Message& GlooExchange::Message::operator=(Message&&) noexcept = default;
GlooExchange::Message::~Message() = default;

GlooExchange::GlooExchange(std::shared_ptr<gloo::Context> context, absl::Duration deadline)
    : context_(std::move(context)),
      rank_(context_->rank),
      size_(context_->size),
      deadline_(deadline),
      lost_(context_->size) {}

absl::StatusOr<std::unique_ptr<GlooExchange>> GlooExchange::Make(std::shared_ptr<gloo::Context> context,
                                                                 absl::Duration deadline) {
  std::unique_ptr<GlooExchange> exchange(new GlooExchange(std::move(context), deadline));
  GlooExchange* e = exchange.get();
  SigpipeBlock block;
  TD_ASSIGN_OR_RETURN(e->watcher_, StartThread("watching the connections", [e] { e->Watch(); }));
  return exchange;
}

GlooExchange::~GlooExchange() {
  if (FirstError().ok()) SayFarewell();
  {
    std::lock_guard<std::mutex> lock(mutex_);
    closing_ = true;
    if (!canaries_.empty()) canaries_.back()->abortWaitRecv();
  }
  if (watcher_.joinable()) watcher_.join();
}

absl::Status GlooExchange::Begin(absl::string_view what) {
  what_ = std::string(what);
  call_ends_ = steady_clock::now() + absl::ToChronoMilliseconds(deadline_);
  return FirstError();
}

absl::StatusOr<GlooExchange::Message> GlooExchange::Receive(int peer, uint64_t slot, void* data, size_t bytes) {
  SigpipeBlock block;
  Message message;
  message.peer_ = peer;
  message.receives_ = true;
  try {
    message.buffer_ = context_->createUnboundBuffer(data, bytes);
    message.buffer_->recv(peer, slot, 0, bytes);
  } catch (const std::exception& e) {
    return Fail(peer, e.what());
  }
  return message;
}

absl::StatusOr<GlooExchange::Message> GlooExchange::Send(int peer, uint64_t slot, const void* data, size_t bytes) {
  SigpipeBlock block;
  Message message;
  message.peer_ = peer;
  try {
    message.buffer_ = context_->createUnboundBuffer(const_cast<void*>(data), bytes);
    message.buffer_->send(peer, slot, 0, bytes);
  } catch (const std::exception& e) {
    return Fail(peer, e.what());
  }
  return message;
}

bool GlooExchange::WaitFor(Message& message, milliseconds timeout) {
  return message.receives_ ? message.buffer_->waitRecv(timeout) : message.buffer_->waitSend(timeout);
}

absl::Status GlooExchange::Wait(Message& message) {
  bool lost;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!first_error_.ok()) return first_error_;
    lost = lost_[message.peer_];
    waiting_ = &message;
  }
  std::string failure;
  bool done = false;
  try {
    done = WaitFor(message, lost ? kAtOnce : Rest());
    // If the watcher or Abort woke this thread, a message that had already arrived still counts.
    while (!done && FirstError().ok()) done = WaitFor(message, kAtOnce);
  } catch (const std::exception& e) {
    failure = e.what();
  }
  {
    std::lock_guard<std::mutex> lock(mutex_);
    waiting_ = nullptr;
  }
  return done ? absl::OkStatus() : Fail(message.peer_, failure);
}

absl::Status GlooExchange::WaitAll(std::vector<Message>& messages) {
  for (Message& m : messages) TD_RETURN_IF_ERROR(Wait(m));
  messages.clear();
  return absl::OkStatus();
}

absl::Status GlooExchange::RunGloo(
    absl::FunctionRef<void(const std::shared_ptr<gloo::Context>&, std::chrono::milliseconds)> call) {
  SigpipeBlock block;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!first_error_.ok()) return first_error_;
    gloo_runs_ = true;
  }
  std::string failure;
  bool done = false;
  try {
    call(context_, Rest());
    done = true;
  } catch (const std::exception& e) {
    failure = e.what();
  }
  {
    std::lock_guard<std::mutex> lock(mutex_);
    gloo_runs_ = false;
  }
  return done ? absl::OkStatus() : Fail(-1, failure);
}

milliseconds GlooExchange::Rest() const {
  return std::max(kAtOnce, std::chrono::duration_cast<milliseconds>(call_ends_ - steady_clock::now()));
}

absl::Status GlooExchange::FirstError() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return first_error_;
}

absl::Status GlooExchange::Fail(int peer, absl::string_view reason) {
  const bool late = Rest() <= 2 * kAtOnce;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    // The rank that was lost first is to blame. Other ranks close their connections as well when they notice the loss.
    if (!late && first_lost_ >= 0) peer = first_lost_;
    const std::string who = peer < 0 ? "a rank" : absl::StrCat("rank ", peer);
    if (first_error_.ok()) {
      first_error_ =
          absl::UnavailableError(late ? absl::StrCat(what_, ": ", who, " of ", size_, " did not answer within ",
                                                     absl::FormatDuration(deadline_))
                                      : absl::StrCat(what_, ": ", who, " of ", size_, " is lost: ", reason));
    }
  }
  CloseConnections();
  return FirstError();
}

void GlooExchange::CloseConnections() {
  try {
    context_->closeConnections();
  } catch (const std::exception&) {
    // A connection that cannot be closed any more is already closed.
  }
}

void GlooExchange::Abort(const absl::Status& why) {
  bool wake_gloo;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!first_error_.ok()) return;
    first_error_ = why.ok() ? absl::CancelledError("the group was aborted") : why;
    if (waiting_ != nullptr) {
      waiting_->receives_ ? waiting_->buffer_->abortWaitRecv() : waiting_->buffer_->abortWaitSend();
    }
    wake_gloo = gloo_runs_;
  }
  if (wake_gloo) WakeGloo();
  CloseConnections();
}

void GlooExchange::WakeGloo() {
  // When a wait times out, Gloo closes all of a context's connections and notifies all messages. So this makes a wait
  // time out.
  try {
    char nothing;
    context_->createUnboundBuffer(&nothing, 1)->waitRecv(kAtOnce);
  } catch (const std::exception&) {
  }
}

void GlooExchange::Watch() {
  for (;;) {
    UnboundBuffer* canary;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      if (closing_) return;
      canaries_.push_back(context_->createUnboundBuffer(&farewell_, 1));
      canary = canaries_.back().get();
    }
    bool any = false;
    for (int peer = 0; peer < size_; ++peer) {
      if (peer == rank_ || lost_[peer]) continue;  // lost_ is read without the lock: only this thread changes it
      try {
        canary->recv(peer, kFarewellSlot, 0, 1);
        any = true;
      } catch (const std::exception&) {
        MarkLost(peer);
      }
    }
    if (!any) return;
    try {
      // waitRecv returns true for each rank that sends its farewell, and false when this rank leaves.
      while (canary->waitRecv(kForever)) continue;
      return;
    } catch (const std::exception&) {
      // Some connection is closed. The next iteration of the outer loop finds out which.
    }
  }
}

void GlooExchange::MarkLost(int peer) {
  bool wake_gloo;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    lost_[peer] = true;
    if (first_lost_ < 0) first_lost_ = peer;
    if (waiting_ != nullptr && waiting_->peer_ == peer) {
      waiting_->receives_ ? waiting_->buffer_->abortWaitRecv() : waiting_->buffer_->abortWaitSend();
    }
    wake_gloo = gloo_runs_;
  }
  if (wake_gloo) WakeGloo();
}

void GlooExchange::SayFarewell() {
  // Without the farewell, other ranks would take this rank's end for a loss, and their watchers would send messages to
  // ranks that may be leaving, too. When a connection is closed with unread bytes in it, bytes that the peer has not
  // read yet are lost as well.
  SigpipeBlock block;
  for (int peer = 0; peer < size_; ++peer) {
    if (peer == rank_) continue;
    try {
      char bye = 0;
      auto buffer = context_->createUnboundBuffer(&bye, 1);
      buffer->send(peer, kFarewellSlot, 0, 1);
      buffer->waitSend(kFarewellTime);
    } catch (const std::exception&) {
    }
  }
}

}  // namespace tandem
