// Compiles the code blocks of ops.md and holds what they compute to numbers made by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "graph/reference/reference.h"
#include "tandem/graph/graph_builder.h"
#include "tandem/graph/ops.h"

namespace tandem {
namespace {

#include "docs/guide/ops_test_blocks.inc"

std::vector<double> Evaluated(GraphBuilder& g, const Tensor& y, const TensorMap& inputs) {
  g.Output("y", y);
  absl::StatusOr<TensorMap> outputs = Evaluate(
      g, inputs, {}, {{"seed", HostTensor::Scalar<int64_t>(1)}, {"global_step", HostTensor::Scalar<int64_t>(0)}});
  EXPECT_TRUE(outputs.ok()) << outputs.status();
  if (!outputs.ok()) return {};
  const HostTensor& tensor = outputs->at("y");
  return {tensor.data<double>(), tensor.data<double>() + tensor.num_elements()};
}

TEST(OpsGuide, MeanOfBest) {
  GraphBuilder g;
  const Tensor scores = g.Input("scores", DType::kFloat32, {kBatch, 3});
  const Tensor values = g.Input("values", DType::kFloat32, {kBatch, 3, 1});
  const TensorMap inputs = {{"scores", HostTensor::FromVector<float>({2, 3}, {1, 3, 2, 9, 8, 7})},
                            {"values", HostTensor::FromVector<float>({2, 3, 1}, {10, 20, 40, 1, 3, 5})}};
  EXPECT_EQ(Evaluated(g, MeanOfBest(scores, values, 2), inputs), (std::vector<double>{30, 2}));
}

TEST(OpsGuide, TwoHeadsOfOnePositionCopyIt) {
  GraphBuilder g;
  const Tensor x = g.Input("x", DType::kFloat32, {kBatch, 2, 4}), valid = g.Input("valid", DType::kBool, {kBatch, 2});
  const TensorMap inputs = {{"x", HostTensor::FromVector<float>({1, 2, 4}, {1, 2, 3, 4, 5, 6, 7, 8})},
                            {"valid", HostTensor::FromVector<bool>({1, 2}, {false, true})}};
  EXPECT_EQ(Evaluated(g, TwoHeads(x, valid), inputs), (std::vector<double>{5, 6, 7, 8, 5, 6, 7, 8}));
}

TEST(OpsGuide, SamplesDiffer) {
  GraphBuilder g;
  const Tensor mean = g.Input("mean", DType::kFloat32, {kBatch, 1}),
               scale = g.Input("scale", DType::kFloat32, {kBatch, 1});
  const TensorMap inputs = {{"mean", HostTensor::FromVector<float>({2, 1}, {5, 5})},
                            {"scale", HostTensor::FromVector<float>({2, 1}, {0, 0})}};
  const std::vector<double> samples = Evaluated(g, Sample(mean, scale), inputs);
  ASSERT_EQ(samples.size(), 2u);
  EXPECT_NE(samples[0], samples[1]);
  EXPECT_LT(std::abs(samples[0] - 5), 6);
}

TEST(OpsGuide, NextState) {
  GraphBuilder g;
  const Tensor state = g.Input("state", DType::kFloat32, {kBatch, 1}),
               gates = g.Input("gates", DType::kFloat32, {kBatch, 4});
  const TensorMap inputs = {{"state", HostTensor::FromVector<float>({1, 1}, {2})},
                            {"gates", HostTensor::FromVector<float>({1, 4}, {0, 0, 1, 0})}};
  EXPECT_NEAR(Evaluated(g, NextState(state, gates), inputs)[0], 1 + 0.5 * std::tanh(1), 1e-6);
  GraphBuilder other;
  EXPECT_FALSE(
      NextState(other.Input("state", DType::kFloat32, {kBatch, 1}), other.Input("five", DType::kFloat32, {kBatch, 5}))
          .ok());
  EXPECT_NE(other.status().message().find("no multiple of 4"), std::string::npos) << other.status();
}

}  // namespace
}  // namespace tandem
