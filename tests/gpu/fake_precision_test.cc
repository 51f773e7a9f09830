// Training in mixed bfloat16 and in TensorFloat-32 on fake GPUs: whose rounding they have, and that it repeats.
//
// The learning rate is a quarter of the other tests': theirs makes the losses leap once, and a rounding decides when.
//
// Tolerances, as parts of the first loss. bfloat16 has 8 bits of precision: a value that is rounded is off by 2^-9 at
// most, relatively. The CPU's job rounds mostly the same tensors (a convolution of few taps stays float32 there), but
// sums in another order and rounds Winograd's transformed values, so that some numbers fall on the other side of a
// rounding. When the job ends the losses have begun to fall by a tenth per step, so what differs early
// shows as the same curve a fraction of a step sooner or later: by 0.02, and from float32 by 0.04. Over all steps
// the mean must be a quarter of that: no bias towards one side. Measured: 0.003 between GPUs and CPUs, 0.007 from
// float32, means of 0.0013 at most. A gradient that is not scaled, or a sum in bfloat16, is several times as much.
// TensorFloat-32 has 11 bits, but grows in the same way: 0.009, mean 0.0014. Where only attention rounds, 0.0004.
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "runtime/executable/executable.h"
#include "runtime/format/index.h"
#include "tests/gpu/fake_job.h"

namespace tandem {
namespace {

constexpr double kLearningRate = 0.005;
constexpr Precision kMixed = Precision::kMixedBfloat16;

class FakePrecisionTest : public testing::Test {
 protected:
  static JobSpec OnCpus(JobSpec spec, int devices) {
    spec.devices = devices == 1 ? OneDeviceStrategy("cpu:0") : MirroredStrategy({"cpu:0", "cpu:1"});
    spec.batch = 8 / devices;
    spec.learning_rate = kLearningRate;
    return spec;
  }
  static JobSpec OnGpus(JobSpec spec, int devices) {
    spec.devices = devices == 1 ? OneDeviceStrategy("gpu:0") : MirroredStrategy({"gpu:0", "gpu:1"});
    spec.batch = 8 / devices;
    spec.learning_rate = kLearningRate;
    return spec;
  }

  // Each loss within `bound` of the other job's, as a part of the first loss.
  static void ExpectNear(const Job& a, const Job& b, double bound, const std::string& what) {
    ASSERT_EQ(a.losses.size(), b.losses.size());
    double worst = 0, sum = 0;
    for (size_t s = 0; s < a.losses.size(); ++s) {
      const double difference = (a.losses[s] - b.losses[s]) / b.losses[0];
      worst = std::max(worst, std::fabs(difference));
      sum += difference;
    }
    EXPECT_LT(worst, bound) << what << ": " << absl::StrJoin(a.losses, " ") << "\nand " << absl::StrJoin(b.losses, " ");
    EXPECT_LT(std::fabs(sum / a.losses.size()), bound / 4) << what;
    EXPECT_NEAR(a.eval_loss, b.eval_loss, bound * b.losses[0]) << what;
    RecordProperty(what + " worst", std::to_string(worst));
    RecordProperty(what + " mean", std::to_string(sum / a.losses.size()));
  }

