#include "base/communication.h"

#include "absl/strings/str_cat.h"

namespace tandem {

absl::string_view Name(Communication communication) {
  switch (communication) {
    case Communication::kSharedMemory:
      return "shared_memory";
    case Communication::kTcp:
      return "tcp";
    case Communication::kRing:
      return "ring";
    case Communication::kNccl:
      return "nccl";
    default:
      return "auto";
  }
}

absl::StatusOr<Communication> CommunicationFromName(absl::string_view name) {
  for (Communication c : {Communication::kAuto, Communication::kSharedMemory, Communication::kTcp, Communication::kRing,
                          Communication::kNccl}) {
    if (name == Name(c)) return c;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("communication \"", name, "\" is unknown; use auto, shared_memory, tcp, ring or nccl"));
}

}  // namespace tandem
