// Connection: a process's connection to the coordinator. It sends heartbeats and learns of failures.
#ifndef TANDEM_CLUSTER_CONNECTION_H_
#define TANDEM_CLUSTER_CONNECTION_H_

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "cluster/credentials.h"
#include "cluster/rendezvous.grpc.pb.h"

namespace tandem {

// Thread-safe.
class Connection {
 public:
  // Sends a Hello to rank 0, repeatedly for `patience_seconds` while nobody listens at `place`, and waits until all
  // processes have joined. Errors: the coordinator's; Unavailable (75) if nobody answers; those of `watch`.
  static absl::StatusOr<std::unique_ptr<Connection>> Open(std::shared_ptr<grpc::Channel> channel,
                                                          const rendezvous::Hello& hello, const std::string& place,
                                                          double patience_seconds, DialWatch watch);
  // Leaves the cluster.
  ~Connection();

  // Sends the request to rank 0, with this connection's session and the timeout filled in, and returns the value of the
  // reply.
  absl::StatusOr<std::string> Ask(rendezvous::Request request, absl::Duration timeout);

  // These implement the functions of Member with the same names.
  absl::Status status() const;
  void SetOnFailure(std::function<void(const absl::Status&)> on_failure);
  void Fail(const absl::Status& why);

 private:
  using SteadyTime = std::chrono::steady_clock::time_point;
  using Seconds = std::chrono::duration<double>;
  class Stream;

  Connection(std::shared_ptr<grpc::Channel> channel, const rendezvous::Hello& hello);

  // Called by the stream, with mutex_ held.
  void Hear(const rendezvous::ServerMessage& message);
  void Ended(const grpc::Status& status);

  void Failed(absl::Status failure);
  void Pulse();
  void NoticePause(SteadyTime now);
  void LookForSilence(SteadyTime now);
  absl::Status WaitForAll();

  const std::shared_ptr<grpc::Channel> channel_;
  const std::unique_ptr<rendezvous::Rendezvous::Stub> stub_;
  const std::string self_;  // this process, for messages: "rank 1 (worker 0 at host, pid 5)"

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::unique_ptr<Stream> stream_;
  std::string coordinator_;  // rank 0, for messages: "rank 0 (...)"
  uint64_t session_ = 0;     // identifies this process's stream in requests; 0 until rank 0 has accepted the process
  double deadline_seconds_ = 0;
  bool complete_ = false, leaving_ = false, stop_ = false;
  absl::Status failure_;
  std::string why_ended_;
  std::set<grpc::ClientContext*> calls_;
  SteadyTime heard_, last_pulse_, pause_end_;
  Seconds pause_{0};  // how long this process's last pause was, in which it did not run

  std::mutex callback_mutex_;  // held during the call of on_failure_; locked before mutex_
  std::function<void(const absl::Status&)> on_failure_;
  bool called_ = false;
  bool call_due_ = false;  // true from SetOnFailure until a failure is reported; guarded by mutex_

  std::thread pulse_;
};

}  // namespace tandem

#endif  // TANDEM_CLUSTER_CONNECTION_H_
