#include "tests/gpu/fake_job.h"

#include <cmath>
#include <cstdlib>
#include <memory>
#include <random>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/env.h"
#include "estimator/horovod/horovod.h"
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
absl::StatusOr<Dataset> Images(int64_t batch, bool repeat, bool one_hot, float brightness) {
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
    for (int i = 0; i < kSide * kSide; ++i) image[i] = brightness + noise(random);
    for (int y = 0; y < 8; ++y) {
      for (int x = 0; x < 5; ++x) image[(2 + (c / 5) * 13 + y) * kSide + 1 + (c % 5) * 5 + x] += 0.6f;
    }
  }
  Dataset dataset = Dataset::FromTensorSlices({{"image", images}, {"label", labels}});
  return repeat ? dataset.Batch(batch).Repeat() : dataset.Batch(batch);
}

class Losses : public SessionRunHook {
 public:
  Losses(Job* job, bool fails) : losses_(&job->losses), calls_(&job->driver_calls), fails_(fails) {}
  std::string name() const override { return "Losses"; }
  absl::Status AfterRun(RunContext&, const RunValues& values) override {
    losses_->push_back(values.tensors.at("loss").data<float>()[0]);
    if (FakeDriver::current() != nullptr) calls_->push_back(FakeDriver::current()->CountCalls());
    return fails_ ? absl::InvalidArgumentError("a hook gives up") : absl::OkStatus();
  }

 private:
  std::vector<float>* losses_;
  std::vector<int>* calls_;
  const bool fails_;
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

// Activations of both kinds between matrix products; rows of 40 are no multiple of what masks are stored in.
EstimatorSpec DenseModel(const Features& features, const Tensor& labels, Mode mode, const Params& params) {
  Tensor x = layers::Dense(layers::Flatten(features["image"]), {.units = 40, .activation = Relu});
  x = layers::Dense(x, {.units = 24, .activation = GeluTanh});
  x = layers::Dense(x, {.units = 130, .activation = Relu});
  const Tensor loss = losses::SoftmaxCrossEntropy(labels, layers::Dense(x, {.units = kClasses}));
  if (mode == Mode::kEval) return EstimatorSpec::Eval(loss);
  return EstimatorSpec::Train(loss, optimizers::Momentum({.learning_rate = 0.02}).Minimize(loss));
}

// A block of MobileNet: generated kernels for the images, cuDNN's gradients to the kernels.
EstimatorSpec DepthwiseModel(const Features& features, const Tensor& labels, Mode mode, const Params& params) {
  const bool training = mode == Mode::kTrain;
  Tensor x = layers::Conv2D(features["image"], {.filters = 8, .kernel_size = 5, .strides = 3});
  x = layers::DepthwiseConv2D(x, {.kernel_size = 3, .strides = 2, .padding = Padding::kSame, .depth_multiplier = 2});
  x = Relu(layers::BatchNormalization(x, {.training = training}));
  x = layers::SeparableConv2D(x, {.filters = 12, .kernel_size = 3, .padding = Padding::kSame, .activation = Relu});
  const Tensor loss = losses::SoftmaxCrossEntropy(labels, layers::Dense(layers::Flatten(x), {.units = kClasses}));
  if (mode == Mode::kEval) return EstimatorSpec::Eval(loss);
  return EstimatorSpec::Train(loss, optimizers::GradientDescent({.learning_rate = 0.05}).Minimize(loss));
}

// A block of ResNet: 1x1 convolutions around another one and on the way past it, here one with strides.
EstimatorSpec BottleneckModel(const Features& features, const Tensor& labels, Mode mode, const Params& params) {
  const bool training = mode == Mode::kTrain;
  const Tensor x = layers::Conv2D(features["image"], {.filters = 20, .kernel_size = 5, .strides = 3});
  Tensor y = layers::Conv2D(x, {.filters = 24, .kernel_size = 1, .activation = Relu});
  y = layers::Conv2D(y, {.filters = 24, .kernel_size = 3, .strides = 2, .padding = Padding::kSame, .use_bias = false});
  y = Relu(layers::BatchNormalization(y, {.training = training}));
  y = layers::Conv2D(y, {.filters = 40, .kernel_size = 1, .use_bias = false});
  y = Relu(y + layers::Conv2D(x, {.filters = 40, .kernel_size = 1, .strides = 2}));
  const Tensor loss = losses::SoftmaxCrossEntropy(labels, layers::Dense(layers::Flatten(y), {.units = kClasses}));
  if (mode == Mode::kEval) return EstimatorSpec::Eval(loss);
  return EstimatorSpec::Train(loss, optimizers::GradientDescent({.learning_rate = 0.02}).Minimize(loss));
}

// What every replica has of the others: the means of their channels, and the first one's variances.
EstimatorSpec GatheringModel(const Features& features, const Tensor& labels, Mode mode, const Params& params) {
  Tensor x = layers::Conv2D(features["image"], {.filters = 8, .kernel_size = 5, .strides = 3});
  const Moments own = BatchMoments(x);
  x = Relu((x - ReduceMean(horovod::Allgather(own.mean))) * Rsqrt(horovod::Broadcast(own.variance, 0) + 0.01));
  const Tensor loss = losses::SoftmaxCrossEntropy(labels, layers::Dense(layers::Flatten(x), {.units = kClasses}));
  if (mode == Mode::kEval) return EstimatorSpec::Eval(loss);
  return EstimatorSpec::Train(loss, optimizers::GradientDescent({.learning_rate = 0.05}).Minimize(loss));
}

// Rows of an image as positions that attend to each other, all or to earlier ones, and not to dark ones.
EstimatorSpec AttentionModel(const Features& features, const Tensor& labels, bool causal, bool masked, Mode mode) {
  const Tensor image = Reshape(features["image"], {kBatch, kSide, kSide});
  const Tensor mask = masked ? Greater(ReduceMean(image, {2}), features["image"].graph()->Constant(0.2f)) : Tensor();
  Tensor x = layers::Dense(image, {.units = 32});
  x = layers::LayerNormalization(
      x + layers::MultiHeadAttention(x, {.num_heads = 2, .key_dim = 16, .use_causal_mask = causal}, mask));
  const Tensor loss = losses::SoftmaxCrossEntropy(labels, layers::Dense(layers::Flatten(x), {.units = kClasses}));
  if (mode == Mode::kEval) return EstimatorSpec::Eval(loss);
  return EstimatorSpec::Train(loss, optimizers::GradientDescent({.learning_rate = 0.02}).Minimize(loss));
}

template <bool kCausal, bool kMasked>
EstimatorSpec Attention(const Features& features, const Tensor& labels, Mode mode, const Params&) {
  return AttentionModel(features, labels, kCausal, kMasked, mode);
}

absl::StatusOr<SampleModel> ModelByName(const std::string& name) {
  if (name == "attention") return SampleModel{name, Attention<false, false>, /*one_hot_labels=*/true, "sgd"};
  if (name == "causal attention") return SampleModel{name, Attention<true, false>, /*one_hot_labels=*/true, "sgd"};
  if (name == "masked attention") return SampleModel{name, Attention<false, true>, /*one_hot_labels=*/true, "sgd"};
  if (name == "gathering") return SampleModel{name, GatheringModel, /*one_hot_labels=*/true, "sgd"};
  if (name == "normalised") return SampleModel{name, Normalised, /*one_hot_labels=*/true, "sgd"};
  if (name == "depthwise") return SampleModel{name, DepthwiseModel, /*one_hot_labels=*/true, "sgd"};
  if (name == "bottleneck") return SampleModel{name, BottleneckModel, /*one_hot_labels=*/true, "sgd"};
  if (name == "dense") return SampleModel{name, DenseModel, /*one_hot_labels=*/true, "momentum"};
  return SampleModelByName(name);
}

}  // namespace

