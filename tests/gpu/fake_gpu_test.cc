// Whole training jobs on fake GPUs, compiled as for real ones, against the same jobs on CPU devices.
#include <cmath>
#include <cstdlib>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "base/env.h"
#include "estimator/estimator.h"
#include "frontends/layers.h"
#include "frontends/losses.h"
#include "frontends/optimizers.h"
#include "graph/ops.h"
#include "gtest/gtest.h"
#include "samples/models.h"
#include "tests/gpu/fake_gpu.h"

namespace tandem {
namespace {

constexpr int kClasses = 10, kSide = 28, kExamples = 24;

// Images with a bright square whose place tells the class.
absl::StatusOr<Dataset> Images(int64_t batch, bool repeat, bool one_hot) {
  HostTensor images(DType::kFloat32, {kExamples, kSide, kSide, 1});
  HostTensor labels = one_hot ? HostTensor::Zeros(DType::kFloat32, {kExamples, kClasses})
                              : HostTensor::Zeros(DType::kInt32, {kExamples});
  std::mt19937 random(3);
  std::uniform_real_distribution<float> noise(0, 0.3f);
  for (int n = 0; n < kExamples; ++n) {
    const int c = n % kClasses;
    if (one_hot) {
      labels.data<float>()[n * kClasses + c] = 1;
    } else {
      labels.data<int32_t>()[n] = c;
    }
    float* image = images.data<float>() + n * kSide * kSide;
    for (int i = 0; i < kSide * kSide; ++i) image[i] = noise(random);
    for (int y = 0; y < 8; ++y) {
      for (int x = 0; x < 5; ++x) image[(2 + (c / 5) * 13 + y) * kSide + 1 + (c % 5) * 5 + x] += 0.6f;
    }
  }
  Dataset dataset = Dataset::FromTensorSlices({{"image", images}, {"label", labels}});
  return (repeat ? dataset.Repeat() : dataset).Batch(batch);
}

struct Job {
  std::vector<float> losses;
  std::vector<int> driver_calls;  // of the fake driver, after each step, captured ones left out
  double eval_loss = 0;
  int64_t evaluated = 0;
  HostTensor kernel;
};

class Losses : public SessionRunHook {
 public:
  explicit Losses(Job* job) : losses_(&job->losses), calls_(&job->driver_calls) {}
  std::string name() const override { return "Losses"; }
  absl::Status AfterRun(RunContext&, const RunValues& values) override {
    losses_->push_back(values.tensors.at("loss").data<float>()[0]);
    if (FakeDriver::current() != nullptr) calls_->push_back(FakeDriver::current()->CountCalls());
    return absl::OkStatus();
  }

 private:
  std::vector<float>* losses_;
  std::vector<int>* calls_;
};

// A small model with what the large one lacks: batch statistics, moving averages, dropout.
EstimatorSpec Normalised(const Features& features, const Tensor& labels, Mode mode, const Params& params) {
  const bool training = mode == Mode::kTrain;
  Tensor x = layers::Conv2D(features["image"], {.filters = 8, .kernel_size = 5, .strides = 3});
  x = Relu(layers::BatchNormalization(x, {.training = training}));
  x = layers::Dropout(layers::Flatten(x), {.rate = 0.25, .training = training});
  const Tensor loss = losses::SoftmaxCrossEntropy(labels, layers::Dense(x, {.units = kClasses}));
  if (mode == Mode::kEval) return EstimatorSpec::Eval(loss);
  return EstimatorSpec::Train(loss, optimizers::GradientDescent({.learning_rate = 0.05}).Minimize(loss));
}

absl::StatusOr<SampleModel> ModelByName(const std::string& name) {
  if (name == "normalised") return SampleModel{name, Normalised, /*one_hot_labels=*/true, "sgd"};
  return SampleModelByName(name);
}

absl::StatusOr<Job> RunJob(const std::string& model_name, const DistributionStrategy& devices, int64_t batch, int steps,
                           const std::string& dir) {
  absl::StatusOr<SampleModel> model = ModelByName(model_name);
  if (!model.ok()) return model.status();
  Estimator estimator(model->model_fn,
                      RunConfig{.model_dir = dir, .save_checkpoints_steps = 1000, .train_distribute = devices},
                      {{"optimizer", "momentum"}, {"learning_rate", 0.02}});
  Job job;
  auto train = [&](const InputContext&) { return Images(batch, true, model->one_hot_labels); };
  absl::Status status = estimator.Train(train, {.max_steps = steps, .hooks = {std::make_shared<Losses>(&job)}});
  if (!status.ok()) return status;
  // 24 examples in batches of 5: the last one is short, and replicas may have none.
  absl::StatusOr<EvalResult> result =
      estimator.Evaluate([&](const InputContext&) { return Images(5, false, model->one_hot_labels); });
  if (!result.ok()) return result.status();
  job.eval_loss = (*result)["loss"];
  absl::StatusOr<HostTensor> kernel = estimator.GetVariableValue("conv2d/kernel");
  if (!kernel.ok()) return kernel.status();
  job.kernel = *std::move(kernel);
  return job;
}

class FakeGpuTest : public testing::Test {
 protected:
  void SetUp() override { setenv("TANDEM_FLAGS", "--gpu-walk", 1); }
  void TearDown() override { unsetenv("TANDEM_FLAGS"); }

