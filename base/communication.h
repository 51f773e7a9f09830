// How the processes of a cluster exchange the values of a step.
#ifndef TANDEM_BASE_COMMUNICATION_H_
#define TANDEM_BASE_COMMUNICATION_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tandem {

// All but kRing add in the order of the reduction tree, so that results have the bits that one process with all the
// devices computes.
enum class Communication {
  kAuto,          // shared memory where all processes are on one host, else TCP
  kSharedMemory,  // or an error
  kTcp,
  kRing,  // TCP, in the order of a ring: the same bits on all processes, and other ones than one process computes
};

absl::string_view Name(Communication communication);  // "auto", "shared_memory", "tcp", "ring"
// InvalidArgument lists the names.
absl::StatusOr<Communication> CommunicationFromName(absl::string_view name);

}  // namespace tandem

#endif  // TANDEM_BASE_COMMUNICATION_H_
