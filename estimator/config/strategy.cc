#include "estimator/config/strategy.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "base/annotate.h"
#include "base/cross_device_ops.h"
#include "base/exit_code.h"
#include "base/logging.h"
#include "cluster/address.h"
#include "cluster/resolver.h"
#include "runtime/device_classes/device_classes.h"

namespace tandem {
namespace {

constexpr int kMaxDevices = 64;

bool IsGpu(absl::string_view device) { return absl::StartsWith(device, "gpu:"); }

// Returns the number in "cpu:2" or "gpu:2"; -1 if it is no name of a device.
int IndexOf(const std::string& device) {
  int index = 0;
  const bool number = (IsGpu(device) || absl::StartsWith(device, "cpu:")) &&
                      absl::SimpleAtoi(absl::string_view(device).substr(4), &index);
  // The comparison refuses "cpu:00" and "cpu:+1", which would be second names of a device.
  if (!number || index < 0 || index >= kMaxDevices || device != absl::StrCat(device.substr(0, 4), index)) return -1;
  return index;
}

std::string GpuList(const std::vector<DeviceInfo>& gpus) {
  std::string list;
  for (size_t i = 0; i < gpus.size(); ++i) {
    absl::StrAppend(&list, i > 0 ? ", " : "", "gpu:", i, " (", gpus[i].model, ")");
  }
  return list;
}

// Returns how many workers of a cluster on this machine, this one included, see the same GPUs. Returns 1 if
// CUDA_VISIBLE_DEVICES is set, since a launcher has then given each worker GPUs of its own, and if it is not known
// which workers are on this machine.
size_t WorkersThatShareGpus() {
  if (std::getenv("CUDA_VISIBLE_DEVICES") != nullptr) return 1;
  const absl::StatusOr<std::optional<Cluster>> resolved = ResolveCluster(Environment::OfProcess());
  // The Estimator resolves the cluster again later and then returns the error.
  if (!resolved.ok() || !resolved->has_value()) return 1;
  const Cluster& cluster = **resolved;
  if (cluster.rank < 0) return 1;
  if (cluster.local_world_size > 0) return cluster.local_world_size;
  const auto own = cluster.addresses.find(cluster.task.type);
  if (own == cluster.addresses.end()) return 1;
  const std::string host = SplitAddress(own->second[cluster.task.index]).host;
  size_t here = 0;
  for (const auto& [type, addresses] : cluster.addresses) {
    if (type != TaskType::kChief && type != TaskType::kWorker) continue;
    here += std::count_if(addresses.begin(), addresses.end(),
                          [&](const std::string& address) { return SplitAddress(address).host == host; });
  }
  return here;
}

// Returns the names of the GPUs that this process may use, its share of those of the machine, or `otherwise` if there
// are none. Logs which devices these are.
std::vector<std::string> GpusOr(std::vector<std::string> otherwise) {
  const absl::StatusOr<std::vector<DeviceInfo>> gpus = ListDevices("gpu");
  if (!gpus.ok() || gpus->empty()) {
    TD_LOG(INFO) << "Devices: " << absl::StrJoin(otherwise, ", ") << " (no GPU: " << gpus.status().message() << ").";
    return otherwise;
  }
  const size_t share = gpus->size() / WorkersThatShareGpus();
  std::vector<std::string> names;
  for (size_t i = 0; i < std::max<size_t>(share, 1); ++i) names.push_back(absl::StrCat("gpu:", i));
  TD_LOG(INFO) << "Devices: " << (share == gpus->size() ? "all GPUs, " : absl::StrCat(names.size(), " of the GPUs "))
               << GpuList(*gpus) << ".";
  return names;
}

}  // namespace

absl::Status DistributionStrategy::Validate() const {
  std::vector<std::string> problems;
  if (devices.empty()) problems.push_back("the list of devices is empty");
  std::set<std::string> seen;
  bool cpus = false, gpus = false;
  for (const std::string& device : devices) {
    if (IndexOf(device) < 0) {
      problems.push_back(absl::StrCat("device \"", device, "\": there is no such device"));
      continue;
    }
    (IsGpu(device) ? gpus : cpus) = true;
    if (!seen.insert(device).second && !(shared_gpus && IsGpu(device))) {
      problems.push_back(absl::StrCat("device \"", device, "\" is named twice"));
    }
  }
  if (cpus && gpus) {
    problems.push_back(absl::StrCat(absl::StrJoin(devices, ","),
                                    " are CPUs and GPUs: the replicas of a model run on devices of one kind"));
  }
  if (gpus && !cross_device_ops.empty()) {
    problems.push_back(absl::StrCat(absl::StrJoin(devices, ","), " are GPUs, and cross-device ops (\"",
                                    cross_device_ops, "\") are for CPUs"));
  } else if (!cross_device_ops.empty()) {
    if (absl::Status known = CheckCrossDeviceOps(cross_device_ops); !known.ok()) {
      problems.push_back(std::string(known.message()));
    }
  }
  if (problems.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(name, ": ", absl::StrJoin(problems, "; "),
                                                 ". Allowed are cpu:0 to cpu:", kMaxDevices - 1,
                                                 ", each at most once, or the GPUs gpu:0, gpu:1 and so on."));
}

bool DistributionStrategy::gpu() const { return !devices.empty() && IsGpu(devices[0]); }

absl::Status DistributionStrategy::CheckPresent() const {
  if (!gpu()) return absl::OkStatus();
  absl::StatusOr<std::vector<DeviceInfo>> gpus = ListDevices("gpu");
  if (!gpus.ok()) return Annotate(gpus.status(), absl::StrCat(name, ": ", absl::StrJoin(devices, ","), ": "));
  for (const std::string& device : devices) {
    if (IndexOf(device) < static_cast<int>(gpus->size())) continue;
    return WithExitCode(
        absl::FailedPreconditionError(
            absl::StrCat(name, ": there is no ", device, " on this machine; ",
                         gpus->empty() ? "it has no GPU"
                                       : absl::StrCat("there ", gpus->size() == 1 ? "is " : "are ", GpuList(*gpus)))),
        kExitUsage);
  }
  return absl::OkStatus();
}

DistributionStrategy StrategyFromFlag(absl::string_view devices) {
  const auto mirrored = [](std::vector<std::string> names) {
    DistributionStrategy strategy = MirroredStrategy(std::move(names));
    strategy.multi_worker = true;
    return strategy;
  };
  if (devices != "auto") return mirrored(absl::StrSplit(devices, ','));
  return mirrored(GpusOr({"cpu:0", "cpu:1"}));
}

std::vector<std::string> AllDevices() { return GpusOr({"cpu:0"}); }

DistributionStrategy MirroredStrategy(std::vector<std::string> devices, std::string cross_device_ops) {
  return {.name = "MirroredStrategy", .devices = std::move(devices), .cross_device_ops = std::move(cross_device_ops)};
}

DistributionStrategy MultiWorkerMirroredStrategy(std::vector<std::string> devices) {
  return {.name = "MultiWorkerMirroredStrategy",
          .devices = std::move(devices),
          .multi_worker = true,
          .updates = ClusterUpdates::kTogether};
}

DistributionStrategy ParameterServerStrategy(std::vector<std::string> devices) {
  return {.name = "ParameterServerStrategy",
          .devices = std::move(devices),
          .multi_worker = true,
          .updates = ClusterUpdates::kServers};
}

DistributionStrategy CentralStorageStrategy(std::vector<std::string> devices) {
  return {.name = "CentralStorageStrategy", .devices = std::move(devices), .central_storage = true};
}

DistributionStrategy OneDeviceStrategy(std::string device) {
  return {.name = "OneDeviceStrategy", .devices = {std::move(device)}};
}

}  // namespace tandem
