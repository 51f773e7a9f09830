// A training job on small images, on CPU devices or fake GPUs: what tests/gpu compares.
#ifndef TANDEM_TESTS_GPU_FAKE_JOB_H_
#define TANDEM_TESTS_GPU_FAKE_JOB_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/host_tensor.h"
#include "base/precision.h"
#include "cluster/cluster.h"
#include "estimator/estimator.h"

namespace tandem {

class ProcessGroup;  // runtime/collectives/process_group.h

struct JobSpec {
  // A sample's name ("zalando" is S0's convnet), "normalised" (batch statistics, moving averages, dropout), "dense"
  // (relu and GELU behind matrix products), "depthwise", "bottleneck", "gathering" (replicas read each other's
  // statistics), "attention", "causal attention" or "masked attention".
  std::string model = "zalando";
  DistributionStrategy devices;
  int64_t batch = 8;  // per replica
  int steps = 60;
  double learning_rate = 0.02;
  Precision precision = Precision::kFloat32;
  bool tf32 = false;
  bool deterministic = false;
  float brightness = 0;  // added to all pixels
  // This process among several that run the job together, and by what their fakes of NCCL are connected.
  std::optional<Cluster> cluster = std::nullopt;
  ProcessGroup* fake_nccl = nullptr;
  bool killed_at_first_all_reduce = false;  // this process
  bool fails_behind_first_step = false;     // a hook of this process
};

struct Job {
  std::vector<float> losses;
  std::vector<int> driver_calls;  // of the fake driver, after each step, captured ones left out
  double eval_loss = 0;
  HostTensor kernel;  // the first layer's, when training ends
};

// Trains on 24 images of ten classes, evaluates in batches of 5 (the last is short, and replicas may have none) and
// leaves checkpoints and executables in `dir`.
absl::StatusOr<Job> RunJob(const JobSpec& spec, const std::string& dir);

// The same on fake GPUs. Fails the running test where the job
// does what a real driver or library would not have survived, or leaves memory behind.
absl::StatusOr<Job> RunJobOnFakeGpus(const JobSpec& spec, int gpus, const std::string& dir);

// A fresh folder of the running test.
std::string JobDir(const std::string& name);

// Length of the difference of the kernels over the length of the second.
double KernelDifference(const Job& a, const Job& b);

}  // namespace tandem

#endif  // TANDEM_TESTS_GPU_FAKE_JOB_H_
