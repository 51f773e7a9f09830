// MeetingPlace: where the processes of a cluster meet. The address of rank 0; or, where nobody says one and all are on
// one host, a socket in a folder that only this user can enter.
#ifndef TANDEM_CLUSTER_MEETING_PLACE_H_
#define TANDEM_CLUSTER_MEETING_PLACE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cluster/cluster.h"

namespace tandem {

class MeetingPlace {
 public:
  // FailedPrecondition (2): no address is known and the processes are, or may be, on several hosts; or the folder is
  // another user's. It is made when it is not there.
  static absl::StatusOr<MeetingPlace> Of(const Cluster& cluster);

  // As gRPC names it: "dns:///10.0.0.1:2222", "unix:/tmp/tandem-1000/openmpi-17.sock".
  const std::string& target() const { return target_; }
  // For messages: "10.0.0.1:2222".
  const std::string& text() const { return text_; }
  // The socket's file; empty for an address.
  const std::string& path() const { return path_; }

 private:
  std::string target_, text_, path_;
};

// What rank 0 holds while it listens, so that no second rank 0 takes the place over.
class ClaimedPlace {
 public:
  // FailedPrecondition (2): the address is in use, or is none of this machine; after WhyCannotListen has waited for a
  // name.
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

// Why rank 0 cannot listen there, with the remedy (2).
absl::Status CannotListen(const MeetingPlace& place, absl::string_view why);

}  // namespace tandem

#endif  // TANDEM_CLUSTER_MEETING_PLACE_H_