absl::StatusOr<Job> RunJob(const JobSpec& spec, const std::string& dir) {
  // What the jobs of a test have in common is compiled once.
  setenv("TANDEM_FLAGS", absl::StrCat("--kernel-cache=", testing::TempDir(), "/kernels").c_str(), /*overwrite=*/0);
  absl::StatusOr<SampleModel> model = ModelByName(spec.model);
  if (!model.ok()) return model.status();
  RunConfig config{.model_dir = dir, .save_checkpoints_steps = 1000, .train_distribute = spec.devices};
  config.precision = spec.precision;
  config.tf32 = spec.tf32;
  config.deterministic = spec.deterministic;
  config.cluster = spec.cluster;
  Estimator estimator(model->model_fn, config, {{"optimizer", "momentum"}, {"learning_rate", spec.learning_rate}});
  Job job;
  auto train = [&](const InputContext&) { return Images(spec.batch, true, model->one_hot_labels, spec.brightness); };
  const auto losses = std::make_shared<Losses>(&job, spec.fails_behind_first_step);
  absl::Status status = estimator.Train(train, {.max_steps = spec.steps, .hooks = {losses}});
  if (!status.ok()) return status;
  absl::StatusOr<EvalResult> result =
      estimator.Evaluate([&](const InputContext&) { return Images(5, false, model->one_hot_labels, spec.brightness); });
  if (!result.ok()) return result.status();
  job.eval_loss = (*result)["loss"];
  const bool has_convolution = spec.model != "dense" && !absl::StrContains(spec.model, "attention");
  absl::StatusOr<HostTensor> kernel = estimator.GetVariableValue(has_convolution ? "conv2d/kernel" : "dense/kernel");
  if (!kernel.ok()) return kernel.status();
  job.kernel = *std::move(kernel);
  return job;
}

absl::StatusOr<Job> RunJobOnFakeGpus(const JobSpec& spec, int gpus, const std::string& dir) {
  FakeGpuMachine machine(gpus);
  machine.AddModelDir(dir);
  if (spec.fake_nccl != nullptr) machine.nccl().ConnectProcesses(spec.fake_nccl);
  if (spec.killed_at_first_all_reduce) machine.nccl().KillAt("ncclAllReduce");
  absl::StatusOr<Job> job = RunJob(spec, dir);
  EXPECT_EQ(absl::StrJoin(machine.TakeViolations(), "\n"), "");
  // After an error nothing waits for the device any more.
  for (int d = 0; d < gpus && job.ok(); ++d) EXPECT_EQ(machine.driver().AllocatedBytes(d), 0u);
  return job;
}

std::string JobDir(const std::string& name) {
  const auto* info = testing::UnitTest::GetInstance()->current_test_info();
  const std::string dir = testing::TempDir() + "/" + info->name() + "." + name;
  if (Env::Default()->Exists(dir)) {
    EXPECT_TRUE(Env::Default()->DeleteRecursively(dir).ok());
  }
  return dir;
}

double KernelDifference(const Job& a, const Job& b) {
  EXPECT_EQ(a.kernel.num_elements(), b.kernel.num_elements());
  double error = 0, size = 0;
  for (int64_t i = 0; i < b.kernel.num_elements(); ++i) {
    error += std::pow(a.kernel.data<float>()[i] - b.kernel.data<float>()[i], 2);
    size += std::pow(b.kernel.data<float>()[i], 2);
  }
  return std::sqrt(error / size);
}

}  // namespace tandem
