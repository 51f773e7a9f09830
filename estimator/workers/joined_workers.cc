#include "estimator/workers/joined_workers.h"

#include <algorithm>
#include <fstream>
#include <mutex>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/annotate.h"
#include "base/exit_code.h"
#include "base/logging.h"
#include "base/status_macros.h"
#include "base/steady_time.h"
#include "cluster/local_address.h"
#include "passes/base/build_id.h"
#include "runtime/collectives/connect.h"

namespace tandem {
namespace {

// Protects the pointer that Shared returns.
std::mutex g_mutex;
// The connection that all Estimators share. It exists to the end of the process. If it ended with the last Estimator, a
// later Estimator would try to connect to workers that are disconnecting.
std::shared_ptr<JoinedWorkers>& Shared() {
  static std::shared_ptr<JoinedWorkers> shared;
  return shared;
}

// After a connection to a worker broke, how long to wait for the report that a process is lost.
constexpr absl::Duration kNewsDelay = absl::Seconds(2);

// Returns an ID that is the same for all processes of a machine, until it is restarted.
std::string MachineId() {
  std::string id;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> id;
  return id;
}

std::string NameOf(int64_t rank) { return rank == 0 ? "the chief (rank 0)" : absl::StrCat("worker of rank ", rank); }

}  // namespace

absl::StatusOr<std::shared_ptr<JoinedWorkers>> JoinedWorkers::Join(const Cluster& cluster, const RunConfig& config) {
  std::lock_guard<std::mutex> lock(g_mutex);
  if (const std::shared_ptr<JoinedWorkers>& joined = Shared()) {
    TD_RETURN_IF_ERROR(joined->member_->status());
    if (joined->cluster().Text() == cluster.Text() && joined->communication_ == config.communication) {
      if (joined->tls_ == config.tls) return joined;
      return absl::FailedPreconditionError(
          "this process is connected with other files for TLS; give all its Estimators the same RunConfig.tls");
    }
    return absl::FailedPreconditionError(absl::StrCat("this process is connected as ", joined->cluster().Text(), " by ",
                                                      Name(joined->communication_), " communication, and cannot be ",
                                                      cluster.Text(), " by ", Name(config.communication), " besides"));
  }
  std::shared_ptr<JoinedWorkers> joined(new JoinedWorkers());
  joined->communication_ = config.communication;
  joined->tls_ = config.tls;
  joined->deadline_seconds_ = config.peer_deadline_secs;
  MemberOptions options;
  options.deadline_seconds = config.peer_deadline_secs;
  options.start_deadline_seconds = 10 * config.peer_deadline_secs;
  options.facts = {{"build", BuildId()},
                   {"communication", std::string(Name(config.communication))},
                   {"auto_shard", std::string(Name(config.auto_shard))},
                   {"evaluator", cluster.addresses.contains(TaskType::kEvaluator) ? "a task" : "none"}};
  options.tls = config.tls;
  TD_ASSIGN_OR_RETURN(joined->member_, Member::Join(cluster, options));
  // From here on, errors are reported to the other workers.
  if (absl::Status status = joined->Connect(config); !status.ok()) return joined->Ended(status);
  Shared() = joined;
  return joined;
}

absl::Status JoinedWorkers::Connect(const RunConfig& config) {
  constexpr double kLongest = 1e8;  // seconds, which every clock type can represent
  ConnectOptions connect;
  connect.rank = static_cast<int>(cluster().rank);
  connect.size = static_cast<int>(cluster().world_size);
  connect.store = member_.get();
  TD_ASSIGN_OR_RETURN(connect.address, LocalAddressTowards(cluster().coordinator));
  connect.prefix = "collectives";
  connect.communication = config.communication;
  // The deadline is for a worker that is alive but slow. A worker that is lost is reported by member_ earlier.
  connect.deadline = absl::Seconds(std::min(config.deadline_secs, kLongest));
  TD_ASSIGN_OR_RETURN(group_, ConnectProcessGroup(connect));
  std::vector<std::string> names;
  for (int64_t rank = 0; rank < cluster().world_size; ++rank) names.push_back(NameOf(rank));
  workers_ = std::make_unique<WorkerGroup>(group_.get(), std::move(names));
  member_->SetOnFailure([group = group_.get()](const absl::Status& why) { group->Abort(why); });
  TD_ASSIGN_OR_RETURN(const std::vector<std::string> machines,
                      workers_->Gather(MachineId(), "the machines of all workers"));
  const auto self = machines.begin() + cluster().rank;
  workers_here_ = static_cast<int>(std::count(machines.begin(), machines.end(), *self));
  workers_here_before_ = static_cast<int>(std::count(machines.begin(), self, *self));
  TD_LOG(INFO) << "cluster: " << cluster().Text() << "; values travel by " << group_->transport() << ".";
  if (!tls_.has_value() || !cluster().is_chief()) return absl::OkStatus();
  if (absl::StartsWith(group_->transport(), "TCP")) {
    TD_LOG(WARNING) << "TLS encrypts where the workers meet. It does not encrypt gradients and values, which travel by "
                    << group_->transport() << " as plain text: keep others off that network, or use parameter servers.";
  } else {
    TD_LOG(INFO) << "TLS encrypts where the workers meet; gradients and values stay on this machine.";
  }
  return absl::OkStatus();
}

JoinedWorkers::~JoinedWorkers() {
  if (member_ != nullptr) member_->SetOnFailure(nullptr);
  group_ = nullptr;
}

absl::Status JoinedWorkers::Ended(const absl::Status& status) {
  if (status.ok()) return status;
  // Also aborts the process group, and with it the NCCL communicator that GPUs of several workers share: shutting that
  // down regularly would need all workers.
  const auto give_up = [&] {
    member_->Fail(status);
    if (group_ != nullptr) group_->Abort(status);
    return status;
  };
  // The error is this worker's own, not the loss of another one.
  if (!absl::IsUnavailable(status)) return give_up();
  const absl::Duration until = SteadyNow() + std::min(kNewsDelay, absl::Seconds(deadline_seconds_));
  while (member_->status().ok() && SteadyNow() < until) absl::SleepFor(absl::Milliseconds(5));
  const absl::Status lost = member_->status();
  if (lost.ok()) return give_up();
  // The status of member_ comes first, since it names the lost worker. The status of a collective may name a worker
  // that only ended because of that loss.
  return absl::StrContains(status.message(), lost.message())
             ? status
             : WithExitCode(Annotate(lost, "", absl::StrCat(" (", status.message(), ")")), ExitCodeFor(lost));
}

}  // namespace tandem
