#include "estimator/evaluation/step_evaluator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "estimator/hooks/stop_at_step_hook.h"
#include "estimator/loop/fake_steps.h"
#include "estimator/loop/run_loop.h"

namespace tandem {
namespace {

using ::testing::HasSubstr;
using Steps = std::vector<int64_t>;

Steps DueUntil(const EvalInterval& interval, int64_t last) {
  Steps due;
  for (int64_t step = 0; step <= last; ++step) {
    if (interval.Due(step)) due.push_back(step);
  }
  return due;
}

TEST(EvalInterval, EveryStepsIsAtTheirMultiples) {
  EXPECT_EQ(DueUntil({.steps = 10}, 35), (Steps{10, 20, 30}));
  EXPECT_EQ(DueUntil({.steps = 1}, 3), (Steps{1, 2, 3}));
}

// 10 examples an epoch and 4 a step: the first epoch ends in step 3 (examples 8 to 11), the second with step 5.
TEST(EvalInterval, AnEpochEndsInTheStepThatTakesItsLastExample) {
  const EvalInterval each = *EvalInterval::OfEpochs(1, {.elements = 10, .per = 4}, 1);
  EXPECT_EQ(DueUntil(each, 11), (Steps{3, 5, 8, 10}));
  EXPECT_EQ(each.ToString(), "2.5 steps");
  EXPECT_EQ(DueUntil(*EvalInterval::OfEpochs(2, {.elements = 10, .per = 4}, 1), 11), (Steps{5, 10}));
  // The same examples on two replicas of 2.
  EXPECT_EQ(DueUntil(*EvalInterval::OfEpochs(1, {.elements = 10, .per = 2}, 2), 11), (Steps{3, 5, 8, 10}));
}

TEST(EvalInterval, AnEpochShorterThanAStep) {
  EXPECT_EQ(DueUntil(*EvalInterval::OfEpochs(1, {.elements = 3}, 8), 3), (Steps{1, 2, 3}));
}

TEST(EvalInterval, CountsFarSteps) {
  const EvalInterval each = *EvalInterval::OfEpochs(1, {.elements = 1281167, .per = 1 << 20}, 4096);
  const int64_t far = int64_t{1} << 60;
  int64_t due = 0;
  for (int64_t step = far; step < far + 100; ++step) due += each.Due(step);
  EXPECT_EQ(due, 100);  // a step is many epochs
  EXPECT_THAT(std::string(EvalInterval::OfEpochs(int64_t{1} << 62, {.elements = 10}, 1).status().message()),
              HasSubstr("more than can be counted"));
}

struct Case {
  int64_t start = 0, max_steps = 25;
  int64_t rounds = -1;
  std::vector<float> losses = {1.0f};
  bool recorded = true;
  int64_t stop_after = -1;
};

Steps Train(const Case& c, int64_t* global_step) {
  Steps evaluated;
  *global_step = c.start;
  auto evaluator = std::make_shared<StepEvaluator>(
      StepEvaluator::Options{.interval = {.steps = 10},
                             .evaluate = [&](int64_t step) -> absl::StatusOr<bool> {
                               evaluated.push_back(step);
                               return static_cast<int64_t>(evaluated.size()) == c.stop_after;
                             },
                             .recorded = [&](int64_t) -> absl::StatusOr<bool> { return c.recorded; }});
  HookList hooks = {evaluator, std::make_shared<StopAtStepHook>(StopAtStepHook::Options{.last_step = c.max_steps})};
  ScriptedRunner runner(c.losses);
  CountedSource source(c.rounds);
  EXPECT_TRUE(RunLoop(runner, source, hooks, {.fetches = {"loss"}}, global_step).ok());
  return evaluated;
}

TEST(StepEvaluator, EvaluatesAtTheStepsAndTheLastOneOnce) {
  int64_t step = 0;
  EXPECT_EQ(Train({}, &step), (Steps{10, 20, 25}));
  EXPECT_EQ(Train({.max_steps = 20}, &step), (Steps{10, 20}));
  EXPECT_EQ(Train({.rounds = 12}, &step), (Steps{10, 12}));  // to the end of the input
}

TEST(StepEvaluator, ARunThatGoesOnEvaluatesAtTheSameSteps) {
  int64_t step = 0;
  EXPECT_EQ(Train({.start = 13}, &step), (Steps{20, 25}));
  EXPECT_EQ(Train({.start = 20}, &step), (Steps{25}));
  EXPECT_EQ(Train({.start = 20, .recorded = false}, &step), (Steps{20, 25}));
  EXPECT_EQ(Train({.start = 13, .recorded = false}, &step), (Steps{20, 25}));
}

TEST(StepEvaluator, NoStepNoEvaluation) {
  int64_t step = 0;
  EXPECT_EQ(Train({.start = 25}, &step), Steps());
  EXPECT_EQ(Train({.rounds = 0}, &step), Steps());
}

// The step that was not finite is not counted: there are 10 steps only after 11.
TEST(StepEvaluator, StepsThatAreNotFiniteDoNotCount) {
  std::vector<float> losses(12, 1.0f);
  losses[3] = NAN;
  int64_t step = 0;
  EXPECT_EQ(Train({.rounds = 12, .losses = losses}, &step), (Steps{10, 11}));
}

TEST(StepEvaluator, AnEvaluationCanEndTraining) {
  int64_t step = 0;
  EXPECT_EQ(Train({.stop_after = 1}, &step), Steps{10});
  EXPECT_EQ(step, 10);
}

}  // namespace
}  // namespace tandem
