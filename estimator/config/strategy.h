// Distribution strategies: which devices make a step together.
#ifndef TANDEM_ESTIMATOR_CONFIG_STRATEGY_H_
#define TANDEM_ESTIMATOR_CONFIG_STRATEGY_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "tandem/base/api.h"

namespace TANDEM_API tandem {

// How the workers of a cluster update the variables.
enum class ClusterUpdates {
  kAny,       // by servers if the cluster has tasks of type ps, otherwise together
  kTogether,  // all workers make every step together, and their gradients are summed
  kServers,   // each worker makes its own steps, and parameter servers keep the variables
};

// A strategy only describes the devices: the compiler replicates the program for them. Replicas are numbered in the
// order of the devices.
struct DistributionStrategy {
  std::string name = "OneDeviceStrategy";
  std::vector<std::string> devices = {"cpu:0"};  // the devices of each worker
  // True if the workers of a cluster (docs/guide/cluster.md) train one model together. Without a cluster one process
  // trains, as it does when this is false. If it is false in a cluster, the Estimator returns an error.
  bool multi_worker = false;
  ClusterUpdates updates = ClusterUpdates::kAny;
  // Keep one copy of the variables for all devices, instead of one each. GPUs keep a copy each all the same: sending
  // the variables to a GPU in every step would take as much of its memory, and time.
  bool central_storage = false;
  // The name of the cross-device ops (base/cross_device_ops.h) that combine the values of a worker's devices:
  // registered by a user, or "ReductionToOneDevice" or "HierarchicalCopyAllReduce". If empty: sums in the order of the
  // reduction tree. CPUs only.
  std::string cross_device_ops;

  // For tests: allows several replicas on one GPU, which is then listed several times.
  bool shared_gpus = false;

  // The number of replicas of one worker.
  int num_replicas() const { return static_cast<int>(devices.size()); }
  // True if the devices are GPUs ("gpu:0").
  bool gpu() const;
  // True if all devices share one copy of the variables.
  bool one_copy() const { return central_storage && !gpu(); }
  // Returns InvalidArgument, listing all mistakes and what is allowed: no device, a device named twice, an impossible
  // device, both CPUs and GPUs, cross-device ops that are not registered. Does not look at the machine.
  absl::Status Validate() const;
  // Returns an error unless this machine has the devices. FailedPrecondition (exit code 2): no driver or GPU, and why;
  // or a GPU that does not exist, with a list of those that do.
  absl::Status CheckPresent() const;
};

// Returns all GPUs of this machine; if the environment says that several workers are on it, this worker's equal share
// of them. Without GPUs returns {"cpu:0"}, whose one replica uses all cores. The default devices of the strategies.
std::vector<std::string> AllDevices();

// Every device holds a copy of all variables and works on its own batch; gradients are all-reduced at every step.
DistributionStrategy MirroredStrategy(std::vector<std::string> devices = AllDevices(),
                                      std::string cross_device_ops = "");
// One replica on this device.
DistributionStrategy OneDeviceStrategy(std::string device);
// Like MirroredStrategy, with the same bits, but with one copy of the variables and their slots instead of one for each
// CPU device. For one process only.
DistributionStrategy CentralStorageStrategy(std::vector<std::string> devices = AllDevices());
// MirroredStrategy over all workers of a cluster, each with these devices: gradients are all-reduced over the replicas
// of all workers.
DistributionStrategy MultiWorkerMirroredStrategy(std::vector<std::string> devices = AllDevices());
// Asynchronous training: the tasks of type ps of a cluster keep the variables. Each worker, with these devices,
// computes gradients of its own batches and sends them to the servers, which update the variables. Without a cluster
// one process trains.
DistributionStrategy ParameterServerStrategy(std::vector<std::string> devices = AllDevices());
// Returns a mirrored strategy (over all workers, in a cluster) for a flag: names separated by commas; or "auto": the
// GPUs of AllDevices or, if there are none, two CPU devices. The log says which, and why there is no GPU.
DistributionStrategy StrategyFromFlag(absl::string_view devices);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_CONFIG_STRATEGY_H_
