// TrainAndEvaluate with several evaluations on two workers: the results are those of one process with two devices, and
// an evaluation that only the chief knows is due finds the others at the same one.
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/evaluation/eval_log.h"
#include "estimator/test_models.h"
#include "estimator/test_workers.h"
#include "estimator/train_and_evaluate.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tandem {
namespace {

using test::LineInput;
using test::LineModel;
using test::ModelDir;

std::string RunJob(const std::string& dir, RunConfig config, int64_t evaluations = 2) {
  config.model_dir = dir;
  config.save_checkpoints_steps = 4;
  config.threads = 1;
  config.handle_signals = false;
  Estimator estimator(LineModel, config);
  // After checkpoints, where the chief's clock decides, and by steps.
  std::vector<EvalSpec> specs = {
      {.input_fn = LineInput(61, 8, /*epochs=*/1), .name = "whole", .throttle_secs = 1e6},
      {.input_fn = LineInput(61, 8, /*epochs=*/1), .steps = 2, .name = "part", .every_steps = 3}};
  specs.resize(evaluations);
  const auto results = TrainAndEvaluate(estimator, {.input_fn = LineInput(61, 8), .max_steps = 10}, specs);
  if (!results.ok()) return results.status().ToString();
  std::string text;
  for (const auto& [name, result] : *results) absl::StrAppend(&text, name, ": ", result.ToJson(), "\n");
  return text;
}

TEST(SeveralEvaluationsWorkersTest, GiveTheResultsOfOneProcess) {
  const std::string dir = ModelDir("workers"), alone = ModelDir("alone");
  const std::vector<std::string> results =
      test::ResultsOfWorkers(2, [&](int, RunConfig config) { return RunJob(dir, std::move(config)); });
  const std::string one = RunJob(alone, test::Config(alone, 2));
  EXPECT_THAT(one, testing::HasSubstr("part: {"));
  EXPECT_EQ(results[0], one);
  EXPECT_EQ(results[1], one);
  for (const int64_t step : {3, 6, 9, 10}) {
    const auto found = FindEvalResult(Env::Default(), dir + "/eval_part", step, {.steps = 2, .job = true});
    const auto other = FindEvalResult(Env::Default(), alone + "/eval_part", step, {.steps = 2, .job = true});
    ASSERT_TRUE(found.ok() && found->has_value()) << step;
    ASSERT_TRUE(other.ok() && other->has_value()) << step;
    EXPECT_EQ((*found)->metrics, (*other)->metrics) << step;
  }
}

TEST(SeveralEvaluationsWorkersTest, AWorkerWithFewerOfThemIsNamed) {
  const std::string dir = ModelDir("workers");
  const std::vector<std::string> results = test::ResultsOfWorkers(
      2, [&](int rank, RunConfig config) { return RunJob(dir, std::move(config), /*evaluations=*/2 - rank); });
  EXPECT_THAT(results[1], testing::HasSubstr("the chief makes its evaluation number 2, and this worker's "
                                             "TrainAndEvaluate has 1; start all with the same program"));
}

}  // namespace
}  // namespace tandem
