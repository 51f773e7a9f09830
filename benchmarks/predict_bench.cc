// predict_bench: what a prediction of few rows costs in an export for many rows, compared with an export for these few.
// Calls of both take turns, with each model on its own.
//
//   bazel build //benchmarks:predict_bench && bazel-bin/benchmarks/predict_bench --models=s0,mlp
//
// It prints, for each model, the median time of a call of --rows rows with an export for that many and with one for
// --rows_per_step rows, and the median of the ratios of neighbouring calls. --callers: so many threads call at the same
// time, and what is printed is predictions per second of both.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/env.h"
#include "base/median.h"
#include "base/program.h"
#include "base/status_macros.h"
#include "estimator/estimator.h"
#include "estimator/serving/model.h"
#include "frontends/layers.h"
#include "frontends/losses.h"
#include "frontends/optimizers.h"
#include "graph/ops.h"
#include "samples/networks.h"

ABSL_FLAG(std::vector<std::string>, models, (std::vector<std::string>{"s0", "mlp", "transformer", "resnet50"}),
          "the models to measure");
ABSL_FLAG(int64_t, rows, 1, "rows of a call");
ABSL_FLAG(int64_t, rows_per_step, 64, "rows that the larger export is made for");
ABSL_FLAG(int, threads, 0, "threads of each loaded model; 0: one for each core");
ABSL_FLAG(int, callers, 1, "threads that call at the same time");
ABSL_FLAG(double, seconds, 4, "measured time for each model");

