// Compiles the code blocks of pairs.md and holds the losses to plain arithmetic, of a batch that is short.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "graph/reference/reference.h"
#include "tandem/frontends/losses.h"
#include "tandem/graph/graph_builder.h"
#include "tandem/graph/ops.h"

namespace tandem {
namespace {

#include "docs/guide/pairs_test_blocks.inc"

constexpr int kExamples = 4, kRows = 6;
constexpr float kX[kExamples][2] = {{0.5f, 1}, {-1, 0.25f}, {2, -0.5f}, {0, 1.5f}};
constexpr float kY[kExamples][2] = {{1, 0}, {0.5f, 0.5f}, {-1, 2}, {1, 1}};
constexpr int kLabels[kExamples] = {0, 1, 0, 1};

double Evaluated(const std::function<Tensor(const Tensor& x, const Tensor& y, const Tensor& labels)>& loss) {
  GraphBuilder g;
  const Tensor x = g.Input("x", DType::kFloat32, {kBatch, 2}), y = g.Input("y", DType::kFloat32, {kBatch, 2});
  g.Output("loss", loss(x, y, g.Input("labels", DType::kInt32, {kBatch})));
  EXPECT_TRUE(g.status().ok()) << g.status();
  const auto rows = [](const float(*of)[2]) { return std::vector<float>(of[0], of[0] + 2 * kExamples); };
  absl::StatusOr<TensorMap> outputs =
      Evaluate(g,
               {{"x", HostTensor::FromVector<float>({kExamples, 2}, rows(kX))},
                {"y", HostTensor::FromVector<float>({kExamples, 2}, rows(kY))},
                {"labels", HostTensor::FromVector<int32_t>({kExamples}, {kLabels, kLabels + kExamples})}},
               {}, {});
  EXPECT_TRUE(outputs.ok()) << outputs.status();
  return outputs.ok() ? outputs->at("loss").data<double>()[0] : NAN;
}

double Distance(const float* a, const float* b) { return std::pow(a[0] - b[0], 2) + std::pow(a[1] - b[1], 2); }

TEST(PairsGuide, Clip) {
  const auto half = [](const float(*a)[2], const float(*b)[2]) {
    double sum = 0;
    for (int i = 0; i < kExamples; ++i) {
      double total = 0;
      for (int j = 0; j < kExamples; ++j) total += std::exp((a[i][0] * b[j][0] + a[i][1] * b[j][1]) / 0.5);
      sum += std::log(total) - (a[i][0] * b[i][0] + a[i][1] * b[i][1]) / 0.5;
    }
    return sum / kExamples;
  };
  EXPECT_NEAR(Evaluated([](auto& x, auto& y, auto&) { return ClipLoss(x, y, 0.5, kRows); }),
              (half(kX, kY) + half(kY, kX)) / 2, 1e-6);
}

TEST(PairsGuide, Triplets) {
  double sum = 0;
  for (int i = 0; i < kExamples; ++i) {
    double farthest = 0, nearest = 1e9;
    for (int j = 0; j < kExamples; ++j) {
      const double distance = Distance(kX[i], kX[j]);
      if (kLabels[i] == kLabels[j]) farthest = std::max(farthest, distance);
      if (kLabels[i] != kLabels[j]) nearest = std::min(nearest, distance);
    }
    sum += std::max(0.0, farthest - nearest + 0.2);
  }
  EXPECT_NEAR(Evaluated([](auto& x, auto&, auto& labels) { return TripletLoss(x, labels, 0.2, kRows); }),
              sum / kExamples, 1e-6);
}

TEST(PairsGuide, MaximumMeanDiscrepancy) {
  const auto mean = [](const float(*a)[2], const float(*b)[2]) {
    double sum = 0;
    for (int i = 0; i < kExamples; ++i) {
      for (int j = 0; j < kExamples; ++j) sum += std::exp(-Distance(a[i], b[j]) / (2 * 1.5 * 1.5));
    }
    return sum / (kExamples * kExamples);
  };
  EXPECT_NEAR(Evaluated([](auto& x, auto& y, auto&) { return MaximumMeanDiscrepancy(x, y, 1.5, kRows); }),
              mean(kX, kX) + mean(kY, kY) - 2 * mean(kX, kY), 1e-6);
}

}  // namespace
}  // namespace tandem
