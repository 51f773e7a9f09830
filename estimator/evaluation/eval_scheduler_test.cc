#include "estimator/evaluation/eval_scheduler.h"

#include <gtest/gtest.h>

#include "base/logging.h"
#include "estimator/hooks/stop_at_step_hook.h"
#include "estimator/loop/fake_steps.h"
#include "estimator/loop/run_loop.h"

namespace tandem {
namespace {

struct Outcome {
  std::vector<int64_t> saved, evaluated;
  int64_t final_step = 0;
};

struct Case {
  int64_t max_steps = 22;
  double throttle = 0;
  double secs_per_step = 1;
  int64_t stop_after_evaluations = -1;
  int64_t restored_step = -1;
};

// A training loop that saves every 10 steps, with the scheduler behind its saver.
Outcome Train(const Case& c) {
  Outcome outcome;
  double now = 0;
  auto clock = [&now] { return now; };
  auto scheduler = std::make_shared<EvalScheduler>(
      EvalScheduler::Options{.throttle_secs = c.throttle,
                             .evaluate = [&](int64_t step) -> absl::StatusOr<bool> {
                               outcome.evaluated.push_back(step);
                               return static_cast<int64_t>(outcome.evaluated.size()) == c.stop_after_evaluations;
                             },
                             .clock = clock});
  auto saver = std::make_shared<CheckpointSaverHook>(CheckpointSaverHook::Options{.save_steps = 10,
                                                                                  .save =
                                                                                      [&](int64_t step) {
                                                                                        outcome.saved.push_back(step);
                                                                                        return absl::OkStatus();
                                                                                      },
                                                                                  .restored_step = c.restored_step,
                                                                                  .listeners = {scheduler},
                                                                                  .clock = clock});
  HookList hooks = {saver, std::make_shared<StopAtStepHook>(StopAtStepHook::Options{.last_step = c.max_steps})};
  ScriptedRunner runner;
  runner.on_run = [&] { now += c.secs_per_step; };
  CountedSource source(-1);
  outcome.final_step = std::max<int64_t>(c.restored_step, 0);
  HookContext begin(Mode::kTrain, "", 1, 4);
  EXPECT_TRUE(BeginHooks(hooks, begin).ok());
  EXPECT_TRUE(RunLoop(runner, source, hooks, {.fetches = {"loss"}}, &outcome.final_step).ok());
  return outcome;
}

using Steps = std::vector<int64_t>;

TEST(EvalScheduler, EvaluatesEachCheckpointButTheFirst) {
  const Outcome outcome = Train({.max_steps = 22});
  EXPECT_EQ(outcome.saved, (Steps{0, 10, 20, 22}));
  EXPECT_EQ(outcome.evaluated, (Steps{10, 20, 22}));
  EXPECT_EQ(Train({.max_steps = 12}).evaluated, (Steps{10, 12}));
}

TEST(EvalScheduler, ALongThrottleStillEvaluatesTheFinalStepOnce) {
  LogCapture log;
  EXPECT_EQ(Train({.max_steps = 42, .throttle = 1e6}).evaluated, (Steps{10, 42}));
  EXPECT_TRUE(log.Contains("Skip the current checkpoint eval due to throttle secs (1e+06 secs)."));
  EXPECT_EQ(Train({.max_steps = 20, .throttle = 1e6}).evaluated, (Steps{10, 20}));
}

TEST(EvalScheduler, TheThrottleCountsFromTheLastEvaluation) {
  EXPECT_EQ(Train({.max_steps = 60, .throttle = 15}).evaluated, (Steps{10, 30, 50, 60}));
}

TEST(EvalScheduler, OnlyAnEvaluationWaitsForTheFiles) {
  double now = 0;
  bool signalled = false;
  EvalScheduler scheduler({.throttle_secs = 15,
                           .evaluate = [](int64_t) -> absl::StatusOr<bool> { return false; },
                           .signalled = [&] { return signalled; },
                           .clock = [&] { return now; }});
  ASSERT_TRUE(scheduler.Begin(0).ok());
  EXPECT_FALSE(scheduler.WaitsFor(0));
  EXPECT_TRUE(scheduler.WaitsFor(10));
  ASSERT_TRUE(scheduler.AfterSave(10).ok());
  now = 14;
  EXPECT_FALSE(scheduler.WaitsFor(20));
  now = 15;
  EXPECT_TRUE(scheduler.WaitsFor(30));
  signalled = true;
  EXPECT_FALSE(scheduler.WaitsFor(30));
}

TEST(EvalScheduler, AnEvaluationCanEndTraining) {
  const Outcome outcome = Train({.max_steps = 22, .stop_after_evaluations = 1});
  EXPECT_EQ(outcome.evaluated, Steps{10});
  EXPECT_EQ(outcome.final_step, 10);
}

TEST(EvalScheduler, AfterARestoreTheFirstNewCheckpointIsEvaluated) {
  const Outcome outcome = Train({.max_steps = 33, .restored_step = 20});
  EXPECT_EQ(outcome.saved, (Steps{30, 33}));
  EXPECT_EQ(outcome.evaluated, (Steps{30, 33}));
}

TEST(EvalScheduler, WithoutAStepNothingIsEvaluated) {
  EXPECT_EQ(Train({.max_steps = 20, .restored_step = 20}).evaluated, Steps());
}

}  // namespace
}  // namespace tandem
