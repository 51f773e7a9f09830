#include "runtime/cuda/communicator/communicator.h"

#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/exit_code.h"
#include "base/status_macros.h"
#include "base/steady_time.h"
#include "runtime/collectives/process_group.h"
#include "runtime/cuda/driver/wait_pause.h"

namespace tandem {

Communicator::Communicator(const DriverApi* driver, std::vector<CommunicatorDevice> devices, const ProcessGroup* group)
    : driver_(driver),
      devices_(std::move(devices)),
      replicas_(local_replicas() * (group != nullptr ? group->size() : 1)),
      first_replica_(local_replicas() * (group != nullptr ? group->rank() : 0)) {}

std::string Communicator::ReplicaName(int index) const {
  return absl::StrCat("replica ", first_replica_ + index, " (gpu:", devices_[index].ordinal, ")");
}

absl::Status Communicator::Wait(absl::Span<const CUstream> streams, double deadline_seconds, const std::string& what) {
  const absl::Duration begin = SteadyNow(), deadline = begin + absl::Seconds(deadline_seconds);
  while (true) {
    std::vector<std::string> late;
    absl::Status failed;
    for (size_t r = 0; r < streams.size(); ++r) {
      const CUresult result = driver_->cuStreamQuery(streams[r]);
      if (result == kCudaNotReady) {
        late.push_back(ReplicaName(static_cast<int>(r)));
      } else if (result != kCudaSuccess && failed.ok()) {
        failed = CudaStatus(*driver_, result, what);
      }
    }
    if (failed.ok()) failed = Poll();
    if (!failed.ok()) {
      AbortAll();
      return failed;
    }
    if (late.empty()) return absl::OkStatus();
    const absl::Duration now = SteadyNow();
    if (now >= deadline) {
      left_alone_ = true;
      AbortAll();
      return WithExitCode(absl::DeadlineExceededError(absl::StrCat(
                              what, " did not end within ", deadline_seconds, " seconds: ", absl::StrJoin(late, ", "),
                              late.size() == 1 ? " has" : " have", " not finished")),
                          kExitTemporary);
    }
    const absl::Duration pause = WaitPause(now - begin);
    if (pause > absl::ZeroDuration()) absl::SleepFor(pause);
  }
}

absl::StatusOr<std::unique_ptr<Communicator>> MakeCommunicator(const DriverApi* driver,
                                                               std::vector<CommunicatorDevice> devices, bool tree_order,
                                                               ProcessGroup* group) {
  std::set<int> ordinals;
  for (const CommunicatorDevice& d : devices) ordinals.insert(d.ordinal);
  if (ordinals.size() == 1 && group == nullptr) return MakeLocalCommunicator(driver, std::move(devices));
  if (ordinals.size() == devices.size()) return MakeNcclCommunicator(driver, std::move(devices), tree_order, group);
  return absl::InvalidArgumentError(absl::StrCat(devices.size(), " replicas on ", ordinals.size(),
                                                 " GPUs: give every replica a GPU of its own",
                                                 group != nullptr ? "" : ", or all of them the same one"));
}

}  // namespace tandem
