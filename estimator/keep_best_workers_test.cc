// RunConfig.keep_best and early stopping on two workers: processes of their own, held against one process with two
// devices, with a restart; and with an input of each worker's own, against the evaluations on record.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "estimator/early_stopping.h"
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
using testing::HasSubstr;

constexpr int kWorkers = 2;
constexpr int64_t kEvery = 3;  // steps between evaluations

struct Job {
  MetricDirection direction = MetricDirection::kMin;
  int64_t max_steps = 0;
  double stop_below = -1;  // of the loss
};

// The result, the best evaluation as this process sees it, and where training ended.
std::string RunJob(const Job& job, const std::string& dir, RunConfig config) {
  config.model_dir = dir;
  config.save_checkpoints_steps = 8;
  config.keep_checkpoint_max = 1;
  config.keep_best = KeepBest{.direction = job.direction};
  config.threads = 1;
  config.handle_signals = false;
  Estimator estimator(LineModel, config);
  HookList hooks;
  if (job.stop_below > 0) hooks.push_back(StopIfLower(estimator, "loss", job.stop_below));
  const absl::StatusOr<EvalResult> result =
      TrainAndEvaluate(estimator, {.input_fn = LineInput(61, 8), .max_steps = job.max_steps, .hooks = hooks},
                       {.input_fn = LineInput(61, 8, /*epochs=*/1), .every_steps = kEvery});
  if (!result.ok()) return result.status().ToString();
  const auto best = estimator.best();
  return absl::StrCat(result->ToJson(), " best ", best.has_value() ? best->global_step : -1, " of ",
                      best.has_value() ? best->value : 0);
}

// What the job gives in each of the workers.
std::vector<std::string> InWorkers(const Job& job, const std::string& dir, AutoShard auto_shard = AutoShard::kBatch) {
  return test::ResultsOfWorkers(kWorkers, [&](int, RunConfig config) {
    config.auto_shard = auto_shard;
    return RunJob(job, dir, std::move(config));
  });
}

std::string Checkpoints(const std::string& dir) { return absl::StrJoin(test::CheckpointNames(dir), " "); }

TEST(KeepBestWorkersTest, WithInputsOfTheirOwnTheBestOnRecordIsKept) {
  const std::string dir = ModelDir("dir");
  for (int64_t steps : {10, 22}) {
    const Job job = {.direction = MetricDirection::kMax, .max_steps = steps};
    const std::vector<std::string> results = InWorkers(job, dir, AutoShard::kOff);
    EXPECT_THAT(results[0], HasSubstr(absl::StrCat(" best ", kEvery, " of ")));
    EXPECT_EQ(results[1], results[0]);
  }
  const auto first = FindEvalResult(Env::Default(), dir + "/eval", kEvery);
  ASSERT_TRUE(first.ok() && first->has_value());
  for (int64_t step = 2 * kEvery; step <= 21; step += kEvery) {
    const auto found = FindEvalResult(Env::Default(), dir + "/eval", step);
    ASSERT_TRUE(found.ok() && found->has_value()) << step;
    EXPECT_LT((**found)["loss"], (**first)["loss"]);
  }
  EXPECT_EQ(Checkpoints(dir), absl::StrCat("model.ckpt-", kEvery, " model.ckpt-22"));
}

// Last, and the workers first: they are started while this process has had no threads.
TEST(KeepBestWorkersTest, KeepsSavesAndStopsAsOneProcess) {
  struct Case {
    const char* what;
    Job job;
  };
  const Case cases[] = {
      {"the last is the best", {.max_steps = 22}},
      {"the first is the best", {.direction = MetricDirection::kMax, .max_steps = 22}},
      {"stopped", {.max_steps = 60, .stop_below = 0.3}},
  };
  std::vector<std::string> together;
  std::vector<std::vector<std::string>> results;
  for (const Case& c : cases) {
    together.push_back(ModelDir(absl::StrCat("together", together.size())));
    Job first = c.job;
    first.max_steps = 10;
    InWorkers(first, together.back());  // and a restart behind it
    results.push_back(InWorkers(c.job, together.back()));
  }
  for (size_t i = 0; i < std::size(cases); ++i) {
    SCOPED_TRACE(cases[i].what);
    const std::string alone = ModelDir(absl::StrCat("alone", i));
    RunConfig config = test::Config(alone);
    config.save_summary_steps = 0;
    config.train_distribute = MirroredStrategy({"cpu:0", "cpu:1"});
    Job first = cases[i].job;
    first.max_steps = 10;
    RunJob(first, alone, config);
    const std::string want = RunJob(cases[i].job, alone, config);
    EXPECT_THAT(want, HasSubstr(" best "));
    for (const std::string& result : results[i]) EXPECT_EQ(result, want);
    EXPECT_EQ(Checkpoints(together[i]), Checkpoints(alone));
    EXPECT_EQ(Env::Default()->ReadFile(together[i] + "/DONE").value_or("none"),
              Env::Default()->ReadFile(alone + "/DONE").value_or("none"));
  }
}

}  // namespace
}  // namespace tandem
