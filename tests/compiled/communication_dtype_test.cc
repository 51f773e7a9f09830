// Gradients that are added up over devices in bfloat16: against sums by hand, the reference, and float32's programs.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/exit_code.h"
#include "frontends/layers.h"
#include "frontends/losses.h"
#include "frontends/optimizers.h"
#include "gmock/gmock.h"
#include "graph/ops.h"
#include "gtest/gtest.h"
#include "passes/compile/compile.h"
#include "runtime/format/index.h"
#include "tests/compiled/harness.h"
#include "tests/compiled/workers.h"

namespace tandem::compiled {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int64_t kWidth = 12, kRows = 8;  // of a device

// The nearest number of 8 significant bits, to even between two. Not for numbers that are too small for that.
float Rounded(float x) {
  if (x == 0) return x;
  int exponent;
  std::frexp(x, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(x, 8 - exponent)), exponent - 8);
}

std::vector<float> Floats(const HostTensor& tensor) {
  const absl::Span<const float> values = tensor.values<float>();
  return {values.begin(), values.end()};
}

// Sums over the columns of x are the gradient of w.
void ColumnSums(GraphBuilder& g, Optimizer optimizer) {
  Tensor x = g.Input("x", DType::kFloat32, {kBatch, kWidth});
  Tensor w = g.Variable({.name = "w", .shape = {kWidth}});
  Tensor loss = ReduceSum(Mul(x, Broadcast(w, {kBatch, kWidth})));
  g.Output("loss", loss);
  optimizer.Minimize(loss);
}

std::vector<int64_t> DealtTo(int devices, int64_t rows) {
  std::vector<int64_t> dealt;
  for (int d = 0; d < devices; ++d) {
    dealt.push_back(std::min(rows, kRows));
    rows -= dealt.back();
  }
  return dealt;
}

// Of the tree over `size` devices from `first` on, rounded at every node; nothing where none has rows.
std::optional<float> TreeSum(const std::vector<std::optional<float>>& sums, size_t first, size_t size) {
  if (first >= sums.size()) return std::nullopt;
  if (size == 1) return sums[first];
  const auto a = TreeSum(sums, first, size / 2), b = TreeSum(sums, first + size / 2, size / 2);
  if (!a.has_value() || !b.has_value()) return a.has_value() ? a : b;
  return Rounded(*a + *b);
}

TEST(CommunicationDtype, RoundsEachDevicesSumAndEveryAddition) {
  const auto build = [](GraphBuilder& g) { ColumnSums(g, optimizers::GradientDescent({.learning_rate = 1})); };
  for (const int devices : {1, 2, 3, 4}) {
    auto program = Prepare(build, {.devices = devices, .batch = kRows, .communication_dtype = DType::kBFloat16});
    ASSERT_TRUE(program.ok()) << program.status();
    for (const int64_t rows : {devices * kRows, devices * kRows - 3, kRows, int64_t{1}}) {
      SCOPED_TRACE(absl::StrCat(devices, " devices, ", rows, " rows"));
      // Sums of a device are exact in float32, in whatever order, and take more than 8 bits.
      std::vector<float> x(rows * kWidth);
      for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(static_cast<int>(i * 7919 % 1021) - 500) / 64;
      const std::vector<int64_t> dealt = DealtTo(devices, rows);
      const std::vector<float> before = Floats(program->Values().at("w"));
      const TensorMap batch = {{"x", HostTensor::FromVector({rows, kWidth}, x)}};
      ASSERT_TRUE(program->Run(Deal(*program, batch, dealt, 0)).ok());
      const std::vector<float> after = Floats(program->Values().at("w"));
      bool rounded = false;
      for (int64_t c = 0; c < kWidth; ++c) {
        std::vector<std::optional<float>> sums(devices);
        for (int64_t d = 0, row = 0; d < devices; ++d) {
          float sum = 0;
          for (int64_t r = 0; r < dealt[d]; ++r) sum += x[row++ * kWidth + c];
          rounded |= Rounded(sum) != sum;
          if (dealt[d] > 0) sums[d] = devices == 1 ? sum : Rounded(sum);
        }
        const std::optional<float> gradient = TreeSum(sums, 0, 4);
        ASSERT_TRUE(gradient.has_value());
        EXPECT_EQ(after[c], before[c] - *gradient) << "column " << c;
      }
      EXPECT_TRUE(rounded);
    }
  }
}

