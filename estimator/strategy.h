// Distribution strategies: which devices run a step together.
#ifndef TANDEM_ESTIMATOR_STRATEGY_H_
#define TANDEM_ESTIMATOR_STRATEGY_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace tandem {

// How the workers of a cluster update the variables.
enum class ClusterUpdates {
  kAny,       // by servers where the cluster has tasks of type ps, together otherwise
  kTogether,  // every step is one of all workers, whose gradients are summed
  kServers,   // each worker makes its steps by itself, and parameter servers keep the variables
};

// A description only; the compiler does the replicating. The order of the devices is the order of the replicas.
struct DistributionStrategy {
  std::string name = "OneDeviceStrategy";
  std::vector<std::string> devices = {"cpu:0"};  // of each worker
  // Whether the workers of a cluster (docs/guide/cluster.md) train one model together. Without a cluster one process
  // trains, as otherwise. False in a cluster is an error of the Estimator.
  bool multi_worker = false;
  ClusterUpdates updates = ClusterUpdates::kAny;
  // One copy of the variables for all devices, in place of one each. A GPU keeps a copy all the same: to bring it the
  // variables in every step would take as much of its memory, and time.
  bool central_storage = false;
  // The name of cross-device ops (base/cross_device_ops.h) that combine the values of a worker's devices: of a user, or
  // "ReductionToOneDevice" or "HierarchicalCopyAllReduce". Empty: sums in the order of the reduction tree. CPUs only.
  std::string cross_device_ops;

  // For tests: several replicas may be on one GPU, which is then named several times.
  bool shared_gpus = false;

  // Of one worker.
  int num_replicas() const { return static_cast<int>(devices.size()); }
  // Whether the devices are GPUs ("gpu:0").
  bool gpu() const;
  // Whether all devices share the variables.
  bool one_copy() const { return central_storage && !gpu(); }
  // InvalidArgument, listing everything that is wrong and what is allowed: no device, a device named twice, one that
  // cannot be, CPUs and GPUs in one list, cross-device ops that are not registered. Does not look at the machine.
  absl::Status Validate() const;
  // Whether this machine has the devices. FailedPrecondition (exit code 2): no driver or GPU, and why; a GPU that is
  // not there, with a list of those that are.
  absl::Status CheckPresent() const;
};

// All GPUs of this machine, of which workers that the environment says to be on it take equal shares; {"cpu:0"}, whose
// one replica uses all cores, where there are none. What a strategy takes that is given no devices.
std::vector<std::string> AllDevices();

// Every device holds a copy of all variables and works on its own batch; gradients are all-reduced at every step.
DistributionStrategy MirroredStrategy(std::vector<std::string> devices = AllDevices(),
                                      std::string cross_device_ops = "");
DistributionStrategy OneDeviceStrategy(std::string device);
// As mirrored, to the bit, with one copy of the variables and their slots in place of one for each CPU device. For one
// process.
DistributionStrategy CentralStorageStrategy(std::vector<std::string> devices = AllDevices());
// MirroredStrategy over all workers of a cluster, each with these devices: gradients are all-reduced over the replicas
// of all.
DistributionStrategy MultiWorkerMirroredStrategy(std::vector<std::string> devices = AllDevices());
// Asynchronous: the tasks of type ps of a cluster keep the variables. Each worker, with these devices, computes
// gradients of batches of its own and sends them, and the servers update. Without a cluster one process trains.
DistributionStrategy ParameterServerStrategy(std::vector<std::string> devices = AllDevices());
// A mirrored strategy, over all workers where there is a cluster, from a flag: names separated by commas; "auto": the
// GPUs of AllDevices, or two CPU devices where there are none. The log says which, and why there is no GPU.
DistributionStrategy StrategyFromFlag(absl::string_view devices);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_STRATEGY_H_
