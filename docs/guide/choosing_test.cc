// Compiles and runs the code blocks of choosing.md.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "estimator/test_models.h"
#include "tandem/base/env.h"
#include "tandem/base/status_macros.h"
#include "tandem/estimator/continuous_eval.h"
#include "tandem/estimator/early_stopping.h"
#include "tandem/estimator/estimator.h"
#include "tandem/estimator/evaluation/eval_log.h"
#include "tandem/estimator/train_and_evaluate.h"

namespace tandem {
namespace {

EstimatorSpec ModelFn(const Features& features, const Tensor& labels, Mode mode, const Params& params) {
  return test::LineModel(features, labels, mode, params);
}

// 64 examples in steps of 8.
absl::StatusOr<Dataset> TrainInput(const InputContext& context) { return test::LineInput()(context); }
absl::StatusOr<Dataset> EvalInput(const InputContext& context) { return test::LineInput(64, 8, 1)(context); }

RunConfig Config(const std::string& folder) {
  RunConfig config = test::Config(folder);
  config.save_checkpoints_steps = 16;
  return config;
}

absl::Status ExpectEvaluated(const std::string& folder, const std::vector<int64_t>& expected) {
  std::vector<int64_t> steps;
  for (int64_t step = 0; step <= 100; ++step) {
    TD_ASSIGN_OR_RETURN(const auto found, FindEvalResult(Env::Default(), JoinPath(folder, "eval"), step));
    if (found.has_value()) steps.push_back(step);
  }
  EXPECT_EQ(steps, expected);
  return absl::OkStatus();
}

#include "docs/guide/choosing_test_blocks.inc"

TEST(ChoosingGuide, BlocksRun) {
  for (size_t i = 0; i < std::size(kBlocks); ++i) {
    EXPECT_EQ(kBlocks[i](test::ModelDir(std::to_string(i))), absl::OkStatus()) << "block " << i;
  }
}

}  // namespace
}  // namespace tandem
