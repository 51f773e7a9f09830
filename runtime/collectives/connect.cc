#include "runtime/collectives/connect.h"

#include "absl/strings/str_cat.h"
#include "runtime/collectives/gloo_group.h"
#include "runtime/collectives/shared_memory_group.h"

namespace tandem {

absl::StatusOr<std::unique_ptr<ProcessGroup>> ConnectProcessGroup(const ConnectOptions& options) {
  if (options.size < 1 || options.rank < 0 || options.rank >= options.size) {
    return absl::InvalidArgumentError(absl::StrCat("there is no rank ", options.rank, " among ", options.size));
  }
  const Communication communication = options.communication;
  if (communication == Communication::kAuto || communication == Communication::kNccl ||
      communication == Communication::kSharedMemory) {
    auto group = ConnectSharedMemory(options);
    const bool other_way = absl::IsFailedPrecondition(group.status());
    if (!other_way || communication == Communication::kSharedMemory) return group;
  }
  return ConnectGloo(options);
}

}  // namespace tandem
