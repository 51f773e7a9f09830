// Moving averages and rates that change, on two workers: processes of their own, held against one process with two
// devices.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "estimator/checkpoint/checkpoint.h"
#include "estimator/test_models.h"
#include "estimator/test_workers.h"
#include "estimator/train_and_evaluate.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tandem {
namespace {

using test::LineInput;
using test::ModelDir;

constexpr int kWorkers = 2;

EstimatorSpec Model(const Features& features, const Tensor& labels, Mode mode, const Params&) {
  Tensor loss = losses::MeanSquaredError(labels, layers::Dense(features["x"], {.units = 1}));
  if (mode == Mode::kEval) return EstimatorSpec::Eval(loss);
  return EstimatorSpec::Train(
      loss, optimizers::Momentum({.learning_rate = 0.05}).WithMovingAverage({.decay = 0.8}).Minimize(loss));
}

RunConfig Saving(const std::string& dir, RunConfig config = {}) {
  config.model_dir = dir;
  config.save_checkpoints_steps = 2;
  config.keep_checkpoint_max = 0;
  config.threads = 1;
  config.handle_signals = false;
  return config;
}

// Trains to `steps` with evaluations, none of which counts as better, so that the rate falls at every second one.
absl::StatusOr<EvalResult> Job(const RunConfig& config, int64_t steps, const HookList& hooks = {},
                               EvalSpec eval = {.throttle_secs = 0}) {
  Estimator estimator(Model, config);
  eval.input_fn = LineInput(61, 8, /*epochs=*/1);
  return TrainAndEvaluate(estimator,
                          {.input_fn = LineInput(61, 8),
                           .max_steps = steps,
                           .hooks = hooks,
                           .reduce_on_plateau = ReduceOnPlateau{.factor = 0.5, .patience = 2, .min_delta = 1000}},
                          eval);
}

std::string Text(const absl::StatusOr<EvalResult>& result) {
  return result.ok() ? result->ToJson() : std::string(result.status().message());
}

TEST(AveragesWorkersTest, ARateThatOneWorkerSetsAloneIsAnError) {
  const std::string dir = ModelDir("dir");
  for (const std::string& result : test::ResultsOfWorkers(kWorkers, [&](int rank, RunConfig config) {
         auto hook = std::make_shared<test::StepHook>([rank](RunContext& context, const RunValues&) {
           if (rank == 0) {
             EXPECT_TRUE(context.SetStepScalar("learning_rate", 1e-3).ok());
           }
         });
         return Text(Job(Saving(dir, std::move(config)), 9, {hook}));
       })) {
    EXPECT_THAT(result, testing::HasSubstr("hooks have set other step scalars at"));
  }
}

// All workers have the rule's memory back before the chief evaluates where a process before has not.
TEST(AveragesWorkersTest, ByStepsARestartFromAnUnrecordedCheckpointIsExact) {
  const std::string whole = ModelDir("whole"), restarted = ModelDir("restarted");
  const auto run = [](const std::string& dir, int64_t steps) {
    return test::ResultsOfWorkers(kWorkers, [&](int, const RunConfig& config) {
      return Text(Job(Saving(dir, config), steps, {}, {.every_steps = 2}));
    });
  };
  const std::vector<std::string> want = run(whole, 9);
  EXPECT_THAT(want[0], testing::HasSubstr("\"global_step\":9"));
  run(restarted, 4);
  ASSERT_TRUE(Env::Default()->DeleteRecursively(restarted + "/eval").ok());
  EXPECT_EQ(run(restarted, 9), want);
}

// Last: from here on this process has had threads.
TEST(AveragesWorkersTest, TrainEvaluateAndRestartAsOneProcess) {
  const std::string together = ModelDir("together"), alone = ModelDir("alone");
  std::vector<std::string> results;
  for (int64_t steps : {4, 9}) {  // with a restart between
    results = test::ResultsOfWorkers(
        kWorkers, [&](int, const RunConfig& config) { return Text(Job(Saving(together, config), steps)); });
  }
  RunConfig config = Saving(alone);
  config.train_distribute = MirroredStrategy({"cpu:0", "cpu:1"});
  const absl::StatusOr<EvalResult> want = Job(config, 9);
  ASSERT_TRUE(want.ok()) << want.status();
  for (const std::string& result : results) EXPECT_EQ(result, want->ToJson());
  const auto a = ReadCheckpoint(Env::Default(), together + "/model.ckpt-9"),
             b = ReadCheckpoint(Env::Default(), alone + "/model.ckpt-9");
  ASSERT_TRUE(a.ok()) << a.status();
  ASSERT_TRUE(b.ok()) << b.status();
  ASSERT_EQ(a->slots.size(), 4u);
  for (const auto& [name, value] : b->variables) EXPECT_TRUE(a->variables.at(name).BitEqual(value)) << name;
  for (const auto& [name, value] : b->slots) EXPECT_TRUE(a->slots.at(name).BitEqual(value)) << name;
  EXPECT_EQ(a->extra.at("reduce_on_plateau"), b->extra.at("reduce_on_plateau"));
}

}  // namespace
}  // namespace tandem