// Layers whose gradients are computed in several ways, statistics of batches, and single numbers.
void Net(GraphBuilder& g, bool sync, const Optimizer& optimizer) {
  Tensor x = layers::Conv2D(g.Input("x", DType::kFloat32, {kBatch, 8, 8, 3}),
                            {.filters = 16, .kernel_size = 3, .use_bias = false});
  x = Relu(layers::BatchNormalization(x, {.training = true, .sync = sync}));
  x = layers::Dense(layers::Flatten(x), {.units = 20, .activation = Tanh});
  Tensor word = layers::Embedding(g.Input("word", DType::kInt32, {kBatch}), {.input_dim = 10, .output_dim = 20});
  x = layers::Dense(Add(x, word), {.units = 4});
  Tensor scale = g.Variable({.name = "scale", .shape = {1}, .initializer = {Initializer::Kind::kConstant, 1}});
  x = Mul(x, Broadcast(scale, {kBatch, 4}));
  Tensor loss = losses::SparseSoftmaxCrossEntropy(g.Input("label", DType::kInt32, {kBatch}), x);
  g.Output("loss", loss);
  optimizer.Minimize(loss);
}

std::vector<std::pair<std::string, Optimizer>> Optimizers() {
  using namespace optimizers;  // NOLINT
  return {{"Sgd", GradientDescent({.learning_rate = 0.1})},
          {"Nesterov", Momentum({.learning_rate = 0.1, .use_nesterov = true, .clip = {.global_norm = 0.2}})},
          {"Adam", Adam({.learning_rate = 0.01, .epsilon = 0.1, .clip = {.value = 0.5}})},
          {"Ftrl", Ftrl({.learning_rate = 0.1})}};
}

Options OfNet(int devices) {
  return {.devices = devices, .batch = kRows, .communication_dtype = DType::kBFloat16, .ranges = {{"word", {0, 10}}}};
}

// What two roundings of a gradient make of an update: some 2^-8 of it.
TEST(CommunicationDtype, AgreesWithTheReference) {
  for (const auto& [name, optimizer] : Optimizers()) {
    for (const std::vector<int64_t>& rows : std::vector<std::vector<int64_t>>{{8, 8}, {8, 3, 0}, {8, 8, 8, 8}}) {
      SCOPED_TRACE(absl::StrCat(name, " ", rows.size(), " devices"));
      Options options = OfNet(static_cast<int>(rows.size()));
      options.rows = rows;
      options.tolerance = 0.02;
      // The reference knows statistics of the global batch only.
      CompareWithReference([&o = optimizer](GraphBuilder& g) { Net(g, true, o); }, options);
    }
  }
}

// The loss of the first step, statistics of batches and single numbers are those of float32's program; weights are not.
TEST(CommunicationDtype, LeavesTheRestAsItIs) {
  for (const bool sync : {false, true}) {
    const auto build = [sync](GraphBuilder& g) { Net(g, sync, optimizers::GradientDescent({.learning_rate = 0.1})); };
    Options options = OfNet(2);
    options.steps = 1;
    const Trained rounded = Train(build, options, 13);
    options.communication_dtype = DType::kFloat32;
    const Trained exact = Train(build, options, 13);
    ASSERT_EQ(rounded.outputs.size(), 1);
    EXPECT_EQ(Floats(rounded.outputs[0]), Floats(exact.outputs[0]));
    int changed = 0;
    for (const auto& [name, value] : exact.variables) {
      const bool same = Floats(value) == Floats(rounded.variables.at(name));
      const bool stays = name == "scale" || name.find("moving") != std::string::npos;
      EXPECT_TRUE(same || !stays) << name;
      changed += same ? 0 : 1;
    }
    EXPECT_GE(changed, 6);  // of conv2d, batch_normalization (2), dense (2), embedding, dense_1 (2)
  }
}

TEST(CommunicationDtype, OneDeviceRoundsNothing) {
  const auto build = [](GraphBuilder& g) { Net(g, true, optimizers::Adam({.learning_rate = 0.01})); };
  Options options = OfNet(1);
  const Trained rounded = Train(build, options, 8);
  options.communication_dtype = DType::kFloat32;
  ExpectSameBits(rounded, Train(build, options, 8));
}

