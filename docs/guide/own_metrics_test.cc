// Runs what own_metrics.md shows.
#include <cmath>
#include <string>
#include <vector>

#include "estimator/test_models.h"
#include "gtest/gtest.h"
#include "tandem/data/dataset.h"
#include "tandem/estimator/estimator.h"
#include "tandem/estimator/keras/model.h"
#include "tandem/frontends/keras/layers.h"
#include "tandem/frontends/layers.h"
#include "tandem/frontends/losses.h"
#include "tandem/frontends/metrics.h"
#include "tandem/frontends/optimizers.h"
#include "tandem/graph/ops.h"

namespace tandem {
namespace {

#include "docs/guide/own_metrics_test_blocks.inc"

// The initial weights are the identity, so the logits are x; batches of 2 and 1 over two replicas.
TEST(OwnMetricsPage, AreExactOverTheWholeSet) {
  Estimator estimator(Classifier, test::Config(test::ModelDir(), /*replicas=*/2));
  const auto input = [](const InputContext&) -> absl::StatusOr<Dataset> {
    return Dataset::FromTensorSlices(
               {{"x", HostTensor::FromVector<float>({5, 3}, {2, 0, 0, 0, 1, 0, 0, 3, 0, 0, 0, 1, 1, 0, 0})},
                {"label", HostTensor::FromVector<int32_t>({5}, {0, 1, 2, 2, 1})}})
        .Batch(2);
  };
  const absl::StatusOr<EvalResult> result = estimator.Evaluate(input);
  ASSERT_TRUE(result.ok()) << result.status();
  const auto confidence = [](double logit) { return std::exp(logit) / (std::exp(logit) + 2); };
  EXPECT_NEAR((*result)["right"], (confidence(2) + confidence(1) + confidence(1)) / 3, 1e-6);
  const HostTensor& predicted = result->arrays.at("predicted");
  EXPECT_TRUE(predicted.BitEqual(HostTensor::FromVector<double>({3}, {2, 2, 1}))) << result->ToString();
  ASSERT_EQ(estimator.Train(input, {.steps = 1}), absl::OkStatus());
}

TEST(OwnMetricsPage, OfACompiledModel) {
  keras::Sequential model = Regression();
  const HostTensor x = HostTensor::FromVector<float>({4, 1}, {1, 2, 3, 4});
  const HostTensor y = HostTensor::FromVector<float>({4, 1}, {2, 4, 6, 9});
  ASSERT_EQ(model.SetWeights({HostTensor::FromVector<float>({1, 1}, {2}), HostTensor::FromVector<float>({1}, {0})}),
            absl::OkStatus());
  const absl::StatusOr<keras::Logs> logs = model.Evaluate({x, y}, {.batch_size = 3, .verbose = 0});
  ASSERT_TRUE(logs.ok()) << logs.status();
  const double variance = 4 + 16 + 36 + 81 - 21.0 * 21 / 4;
  EXPECT_NEAR((*logs)["r_squared"], 1 - 1 / variance, 1e-5);
  EXPECT_NEAR((*logs)["largest_error"], 0.25, 1e-6);
}

}  // namespace
}  // namespace tandem