namespace tandem {
namespace {

using Clock = std::chrono::steady_clock;

Tensor Mlp(const Tensor& x, bool) {
  Tensor y = x;
  for (int i = 0; i < 3; ++i) y = layers::Dense(y, {.units = 1024, .activation = Relu});
  return layers::Dense(y, {.units = 10});
}

Tensor Convnet(const Tensor& image, bool) { return networks::ZalandoConvnet(image, {.logits = true}); }

Tensor ConvNorm(const Tensor& x, bool training, int64_t filters, int64_t size, int64_t stride, bool relu) {
  Tensor y = layers::Conv2D(x, {.filters = filters,
                                .kernel_size = size,
                                .strides = stride,
                                .padding = Padding::kSame,
                                .use_bias = false,
                                .kernel_initializer = initializers::HeNormal()});
  y = layers::BatchNormalization(y, {.momentum = 0.9, .epsilon = 1e-5, .training = training});
  return relu ? Relu(y) : y;
}

Tensor Resnet50(const Tensor& image, bool training) {
  Tensor x = ConvNorm(image, training, 64, 7, 2, true);
  x = layers::MaxPooling2D(x, {.pool_size = 3, .strides = 2, .padding = Padding::kSame});
  const int blocks[] = {3, 4, 6, 3};
  for (int stage = 0; stage < 4; ++stage) {
    for (int block = 0; block < blocks[stage]; ++block) {
      const int64_t filters = 64 << stage, stride = block == 0 && stage > 0 ? 2 : 1;
      Tensor shortcut = block == 0 ? ConvNorm(x, training, 4 * filters, 1, stride, false) : x;
      Tensor y = ConvNorm(x, training, filters, 1, stride, true);
      y = ConvNorm(y, training, filters, 3, 1, true);
      y = ConvNorm(y, training, 4 * filters, 1, 1, false);
      x = Relu(y + shortcut);
    }
  }
  return layers::Dense(ReduceMean(x, {1, 2}), {.units = 1000});
}

Tensor Transformer(const Tensor& ids, bool) {
  Tensor x = layers::Embedding(ids, {.input_dim = 8192, .output_dim = 256});
  for (int i = 0; i < 2; ++i) {
    Tensor a = layers::MultiHeadAttention(x, {.num_heads = 4, .key_dim = 64});
    Tensor y = layers::LayerNormalization(x + a, {.epsilon = 1e-5});
    Tensor hidden = layers::Dense(y, {.units = 1024, .activation = Gelu});
    x = layers::LayerNormalization(y + layers::Dense(hidden, {.units = 256}), {.epsilon = 1e-5});
  }
  return layers::Dense(ReduceMean(x, {1}), {.units = 10});
}

struct Network {
  std::string name;
  Tensor (*logits)(const Tensor& input, bool training);
  DType dtype;
  Shape row;
  int64_t limit;  // integers are in [0, limit)
};

const std::vector<Network>& Networks() {
  static const auto* networks = new std::vector<Network>{{"s0", Convnet, DType::kFloat32, {28, 28, 1}, 0},
                                                         {"mlp", Mlp, DType::kFloat32, {784}, 0},
                                                         {"transformer", Transformer, DType::kInt32, {128}, 8192},
                                                         {"resnet50", Resnet50, DType::kFloat32, {224, 224, 3}, 0}};
  return *networks;
}

HostTensor RandomRows(const Network& network, int64_t rows) {
  Shape shape = network.row;
  shape.insert(shape.begin(), rows);
  HostTensor x(network.dtype, shape);
  std::mt19937 random(1);
  for (int64_t i = 0; i < x.num_elements(); ++i) {
    if (network.limit > 0) {
      x.data<int32_t>()[i] = static_cast<int32_t>(random() % network.limit);
    } else {
      x.data<float>()[i] = static_cast<float>(random() % 1000) / 1000;
    }
  }
  return x;
}

// Trains the network for a step and exports it for each number of rows; returns the paths.
absl::StatusOr<std::vector<std::string>> Export(const Network& network, const std::string& dir,
                                                const std::vector<int64_t>& rows_per_step) {
  const auto model_fn = [&network](const Features& features, const Tensor& labels, Mode mode, const Params&) {
    Tensor logits = network.logits(features["x"], mode == Mode::kTrain);
    if (mode == Mode::kPredict) return EstimatorSpec::Predict({{"logits", logits}});
    Tensor loss = losses::SparseSoftmaxCrossEntropy(labels, logits);
    return EstimatorSpec::Train(loss, optimizers::GradientDescent({.learning_rate = 1e-4}).Minimize(loss));
  };
  Estimator estimator(model_fn, RunConfig{.model_dir = dir});
  const HostTensor x = RandomRows(network, 2);
  const auto input = [&](const InputContext&) -> absl::StatusOr<Dataset> {
    return Dataset::FromTensorSlices({{"x", x}, {"label", HostTensor::Zeros(DType::kInt32, {2})}}).Batch(2);
  };
  TD_RETURN_IF_ERROR(estimator.Train(input, {.max_steps = 1}));
  Shape shape = network.row;
  shape.insert(shape.begin(), kBatch);
  std::vector<std::string> paths;
  for (int64_t rows : rows_per_step) {
    const ServingInput serving{.features = {{"x", network.dtype, shape}}, .rows_per_step = rows};
    TD_ASSIGN_OR_RETURN(paths.emplace_back(), estimator.ExportModel(JoinPath(dir, "exports"), serving));
  }
  return paths;
}

double Seconds(Clock::time_point since) { return std::chrono::duration<double>(Clock::now() - since).count(); }

absl::StatusOr<double> TimeOfCall(Model& model, const NamedTensors& inputs) {
  const Clock::time_point begin = Clock::now();
  TD_RETURN_IF_ERROR(model.Predict(inputs).status());
  return Seconds(begin);
}

absl::Status TakeTurns(const std::string& name, const std::vector<std::unique_ptr<Model>>& models,
                       const NamedTensors& inputs) {
  std::vector<double> times[2], ratios;
  const Clock::time_point begin = Clock::now();
  for (int turn = -5; turn < 10 || Seconds(begin) < absl::GetFlag(FLAGS_seconds); ++turn) {
    double both[2];
    for (int i = 0; i < 2; ++i) {
      // An unmeasured call loads the weights into the caches, as in a server that answers with one model.
      TD_RETURN_IF_ERROR(TimeOfCall(*models[i], inputs).status());
      TD_ASSIGN_OR_RETURN(both[i], TimeOfCall(*models[i], inputs));
    }
    if (turn < 0) continue;
    for (int i = 0; i < 2; ++i) times[i].push_back(1e6 * both[i]);
    ratios.push_back(both[1] / both[0]);
  }
  std::printf("%-12s %lld rows: export for as many %9.1f us, export for %lld rows %9.1f us, ratio %.3f (%zu calls)\n",
              name.c_str(), static_cast<long long>(absl::GetFlag(FLAGS_rows)), Median(times[0]),
              static_cast<long long>(absl::GetFlag(FLAGS_rows_per_step)), Median(times[1]), Median(ratios),
              ratios.size());
  return absl::OkStatus();
}

absl::Status CallAtOnce(const std::string& name, const std::vector<std::unique_ptr<Model>>& models,
                        const NamedTensors& inputs) {
  double rates[2];
  for (int i = 0; i < 2; ++i) {
    TD_RETURN_IF_ERROR(models[i]->Predict(inputs).status());
    std::atomic<int64_t> calls = 0;
    std::atomic<bool> failed = false;
    std::vector<std::thread> callers;
    const Clock::time_point begin = Clock::now();
    for (int caller = 0; caller < absl::GetFlag(FLAGS_callers); ++caller) {
      callers.emplace_back([&] {
        for (; Seconds(begin) < absl::GetFlag(FLAGS_seconds) / 2; ++calls) {
          if (!models[i]->Predict(inputs).ok()) failed = true;
        }
      });
    }
    for (std::thread& caller : callers) caller.join();
    rates[i] = static_cast<double>(calls * absl::GetFlag(FLAGS_rows)) / Seconds(begin);
    if (failed) return absl::InternalError("a prediction failed");
  }
  std::printf("%-12s %d callers: export for as many %9.1f rows/s, export for %lld rows %9.1f rows/s\n", name.c_str(),
              absl::GetFlag(FLAGS_callers), rates[0], static_cast<long long>(absl::GetFlag(FLAGS_rows_per_step)),
              rates[1]);
  return absl::OkStatus();
}

absl::Status Measure(const Network& network) {
  const std::string dir = absl::StrCat("/tmp/predict_bench_", getpid(), "_", network.name);
  TD_ASSIGN_OR_RETURN(const std::vector<std::string> paths,
                      Export(network, dir, {absl::GetFlag(FLAGS_rows), absl::GetFlag(FLAGS_rows_per_step)}));
  std::vector<std::unique_ptr<Model>> models;
  for (const std::string& path : paths) {
    TD_ASSIGN_OR_RETURN(models.emplace_back(), LoadModel(path, {.threads = absl::GetFlag(FLAGS_threads)}));
  }
  const NamedTensors inputs = {{"x", RandomRows(network, absl::GetFlag(FLAGS_rows))}};
  TD_RETURN_IF_ERROR(absl::GetFlag(FLAGS_callers) > 1 ? CallAtOnce(network.name, models, inputs)
                                                      : TakeTurns(network.name, models, inputs));
  std::fflush(stdout);
  return Env::Default()->DeleteRecursively(dir);
}

absl::Status Run() {
  for (const std::string& name : absl::GetFlag(FLAGS_models)) {
    const auto named = [&](const Network& network) { return network.name == name; };
    const auto found = std::find_if(Networks().begin(), Networks().end(), named);
    if (found == Networks().end()) {
      const auto append = [](std::string* out, const Network& network) { absl::StrAppend(out, network.name); };
      return absl::InvalidArgumentError(
          absl::StrCat("--models: there is no ", name, "; there are ", absl::StrJoin(Networks(), ", ", append)));
    }
    TD_RETURN_IF_ERROR(Measure(*found));
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace tandem

int main(int argc, char** argv) {
  return tandem::RunProgram(argc, argv, "predict_bench: few rows through exports for few and for many", tandem::Run);
}
