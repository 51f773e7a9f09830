// 1,000 steps of every optimizer, compiled, against NumPy in float64 (make_optimizers.py), on one device and on three,
// of which the last has a short batch in every other step.
#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "base/env.h"
#include "estimator/checkpoint/safetensors.h"
#include "frontends/optimizers.h"
#include "graph/ops.h"
#include "gtest/gtest.h"
#include "tests/compiled/harness.h"

namespace tandem::compiled {
namespace {

using namespace optimizers;  // NOLINT: what the test is about

constexpr int64_t kRows = 6;  // of a batch: 1 x 6 or 3 x 2
constexpr int64_t kWeights = 9;

std::map<std::string, Optimizer> All() {
  const std::vector<std::string> bias = {"bias"};
  return {
      {"adamw", AdamW({.learning_rate = 0.01, .weight_decay = 0.1, .exclude = bias})},
      {"adagrad", Adagrad({.learning_rate = 0.2})},
      {"adadelta", Adadelta({.learning_rate = 1.0, .rho = 0.9, .epsilon = 1e-4})},
      {"adamax", Adamax({.learning_rate = 0.01, .beta2 = 0.99})},
      {"nadam", Nadam({.learning_rate = 0.01, .beta2 = 0.99})},
      {"ftrl", Ftrl({.learning_rate = 0.3, .l1 = 0.05, .l2 = 0.02, .l2_shrinkage = 0.1, .beta = 0.1})},
      {"lion", Lion({.learning_rate = 0.001, .weight_decay = 0.1, .exclude = bias})},
      {"lamb", LAMB({.learning_rate = 0.01, .weight_decay = 0.1, .beta2 = 0.99, .exclude = bias})},
      {"lars", LARS({.learning_rate = 0.02, .weight_decay = 0.01, .trust_coefficient = 0.5, .exclude = bias})},
  };
}

// sum_j c_j (w_j - x_j)^2 / 2 of nine weights in two variables, for every optimizer; c_j = 1/2 + j/4.
void Model(GraphBuilder& g) {
  Tensor x = g.Input("x", DType::kFloat32, {kBatch, kWeights});
  std::vector<float> c;
  for (int j = 0; j < kWeights; ++j) c.push_back(0.5f + 0.25f * static_cast<float>(j));
  Tensor curvature = g.Constant(HostTensor::FromVector<float>({kWeights}, c));
  for (const auto& [name, optimizer] : All()) {
    Tensor kernel = g.Variable({.name = name + "/kernel", .shape = {2, 3}});
    Tensor bias = g.Variable({.name = name + "/bias", .shape = {3}});
    Tensor w = Concat({Reshape(kernel, {6}), bias}, 0);
    Tensor loss = ReduceMean(ReduceSum(Square(w - x) * curvature, {1})) * 0.5;
    optimizer.Minimize(loss, {.var_list = {kernel, bias}});
  }
}

// The rows of step `s`.
HostTensor Rows(int64_t s) {
  const int64_t rows = 5 + s % 2;
  std::vector<float> x;
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t j = 0; j < kWeights; ++j) {
      x.push_back(static_cast<float>((37 * s + 11 * r + 7 * j) % 41 - 20) / 16 + static_cast<float>(j - 4) / 4);
    }
  }
  return HostTensor::FromVector<float>({rows, kWeights}, x);
}

class OptimizersGoldenTest : public testing::TestWithParam<int> {};

TEST_P(OptimizersGoldenTest, AThousandStepsAreNumPys) {
  const int devices = GetParam();
  absl::StatusOr<TensorMap> golden = ReadSafetensors(Env::Default(), "tests/golden/optimizers.safetensors");
  ASSERT_TRUE(golden.ok()) << golden.status();
  absl::StatusOr<Program> program = Prepare(Model, {.devices = devices, .batch = kRows / devices});
  ASSERT_TRUE(program.ok()) << program.status();
  for (const auto& entry : All()) {
    const HostTensor kernel = HostTensor::FromVector<float>({2, 3}, {-0.5f, 0, 0.5f, -0.5f, 0, 0.5f});
    ASSERT_TRUE(program->variables->Assign(entry.first + "/kernel", kernel).ok());
    ASSERT_TRUE(program->variables->Assign(entry.first + "/bias", HostTensor::Zeros(DType::kFloat32, {3})).ok());
  }
  const std::vector<int64_t> marks = {1, 10, 100, 1000};
  size_t mark = 0;
  for (int64_t step = 0; step < marks.back(); ++step) {
    const TensorMap batch = {{"x", Rows(step)}};
    std::vector<int64_t> dealt;
    for (int64_t left = 5 + step % 2; dealt.size() < static_cast<size_t>(devices); left -= dealt.back()) {
      dealt.push_back(std::min(left, kRows / devices));
    }
    absl::StatusOr<StepResult> result = program->Run(Deal(*program, batch, dealt, step));
    ASSERT_TRUE(result.ok()) << result.status();
    ASSERT_TRUE(result->finite);
    if (step + 1 != marks[mark]) continue;
    for (const auto& entry : All()) {
      const std::string& name = entry.first;
      const HostTensor& want = golden->at(name);
      ASSERT_EQ(want.shape(), (Shape{4, kWeights}));
      const HostTensor kernel = *program->variables->Read(name + "/kernel"),
                       bias = *program->variables->Read(name + "/bias");
      for (int64_t j = 0; j < kWeights; ++j) {
        const double got = j < 6 ? kernel.data<float>()[j] : bias.data<float>()[j - 6];
        EXPECT_NEAR(got, want.data<double>()[mark * kWeights + j], 2e-5) << name << " step " << step + 1 << " w" << j;
      }
    }
    ++mark;
  }
  EXPECT_EQ(mark, marks.size());
}

INSTANTIATE_TEST_SUITE_P(Devices, OptimizersGoldenTest, testing::Values(1, 3));

}  // namespace
}  // namespace tandem::compiled
