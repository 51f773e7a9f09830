// Runs the program of README.md, with small pictures.
#include <string>

#include "absl/status/statusor.h"
#include "base/test_dir.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tandem/estimator/estimator.h"
#include "tandem/estimator/train_and_evaluate.h"
#include "tandem/frontends/activations.h"
#include "tandem/frontends/layers.h"
#include "tandem/frontends/losses.h"
#include "tandem/frontends/metrics.h"
#include "tandem/frontends/optimizers.h"

namespace tandem {
namespace {

const std::string& dir = *new std::string(TestDir("readme"));  // NOLINT: the page's names

// Pictures whose left or right half is bright.
absl::StatusOr<Dataset> Halves(bool repeat) {
  HostTensor images = HostTensor::Zeros(DType::kFloat32, {16, 8, 8, 1});
  HostTensor labels(DType::kInt32, {16});
  for (int i = 0; i < 16; ++i) {
    labels.data<int32_t>()[i] = i % 2;
    for (int p = 0; p < 64; ++p) images.data<float>()[64 * i + p] = p % 8 / 4 == i % 2 ? 1.0f + 0.1f * i : 0;
  }
  const Dataset batches = Dataset::FromTensorSlices({{"image", images}, {"label", labels}}).Batch(4);
  return repeat ? batches.Repeat() : batches;
}
absl::StatusOr<Dataset> TrainInput(const InputContext&) { return Halves(true); }
absl::StatusOr<Dataset> EvalInput(const InputContext&) { return Halves(false); }

#include "docs/guide/readme_test_blocks.inc"

TEST(ReadmePage, TheProgramTrains) {
  for (const auto block : kBlocks) EXPECT_TRUE(block("").ok());
  const auto result = Estimator(ModelFn, RunConfig{.model_dir = dir}).Evaluate(EvalInput);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ((*result)["accuracy"], 1);
}

}  // namespace
}  // namespace tandem
