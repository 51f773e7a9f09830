// Whole training jobs on fake GPUs, compiled as for real ones, against the same jobs on CPU devices.
#include <cmath>
#include <cstdlib>
#include <optional>
#include <string>

#include "gtest/gtest.h"
#include "tests/gpu/fake_job.h"

namespace tandem {
namespace {

class FakeGpuTest : public testing::Test {
 protected:
  // The job on CPU devices and on as many fake GPUs.
  static void ExpectSameJob(JobSpec spec, int devices, Job* gpu_job = nullptr) {
    spec.devices = devices == 1 ? OneDeviceStrategy("cpu:0") : MirroredStrategy({"cpu:0", "cpu:1"});
    absl::StatusOr<Job> cpu = RunJob(spec, JobDir("cpu"));
    ASSERT_TRUE(cpu.ok()) << cpu.status();
    spec.devices = devices == 1 ? OneDeviceStrategy("gpu:0") : MirroredStrategy({"gpu:0", "gpu:1"});
    absl::StatusOr<Job> gpu = RunJobOnFakeGpus(spec, devices, JobDir("gpu"));
    ASSERT_TRUE(gpu.ok()) << gpu.status();
    ASSERT_EQ(gpu->losses.size(), static_cast<size_t>(spec.steps));
    ASSERT_EQ(cpu->losses.size(), static_cast<size_t>(spec.steps));
    for (int s = 0; s < spec.steps; ++s) {
      EXPECT_NEAR(gpu->losses[s], cpu->losses[s], 1e-3 * std::abs(cpu->losses[s])) << "step " << s;
    }
    EXPECT_NEAR(gpu->eval_loss, cpu->eval_loss, 1e-3 * std::abs(cpu->eval_loss));
    EXPECT_LT(KernelDifference(*gpu, *cpu), 1e-3);
    if (gpu_job != nullptr) *gpu_job = *std::move(gpu);
  }
};

TEST_F(FakeGpuTest, AConvnetTrainsAsOnTheCpu) {
  Job gpu;
  ASSERT_NO_FATAL_FAILURE(ExpectSameJob({}, 1, &gpu));
  EXPECT_LT(gpu.losses.back(), 0.8f * gpu.losses.front());  // it learns
  // Full batches of 8 come as often as a graph can be launched: 24 examples have no remainder.
  EXPECT_LE(gpu.driver_calls[50] - gpu.driver_calls[20], 3 * 30);
}

TEST_F(FakeGpuTest, TwoGpusTrainAsTwoCpuDevices) { ExpectSameJob({.batch = 4}, 2); }

// A batch of 7 leaves a short one of 3: what the first layer's gradient sums up ends with its rows.
TEST_F(FakeGpuTest, ShortBatchesOfAConvnet) { ExpectSameJob({.batch = 7, .steps = 12}, 1); }

// The epilogues of matrix products: masks of relu, what GELU is applied to, and sums that are gradients of biases.
TEST_F(FakeGpuTest, ReluAndGeluOfDenseLayers) {
  Job gpu;
  ASSERT_NO_FATAL_FAILURE(ExpectSameJob({.model = "dense", .batch = 4, .steps = 30}, 2, &gpu));
  EXPECT_LT(gpu.losses.back(), 0.9f * gpu.losses.front());
}

// A batch of 7 leaves a short one of 3: rows behind it hold anything, and are not summed up.
TEST_F(FakeGpuTest, ShortBatchesOfDenseLayers) { ExpectSameJob({.model = "dense", .batch = 7, .steps = 12}, 1); }

TEST_F(FakeGpuTest, TwoReplicasMayShareAGpu) {
  JobSpec spec{.devices = MirroredStrategy({"gpu:0", "gpu:0"}), .batch = 4, .steps = 4};
  spec.devices.shared_gpus = true;
  absl::StatusOr<Job> one = RunJobOnFakeGpus(spec, 1, JobDir("one"));
  ASSERT_TRUE(one.ok()) << one.status();
  spec.devices = MirroredStrategy({"gpu:0", "gpu:1"});
  absl::StatusOr<Job> two = RunJobOnFakeGpus(spec, 2, JobDir("two"));
  ASSERT_TRUE(two.ok()) << two.status();
  EXPECT_EQ(one->losses, two->losses);  // both sum two replicas in the order of the tree
}

// Each GPU keeps a copy of the variables.
TEST_F(FakeGpuTest, CentralStorageIsAMirroredTraining) {
  JobSpec spec{.model = "dense", .devices = CentralStorageStrategy({"gpu:0", "gpu:1"}), .batch = 4, .steps = 4};
  const absl::StatusOr<Job> central = RunJobOnFakeGpus(spec, 2, JobDir("central"));
  ASSERT_TRUE(central.ok()) << central.status();
  spec.devices = MirroredStrategy({"gpu:0", "gpu:1"});
  const absl::StatusOr<Job> mirrored = RunJobOnFakeGpus(spec, 2, JobDir("mirrored"));
  ASSERT_TRUE(mirrored.ok()) << mirrored.status();
  EXPECT_EQ(central->losses, mirrored->losses);
  EXPECT_EQ(central->eval_loss, mirrored->eval_loss);
}

// Batch statistics cross sections, moving averages are combined over replicas, dropout counts rows of the whole batch.
TEST_F(FakeGpuTest, BatchNormalisationAndDropout) {
  ExpectSameJob({.model = "normalised", .batch = 4, .steps = 20}, 2);
}

// Means of some hundred deviations: their squares have no digits left for the variance in float32, and enough in
// doubles, which the sums are. Evaluations and gradients of such values differ by more than sums do.
TEST_F(FakeGpuTest, StatisticsOfValuesFarFromZero) {
  JobSpec spec{.model = "normalised", .devices = OneDeviceStrategy("cpu:0"), .steps = 2, .brightness = 100};
  const absl::StatusOr<Job> cpu = RunJob(spec, JobDir("cpu"));
  ASSERT_TRUE(cpu.ok()) << cpu.status();
  spec.devices = OneDeviceStrategy("gpu:0");
  const absl::StatusOr<Job> gpu = RunJobOnFakeGpus(spec, 1, JobDir("gpu"));
  ASSERT_TRUE(gpu.ok()) << gpu.status();
  for (int s = 0; s < spec.steps; ++s) EXPECT_NEAR(gpu->losses[s], cpu->losses[s], 1e-3) << "step " << s;
}

// The last round of an evaluation has no rows for the second replica.
TEST_F(FakeGpuTest, GatheredAndBroadcastStatistics) {
  ExpectSameJob({.model = "gathering", .batch = 4, .steps = 8}, 2);
}

TEST_F(FakeGpuTest, DepthwiseConvolutions) {
  for (int gpus : {1, 2}) ExpectSameJob({.model = "depthwise", .batch = 8 / gpus, .steps = 12}, gpus);
}

// Most 1x1 convolutions are matrix products; the last batch is a short one.
TEST_F(FakeGpuTest, PointwiseConvolutions) {
  for (int gpus : {1, 2}) ExpectSameJob({.model = "bottleneck", .batch = 7, .steps = 8}, gpus);
  ExpectSameJob({.model = "bottleneck", .steps = 4, .precision = Precision::kStrictFloat32}, 1);
}

TEST_F(FakeGpuTest, TheSameJobTwiceHasTheSameBits) {
  std::optional<Job> first;
  for (int i = 0; i < 2; ++i) {
    absl::StatusOr<Job> job = RunJobOnFakeGpus({.devices = OneDeviceStrategy("gpu:0"), .steps = 3}, 1, JobDir("gpu"));
    ASSERT_TRUE(job.ok()) << job.status();
    if (first.has_value()) {
      EXPECT_EQ(first->losses, job->losses);
      EXPECT_EQ(first->eval_loss, job->eval_loss);
    }
    first = *std::move(job);
  }
}

}  // namespace
}  // namespace tandem
