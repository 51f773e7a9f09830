// How the processes of a cluster exchange the values of a step.
#ifndef TANDEM_BASE_COMMUNICATION_H_
#define TANDEM_BASE_COMMUNICATION_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tandem/base/api.h"

namespace TANDEM_API tandem {

// On CPUs, all kinds except kRing add in the order of the reduction tree, so that results have the same bits as one
// process with all the devices. GPUs always exchange values with NCCL; for them the kind only says how their processes
// find each other.
enum class Communication {
  kAuto,          // shared memory if all processes are on one host, else TCP
  kSharedMemory,  // shared memory; an error if not all processes are on one host
  kTcp,
  // TCP, adding in the order of a ring: all processes get the same bits, but not the bits of one process with all
  // devices
  kRing,
  kNccl,  // the same as kAuto, for GPUs only
};

absl::string_view Name(Communication communication);  // "auto", "shared_memory", "tcp", "ring", "nccl"
// Parses a name; InvalidArgument lists the names.
absl::StatusOr<Communication> CommunicationFromName(absl::string_view name);

}  // namespace tandem

#endif  // TANDEM_BASE_COMMUNICATION_H_