TEST(CommunicationDtype, SameBitsForAnyOrderOfTwoAndNumberOfThreads) {
  const auto build = [](GraphBuilder& g) { Net(g, false, optimizers::Adam({.learning_rate = 0.01})); };
  for (const int64_t rows : {16, 13, 5}) {
    Options options = OfNet(2);
    const Trained tree = Train(build, options, rows);
    options.threads = 1;
    ExpectSameBits(tree, Train(build, options, rows));
    for (const char* ops : {"ReductionToOneDevice", "HierarchicalCopyAllReduce"}) {
      options.cross_device_ops = ops;
      ExpectSameBits(tree, Train(build, options, rows));
    }
  }
}

TEST(CommunicationDtype, SameBitsForAnyNumberOfWorkers) {
  const auto build = [](GraphBuilder& g) { Net(g, false, optimizers::Adam({.learning_rate = 0.01})); };
  constexpr int kDevices = 4;
  const Options options = OfNet(kDevices);
  for (const int count : {2, 4}) {
    auto one = Prepare(build, options), mine = Prepare(build, options);
    ASSERT_TRUE(one.ok()) << one.status();
    ASSERT_TRUE(mine.ok()) << mine.status();
    auto workers = Workers::Make(mine->executable, count);
    ASSERT_TRUE(workers.ok()) << workers.status();
    ASSERT_TRUE(workers->Assign(one->Values()).ok());
    for (int step = 0; const int64_t rows : {32, 21, 5}) {
      StepInputs inputs =
          Deal(*one, RandomInputs(*one->executable, rows, options, step), DealtTo(kDevices, rows), step);
      ++step;
      ASSERT_TRUE(one->Run(inputs).ok());
      inputs.replica_rows = DealtTo(kDevices, rows);
      auto results = workers->Run(inputs);
      ASSERT_TRUE(results.ok()) << results.status();
      EXPECT_THAT(workers->Differences(one->Values()), IsEmpty()) << count << " workers, " << rows << " rows";
    }
  }
}

TEST(CommunicationDtype, HalvesTheBytes) {
  const auto bytes = [](DType dtype) {
    auto program = Prepare([](GraphBuilder& g) { ColumnSums(g, optimizers::GradientDescent({.learning_rate = 1})); },
                           {.devices = 2, .communication_dtype = dtype});
    EXPECT_TRUE(program.ok()) << program.status();
    uint64_t sum = 0;
    for (const auto& collective : program->executable->index().collectives) sum += collective.bytes;
    return sum;
  };
  EXPECT_EQ(bytes(DType::kFloat32), 4 * kWidth + 4);
  EXPECT_EQ(bytes(DType::kBFloat16), 2 * kWidth + 4);
}

// A gradient that a device has as an infinity, or that is one once it is rounded, ends the step as it does in float32.
TEST(CommunicationDtype, NonFiniteGradientsChangeNoVariable) {
  const auto build = [](GraphBuilder& g) { ColumnSums(g, optimizers::GradientDescent({.learning_rate = 1})); };
  auto program = Prepare(build, {.devices = 2, .batch = kRows, .communication_dtype = DType::kBFloat16});
  ASSERT_TRUE(program.ok()) << program.status();
  std::vector<float> x(16 * kWidth, 1);
  for (const float bad : {INFINITY, NAN, 3.4e38f}) {
    x[9 * kWidth + 5] = bad;
    const std::vector<float> before = Floats(program->Values().at("w"));
    const auto result = program->Run(Deal(*program, {{"x", HostTensor::FromVector({16, kWidth}, x)}}, {8, 8}, 0));
    EXPECT_FALSE(result.ok() && result->finite) << bad;
    EXPECT_EQ(Floats(program->Values().at("w")), before) << bad;
  }
}

TEST(CommunicationDtype, IsForCpus) {
  GraphBuilder g("test");
  ColumnSums(g, optimizers::GradientDescent({.learning_rate = 1}));
  const absl::Status status =
      CompileGraph(g, "train",
                   {.devices = {"gpu:0", "gpu:1"}, .target = "cuda:sm_90", .communication_dtype = DType::kBFloat16})
          .status();
  EXPECT_EQ(ExitCodeFor(status), kExitUsage);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("communication_dtype bfloat16 is for CPUs; target \"cuda:sm_90\" is none"));
}

}  // namespace
}  // namespace tandem::compiled