  static void CheckBFloat16(int devices) {
    const JobSpec mixed{.precision = kMixed};
    absl::StatusOr<Job> single = RunJob(OnCpus({}, devices), JobDir("float32"));
    ASSERT_TRUE(single.ok()) << single.status();
    absl::StatusOr<Job> cpu = RunJob(OnCpus(mixed, devices), JobDir("cpu"));
    ASSERT_TRUE(cpu.ok()) << cpu.status();
    absl::StatusOr<Job> gpu = RunJobOnFakeGpus(OnGpus(mixed, devices), devices, JobDir("gpu"));
    ASSERT_TRUE(gpu.ok()) << gpu.status();
    // A CPU whose bfloat16 products are no faster computes in float32.
    if (cpu->losses != single->losses) ExpectNear(*gpu, *cpu, 0.02, "bfloat16 on GPUs and CPUs");
    ExpectNear(*gpu, *single, 0.04, "bfloat16 on GPUs and float32");
    EXPECT_LT(gpu->losses.back(), 0.8f * gpu->losses.front());  // it learns
    EXPECT_NE(gpu->losses, single->losses);                     // and does round
    absl::StatusOr<Job> again = RunJobOnFakeGpus(OnGpus(mixed, devices), devices, JobDir("again"));
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(gpu->losses, again->losses);
    EXPECT_TRUE(gpu->kernel.BitEqual(again->kernel));
  }
};

// Kernels of the programs in `dir` that are attention or its gradient.
int AttentionKernels(const std::string& dir) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(dir + "/compiled")) {
    if (entry.path().extension() != ".tdx") continue;
    absl::StatusOr<std::shared_ptr<const Executable>> executable = Executable::Load(entry.path().string());
    EXPECT_TRUE(executable.ok()) << executable.status();
    if (!executable.ok()) continue;
    for (const auto& kernel : (*executable)->index().kernels) {
      for (const std::string& op : kernel.ops) count += op == "td.attention" || op == "td.attention_grad";
    }
  }
  return count;
}

// Attention as one kernel, as all rows of an image attend to each other, to earlier ones, and to bright ones.
TEST_F(FakePrecisionTest, Attention) {
  struct Variant {
    const char* what;
    Precision precision;
    bool tf32;
    double bound;
    int most_gpus;
  };
  const Variant variants[] = {{"bfloat16", kMixed, false, 0.04, 2},
                              {"TensorFloat-32", Precision::kFloat32, true, 0.004, 1},
                              {"float32", Precision::kFloat32, false, 1e-4, 1}};
  for (const char* model : {"attention", "causal attention", "masked attention"}) {
    SCOPED_TRACE(model);
    absl::StatusOr<Job> cpu = RunJob(OnCpus({.model = model, .steps = 30}, 1), JobDir("float32"));
    ASSERT_TRUE(cpu.ok()) << cpu.status();
    for (const Variant& v : variants) {
      const JobSpec spec{.model = model, .steps = 30, .precision = v.precision, .tf32 = v.tf32};
      for (int gpus = 1; gpus <= v.most_gpus; ++gpus) {
        const std::string dir = JobDir("gpu");
        absl::StatusOr<Job> gpu = RunJobOnFakeGpus(OnGpus(spec, gpus), gpus, dir);
        ASSERT_TRUE(gpu.ok()) << gpu.status();
        EXPECT_EQ(AttentionKernels(dir), 3) << v.what;  // of the step two, of the evaluation one
        ExpectNear(*gpu, *cpu, v.bound, absl::StrCat("attention in ", v.what, " on GPUs and float32"));
        EXPECT_LT(gpu->losses.back(), 0.8f * gpu->losses.front());
        if (v.precision == kMixed || v.tf32) {
          EXPECT_NE(gpu->losses, cpu->losses) << v.what;
        }
      }
    }
  }
}

TEST_F(FakePrecisionTest, BFloat16OnOneGpu) { CheckBFloat16(1); }

TEST_F(FakePrecisionTest, BFloat16OnTwoGpus) { CheckBFloat16(2); }

TEST_F(FakePrecisionTest, TensorFloat32) {
  absl::StatusOr<Job> single = RunJob(OnCpus({}, 1), JobDir("float32"));
  ASSERT_TRUE(single.ok()) << single.status();
  absl::StatusOr<Job> gpu = RunJobOnFakeGpus(OnGpus({.tf32 = true}, 1), 1, JobDir("gpu"));
  ASSERT_TRUE(gpu.ok()) << gpu.status();
  ExpectNear(*gpu, *single, 0.02, "TensorFloat-32 and float32");
  EXPECT_NE(gpu->losses, single->losses);
}

}  // namespace
}  // namespace tandem
