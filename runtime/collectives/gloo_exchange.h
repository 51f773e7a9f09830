// GlooExchange: messages between the processes of a group over Gloo's TCP transport, with Gloo's exceptions as
// statuses.
#ifndef TANDEM_RUNTIME_COLLECTIVES_GLOO_EXCHANGE_H_
#define TANDEM_RUNTIME_COLLECTIVES_GLOO_EXCHANGE_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace gloo {
class Context;
namespace transport {
class UnboundBuffer;
}  // namespace transport
}  // namespace gloo

namespace tandem {

// Calls are made from one thread at a time, Abort from any. After the first error all calls return it and the
// connections are closed, so that the peers need not wait for their deadline. Once a message is destroyed, its memory
// is no longer touched.
class GlooExchange {
 public:
  // A receive or a send in progress, with Gloo's handle of the memory that it uses.
  class Message {
   public:
    Message();
    Message(Message&&) noexcept;
    Message& operator=(Message&&) noexcept;
    ~Message();

   private:
    friend class GlooExchange;
    int peer_ = -1;
    bool receives_ = false;
    std::unique_ptr<gloo::transport::UnboundBuffer> buffer_;
  };

  // `context` has connections to all ranks. ResourceExhausted when no thread can be started.
  static absl::StatusOr<std::unique_ptr<GlooExchange>> Make(std::shared_ptr<gloo::Context> context,
                                                            absl::Duration deadline);
  ~GlooExchange();

  int rank() const { return rank_; }
  int size() const { return size_; }

  // Begins a collective. Its deadline is counted from now on.
  absl::Status Begin(absl::string_view what);

  // Begin to receive or to send. A receive gets what the peer sends with the same `slot`, a tag, in order. A message
  // must not be longer than the receiver's memory: Gloo ends a process that receives such a message. Slots that depend
  // on the length prevent this. Begin receives first, because a message is sent only when its receiver is ready.
  absl::StatusOr<Message> Receive(int peer, uint64_t slot, void* data, size_t bytes);
  absl::StatusOr<Message> Send(int peer, uint64_t slot, const void* data, size_t bytes);
  // Waits until the message has arrived, or has been sent and its memory may be overwritten.
  absl::Status Wait(Message& message);
  absl::Status WaitAll(std::vector<Message>& messages);

  // Runs a collective of Gloo itself: `call(context, rest of the deadline)` may throw. When a peer is lost or Abort is
  // called, all connections are closed while `call` runs. That ends it, unless it waits for a message that has arrived
  // in part; then it ends with the deadline.
  absl::Status RunGloo(absl::FunctionRef<void(const std::shared_ptr<gloo::Context>&, std::chrono::milliseconds)> call);

  void Abort(const absl::Status& why);
  // May be called from any thread.
  absl::Status FirstError() const;

 private:
  GlooExchange(std::shared_ptr<gloo::Context> context, absl::Duration deadline);

  std::chrono::milliseconds Rest() const;
  bool WaitFor(Message& message, std::chrono::milliseconds timeout);
  // Makes the loss of `peer` the first error if there was none, closes the connections, and returns the first error.
  absl::Status Fail(int peer, absl::string_view reason);
  void CloseConnections();
  void WakeGloo();

  // Runs in a thread of its own. Gloo reports a closed connection only to messages that wait in its queues, not to the
  // one that is being transferred. The watcher notices it by a receive that stays in the queue, and wakes the thread
  // that waits for the lost rank.
  void Watch();
  void MarkLost(int peer);
  void SayFarewell();

  const std::shared_ptr<gloo::Context> context_;
  const int rank_, size_;
  const absl::Duration deadline_;
  std::string what_;
  std::chrono::steady_clock::time_point call_ends_;

  mutable std::mutex mutex_;
  absl::Status first_error_;
  std::vector<bool> lost_;
  int first_lost_ = -1;
  Message* waiting_ = nullptr;
  bool gloo_runs_ = false;
  bool closing_ = false;
  // The buffers with which the watcher receives; the last one is in use. The earlier ones may still have receives in
  // Gloo's queues, so their memory must stay.
  std::vector<std::unique_ptr<gloo::transport::UnboundBuffer>> canaries_;
  char farewell_ = 0;
  std::thread watcher_;
};

}  // namespace tandem

#endif  // TANDEM_RUNTIME_COLLECTIVES_GLOO_EXCHANGE_H_