  std::string Dir(const std::string& name) {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    const std::string dir = testing::TempDir() + "/" + info->name() + "." + name;
    if (Env::Default()->Exists(dir)) {
      EXPECT_TRUE(Env::Default()->DeleteRecursively(dir).ok());
    }
    return dir;
  }

  // The job on fake GPUs. Leaves no violation and no memory behind.
  absl::StatusOr<Job> RunOnGpus(const DistributionStrategy& devices, int gpus, int64_t batch, int steps,
                                const std::string& model = "zalando") {
    FakeGpuMachine machine(gpus);
    const std::string dir = Dir("gpu");
    machine.AddModelDir(dir);
    absl::StatusOr<Job> job = RunJob(model, devices, batch, steps, dir);
    EXPECT_EQ(absl::StrJoin(machine.TakeViolations(), "\n"), "");
    for (int d = 0; d < gpus; ++d) EXPECT_EQ(machine.driver().AllocatedBytes(d), 0u);
    return job;
  }

  static void ExpectClose(const Job& gpu, const Job& cpu, int steps) {
    ASSERT_EQ(gpu.losses.size(), static_cast<size_t>(steps));
    ASSERT_EQ(cpu.losses.size(), static_cast<size_t>(steps));
    for (int s = 0; s < steps; ++s) {
      EXPECT_NEAR(gpu.losses[s], cpu.losses[s], 1e-3 * std::abs(cpu.losses[s])) << "step " << s;
    }
    EXPECT_NEAR(gpu.eval_loss, cpu.eval_loss, 1e-3 * std::abs(cpu.eval_loss));
    ASSERT_EQ(gpu.kernel.num_elements(), cpu.kernel.num_elements());
    double error = 0, size = 0;
    for (int64_t i = 0; i < cpu.kernel.num_elements(); ++i) {
      error += std::pow(gpu.kernel.data<float>()[i] - cpu.kernel.data<float>()[i], 2);
      size += std::pow(cpu.kernel.data<float>()[i], 2);
    }
    EXPECT_LT(std::sqrt(error / size), 1e-3);
  }
};

TEST_F(FakeGpuTest, AConvnetTrainsAsOnTheCpu) {
  constexpr int kSteps = 60;
  absl::StatusOr<Job> cpu = RunJob("zalando", OneDeviceStrategy("cpu:0"), 8, kSteps, Dir("cpu"));
  ASSERT_TRUE(cpu.ok()) << cpu.status();
  absl::StatusOr<Job> gpu = RunOnGpus(OneDeviceStrategy("gpu:0"), 1, 8, kSteps);
  ASSERT_TRUE(gpu.ok()) << gpu.status();
  ExpectClose(*gpu, *cpu, kSteps);
  EXPECT_LT(gpu->losses.back(), 0.8f * gpu->losses.front());  // it learns
  // Full batches of 8 come as often as a graph can be launched: 24 examples have no remainder.
  EXPECT_LE(gpu->driver_calls[50] - gpu->driver_calls[20], 3 * 30);
}

TEST_F(FakeGpuTest, TwoGpusTrainAsTwoCpuDevices) {
  constexpr int kSteps = 60;
  absl::StatusOr<Job> cpu = RunJob("zalando", MirroredStrategy({"cpu:0", "cpu:1"}), 4, kSteps, Dir("cpu"));
  ASSERT_TRUE(cpu.ok()) << cpu.status();
  absl::StatusOr<Job> gpu = RunOnGpus(MirroredStrategy({"gpu:0", "gpu:1"}), 2, 4, kSteps);
  ASSERT_TRUE(gpu.ok()) << gpu.status();
  ExpectClose(*gpu, *cpu, kSteps);
}

TEST_F(FakeGpuTest, TwoReplicasMayShareAGpu) {
  constexpr int kSteps = 4;
  DistributionStrategy shared = MirroredStrategy({"gpu:0", "gpu:0"});
  shared.shared_gpus = true;
  absl::StatusOr<Job> one = RunOnGpus(shared, 1, 4, kSteps);
  ASSERT_TRUE(one.ok()) << one.status();
  absl::StatusOr<Job> two = RunOnGpus(MirroredStrategy({"gpu:0", "gpu:1"}), 2, 4, kSteps);
  ASSERT_TRUE(two.ok()) << two.status();
  EXPECT_EQ(one->losses, two->losses);  // both sum two replicas in the order of the tree
}

// Batch statistics cross sections, moving averages are combined over replicas, dropout counts rows of the whole batch.
TEST_F(FakeGpuTest, BatchNormalisationAndDropout) {
  constexpr int kSteps = 20;
  absl::StatusOr<Job> cpu = RunJob("normalised", MirroredStrategy({"cpu:0", "cpu:1"}), 4, kSteps, Dir("cpu"));
  ASSERT_TRUE(cpu.ok()) << cpu.status();
  absl::StatusOr<Job> gpu = RunOnGpus(MirroredStrategy({"gpu:0", "gpu:1"}), 2, 4, kSteps, "normalised");
  ASSERT_TRUE(gpu.ok()) << gpu.status();
  ExpectClose(*gpu, *cpu, kSteps);
}

TEST_F(FakeGpuTest, TheSameJobTwiceHasTheSameBits) {
  std::optional<Job> first;
  for (int i = 0; i < 2; ++i) {
    absl::StatusOr<Job> job = RunOnGpus(OneDeviceStrategy("gpu:0"), 1, 8, 3);
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
