// MeetingPlace: where the processes of a cluster meet. It is the address of rank 0 or, if that is unknown and all are
// on one host, a socket in a folder that only this user can enter.
#ifndef TANDEM_CLUSTER_MEETING_PLACE_H_
#define TANDEM_CLUSTER_MEETING_PLACE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cluster/cluster.h"

namespace tandem {

class MeetingPlace {
 public:
  // Returns the meeting place of `cluster`. Creates the socket's folder if it does not exist. FailedPrecondition (exit
  // code 2) if no address is known and the processes may be on several hosts, or if the folder is another user's.
  static absl::StatusOr<MeetingPlace> Of(const Cluster& cluster);

  // The name for gRPC: "dns:///10.0.0.1:2222", "unix:/tmp/tandem-1000/openmpi-17.sock".
  const std::string& target() const { return target_; }
  // The name for messages: "10.0.0.1:2222".
  const std::string& text() const { return text_; }
  // The file of the socket; empty for an address.
  const std::string& path() const { return path_; }

 private:
  std::string target_, text_, path_;
};

// A claim of the meeting place. Rank 0 holds it while it listens, so that no second rank 0 can listen there.
class ClaimedPlace {
 public:
  // Claims the place for this process. FailedPrecondition (exit code 2) if the address is in use or does not belong to
  // this machine; before that, a host name that leads to another machine is looked up again for some time.
  static absl::StatusOr<ClaimedPlace> Claim(const MeetingPlace& place);
  ClaimedPlace(ClaimedPlace&& other) noexcept;
  ClaimedPlace& operator=(ClaimedPlace&&) = delete;
  // Deletes the socket and its lock.
  ~ClaimedPlace();

 private:
  ClaimedPlace(std::string path, int lock) : path_(std::move(path)), lock_(lock) {}
  std::string path_;
  int lock_;
};

// Returns the error that rank 0 cannot listen at `place`, with the reason `why` and the remedy (exit code 2).
absl::Status CannotListen(const MeetingPlace& place, absl::string_view why);

}  // namespace tandem

#endif  // TANDEM_CLUSTER_MEETING_PLACE_H_
