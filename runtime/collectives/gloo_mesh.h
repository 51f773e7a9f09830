// GlooMesh: a Gloo context that retries while its processes are being connected.
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

// Exists because gloo::rendezvous::Context gives up when it is refused once, and waits without a message for the ranks
// that are to connect to it.
class GlooMesh : public gloo::Context {
 public:
  explicit GlooMesh(const ConnectOptions& options);

  // Connects to all other ranks; may be called once. A connection that fails for a reason that may be temporary is
  // tried again until the deadline of `wait`. Unavailable names the rank that is missing, and its address.
  absl::Status Connect(std::shared_ptr<gloo::transport::Device> device, ConnectWait& wait);

 private:
  // Publishes, for each other rank, the address to which that rank can connect.
  absl::Status Publish(ConnectWait& wait);
  absl::Status FindPeer(int peer, ConnectWait& wait);

  // Runs in a thread of its own, because Gloo waits for connections one after the other.
  void ConnectPeers();
  absl::Status ConnectPeer(int peer);
  // Makes ConnectPeers return, although ranks are missing.
  void GiveUp();
  std::string Missing() const;
  absl::Status Failed(absl::string_view peer, absl::string_view why) const;

  std::vector<std::vector<char>> addresses_;  // by rank: the address where that rank waits for this rank's connection

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool gives_up_ = false, done_ = false;
  int connecting_ = -1;  // the rank to which Gloo is connecting this one, or -1
  std::string missing_;  // the rank that is being connected: "rank 2 at 10.0.0.3:4711", and why it is not connected yet
  absl::Status status_;
};

}  // namespace tandem

#endif  // TANDEM_RUNTIME_COLLECTIVES_GLOO_MESH_H_
