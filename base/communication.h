// How the processes of a cluster exchange the values of a step.
#ifndef TANDEM_BASE_COMMUNICATION_H_
#define TANDEM_BASE_COMMUNICATION_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tandem {

// On CPUs all but kRing add in the order of the reduction tree, so that results have the bits that one process with all
// the devices computes. GPUs add by NCCL whatever is said; then it is how their processes meet.
enum class Communication {
  kAuto,          // shared memory where all processes are on one host, else TCP
  kSharedMemory,  // or an error
  kTcp,
  kRing,  // TCP, in the order of a ring: the same bits on all processes, and other ones than one process computes
  kNccl,  // as kAuto, for GPUs only
};

absl::string_view Name(Communication communication);  // "auto", "shared_memory", "tcp", "ring", "nccl"
// InvalidArgument lists the names.
absl::StatusOr<Communication> CommunicationFromName(absl::string_view name);

}  // namespace tandem

#endif  // TANDEM_BASE_COMMUNICATION_H_
