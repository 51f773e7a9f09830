// GlooMesh: a Gloo context whose processes are connected with patience.
#ifndef TANDEM_RUNTIME_COLLECTIVES_GLOO_MESH_H_
#define TANDEM_RUNTIME_COLLECTIVES_GLOO_MESH_H_

#include <gloo/context.h>
#include <gloo/transport/context.h>
#include <gloo/transport/device.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "runtime/collectives/connect_options.h"
#include "runtime/collectives/connect_wait.h"

namespace tandem {

// gloo::rendezvous::Context gives up when it is refused once, and waits without a word for who is to connect to it.
class GlooMesh : public gloo::Context {
 public:
  explicit GlooMesh(const ConnectOptions& options);

  // Connects to all others, once. A connection that fails by what may pass is tried again until the deadline of `wait`.
  // Unavailable names the rank that is missing, and its address.
  absl::Status Connect(std::shared_ptr<gloo::transport::Device> device, ConnectWait& wait);

 private:
  // Tells each of the others where it finds this rank.
  absl::Status Publish(ConnectWait& wait);
  absl::Status FindPeer(int peer, ConnectWait& wait);

  // In a thread of its own, as Gloo waits for connections one after the other.
  void ConnectPeers();
  absl::Status ConnectPeer(int peer);
  // Ends ConnectPeers.
  void GiveUp();
  std::string Missing() const;
  absl::Status Failed(absl::string_view peer, absl::string_view why) const;

  std::vector<std::vector<char>> addresses_;  // by rank: where it waits for this one

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool gives_up_ = false, done_ = false;
  int connecting_ = -1;  // the rank that Gloo waits for
  std::string missing_;  // who is being connected: "rank 2 at 10.0.0.3:4711", and why it is not yet
  absl::Status status_;
};

}  // namespace tandem

#endif  // TANDEM_RUNTIME_COLLECTIVES_GLOO_MESH_H_
