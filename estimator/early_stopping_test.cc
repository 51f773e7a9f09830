#include "estimator/early_stopping.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <csignal>

#include "absl/strings/str_cat.h"
#include "base/exit_code.h"
#include "base/logging.h"
#include "estimator/checkpoint/done_marker.h"
#include "estimator/evaluation/eval_log.h"
#include "estimator/test_models.h"
#include "estimator/train_and_evaluate.h"

namespace tandem {
namespace {

using namespace test;  // NOLINT: this file's vocabulary
using ::testing::AllOf;
using ::testing::HasSubstr;

using MakeHooks = std::function<HookList(const Estimator&)>;

class EarlyStoppingTest : public ::testing::Test {
 protected:
  void SetUp() override { UseModelDir("model"); }
  void UseModelDir(const std::string& name, int replicas = 1) {
    config_ = Config(ModelDir(name), replicas);
    config_.save_checkpoints_steps = 10;
  }
  // With a rate of 0 all evaluations are alike.
  absl::StatusOr<EvalResult> Run(const MakeHooks& hooks, double learning_rate = 0.05,
                                 const EvalSpec& when = {.throttle_secs = 0}, HookList more = {}) {
    Estimator estimator(LineModel, config_, {{"learning_rate", learning_rate}});
    HookList all = hooks(estimator);
    all.insert(all.end(), more.begin(), more.end());
    EvalSpec eval = when;
    eval.input_fn = LineInput(64, 8, 1);
    auto result = TrainAndEvaluate(estimator, {.input_fn = LineInput(), .max_steps = 100, .hooks = all}, eval);
    trained_ = estimator.last_train_result();
    return result;
  }
  DoneMarker Done() {
    const auto done = ReadDoneMarker(Env::Default(), config_.model_dir);
    EXPECT_TRUE(done.ok() && done->has_value());
    return done.ok() && done->has_value() ? **done : DoneMarker();
  }
  double Loss(int64_t step, const std::string& eval = "eval") {
    const auto found = FindEvalResult(Env::Default(), config_.model_dir + "/" + eval, step);
    EXPECT_TRUE(found.ok() && found->has_value()) << step;
    return found.ok() && found->has_value() ? (**found)["loss"] : NAN;
  }
  int64_t Lines() {
    const std::string text = *Env::Default()->ReadFile(config_.model_dir + "/eval/metrics.jsonl");
    return std::count(text.begin(), text.end(), '\n');
  }
  std::string Weights(int64_t step) {
    const auto bytes =
        Env::Default()->ReadFile(absl::StrCat(config_.model_dir, "/model.ckpt-", step, "/variables.safetensors"));
    EXPECT_TRUE(bytes.ok()) << bytes.status();
    return bytes.value_or("");
  }
  RunConfig config_;
  std::optional<TrainResult> trained_;
};

HookList NoDecrease(const Estimator& estimator) { return {StopIfNoDecrease(estimator, "loss", 20)}; }

TEST_F(EarlyStoppingTest, AnInfinityIsBeyondEveryThreshold) {
  for (const bool higher : {true, false}) {
    UseModelDir(higher ? "higher" : "lower");
    Estimator estimator(LineModel, config_);
    const EvalResult recorded{{{"loss", higher ? INFINITY : -INFINITY}, {"global_step", 0}}};
    ASSERT_EQ(AppendEvalResult(Env::Default(), estimator.eval_dir(), recorded), absl::OkStatus());
    const auto hook = higher ? StopIfHigher(estimator, "loss", 10) : StopIfLower(estimator, "loss", -10);
    ASSERT_EQ(estimator.Train(LineInput(), {.steps = 5, .hooks = {hook}}), absl::OkStatus());
    EXPECT_EQ(estimator.last_train_result()->global_step, 0);
    EXPECT_THAT(estimator.last_train_result()->stop_why,
                HasSubstr(higher ? "\"loss\" is inf at step 0, which is higher than 10"
                                 : "\"loss\" is -inf at step 0, which is lower than -10"));
  }
}

TEST_F(EarlyStoppingTest, AfterItsEstimatorIsAnError) {
  std::shared_ptr<SessionRunHook> hook;
  {
    const Estimator gone(LineModel, config_);
    hook = StopIfNoDecrease(gone, "loss", 10);
  }
  const absl::Status status = Run([&](const Estimator&) { return HookList{hook}; }).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("StopIfNoDecrease"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("the Estimator that it was made for"));
}

// Evaluations at 10, 20, 30 and so on: none of 20 and 30 is better than that of 10.
TEST_F(EarlyStoppingTest, NoDecrease) {
  for (int replicas : {1, 2}) {
    UseModelDir(absl::StrCat(replicas), replicas);
    LogCapture log;
    const auto result = Run(NoDecrease, /*learning_rate=*/0);
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(result->global_step(), 30);
    EXPECT_EQ(Done().final_step, 30);
    EXPECT_THAT(Done().reason,
                HasSubstr("early stopping: no decrease of \"loss\" in 20 steps (limit 20); the best is "));
    EXPECT_THAT(Done().reason, HasSubstr(" at step 10"));
    EXPECT_TRUE(log.Contains("Early stopping at global step 30: no decrease of \"loss\""));
    EXPECT_EQ(trained_->reason, StopReason::kStopRequested);
    EXPECT_EQ(trained_->stop_why, Done().reason);
  }
}

// What was recorded before the model had the metric.
TEST_F(EarlyStoppingTest, RecordsWithoutTheMetricArePassedOver) {
  const EvalResult old = {{{"global_step", 0}, {"other", 1}}};
  ASSERT_EQ(AppendEvalResult(Env::Default(), config_.model_dir + "/eval", old), absl::OkStatus());
  const auto result = Run(NoDecrease, /*learning_rate=*/0);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->global_step(), 30);
}

TEST_F(EarlyStoppingTest, NoIncreaseOfWhatFalls) {
  const auto result = Run([](const Estimator& e) -> HookList { return {StopIfNoIncrease(e, "loss", 35)}; });
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(Done().final_step, 50);
}

TEST_F(EarlyStoppingTest, WhatGoesOnImprovingIsNotStopped) {
  ASSERT_TRUE(Run([](const Estimator& e) -> HookList { return {StopIfNoDecrease(e, "loss", 10)}; }).ok());
  EXPECT_EQ(Done().reason, "max_steps");
}

TEST_F(EarlyStoppingTest, MinStepsPassesOverEarlierEvaluations) {
  ASSERT_TRUE(Run([](const Estimator& e) -> HookList { return {StopIfNoDecrease(e, "loss", 20, {.min_steps = 40})}; },
                  /*learning_rate=*/0)
                  .ok());
  EXPECT_EQ(Done().final_step, 60);
}

TEST_F(EarlyStoppingTest, Thresholds) {
  ASSERT_TRUE(Run([](const Estimator&) { return HookList(); }).ok());
  const double at_30 = Loss(30), at_20 = Loss(20);
  ASSERT_LT(at_30, at_20);
  UseModelDir("lower");
  ASSERT_TRUE(Run([=](const Estimator& e) -> HookList { return {StopIfLower(e, "loss", at_20)}; }).ok());
  EXPECT_EQ(Done().final_step, 30);
  EXPECT_THAT(Done().reason,
              AllOf(HasSubstr("early stopping: \"loss\" is "), HasSubstr(" at step 30, which is lower")));
  UseModelDir("higher");
  ASSERT_TRUE(Run([=](const Estimator& e) -> HookList { return {StopIfHigher(e, "loss", at_20)}; }).ok());
  EXPECT_EQ(Done().final_step, 10);
}

TEST_F(EarlyStoppingTest, ByStepsAndANamedEvaluation) {
  config_.save_checkpoints_steps = 0;
  ASSERT_TRUE(
      Run([](const Estimator& e) -> HookList { return {StopIfNoDecrease(e, "loss", 8, {.evaluation = "valid"})}; },
          /*learning_rate=*/0, {.name = "valid", .every_steps = 4})
          .ok());
  EXPECT_EQ(Done().final_step, 12);
}

TEST_F(EarlyStoppingTest, AJobThatWasStoppedDoesNotTrainOn) {
  const auto first = Run(NoDecrease, /*learning_rate=*/0);
  ASSERT_TRUE(first.ok()) << first.status();
  const DoneMarker done = Done();
  const int64_t lines = Lines();
  const auto names = CheckpointNames(config_.model_dir);
  LogCapture log;
  const auto second = Run(NoDecrease, /*learning_rate=*/0);
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_EQ(second->metrics, first->metrics);
  EXPECT_EQ(Done().final_step, 30);
  EXPECT_EQ(Done().reason, done.reason);
  EXPECT_EQ(Lines(), lines);
  EXPECT_EQ(CheckpointNames(config_.model_dir), names);
  EXPECT_EQ(trained_->steps, 0);
  EXPECT_TRUE(log.Contains("Training with estimator made no steps: early stopping: no decrease"));
  EXPECT_FALSE(log.Contains("Perhaps input is empty"));
  // Without the hook it goes on.
  ASSERT_TRUE(Run([](const Estimator&) { return HookList(); }, /*learning_rate=*/0).ok());
  EXPECT_EQ(Done().final_step, 100);
}

// The same step and weights, however often it was interrupted before.
TEST_F(EarlyStoppingTest, AnInterruptedRunStopsAtTheSameStep) {
  double threshold = 0;
  const MakeHooks lower = [&](const Estimator& e) -> HookList { return {StopIfLower(e, "loss", threshold)}; };
  ASSERT_TRUE(Run(lower, 0.05, {.every_steps = 7}).ok());
  threshold = Loss(42);  // so that 49 is the first that is lower
  UseModelDir("whole");
  ASSERT_TRUE(Run(lower, 0.05, {.every_steps = 7}).ok());
  EXPECT_EQ(Done().final_step, 49);
  const std::string whole = Weights(49);
  UseModelDir("parts");
  for (int64_t at : {13, 21, 40}) {
    auto interrupt = std::make_shared<StepHook>([at](RunContext& context, const RunValues&) {
      if (context.global_step() == at) std::raise(SIGTERM);
    });
    EXPECT_EQ(ExitCodeFor(Run(lower, 0.05, {.every_steps = 7}, {interrupt}).status()), kExitTerminated);
  }
  ASSERT_TRUE(Run(lower, 0.05, {.every_steps = 7}).ok());
  EXPECT_EQ(Done().final_step, 49);
  EXPECT_EQ(Weights(49), whole);
}

// A run before had come further than its last checkpoint.
TEST_F(EarlyStoppingTest, RecordsOfLaterStepsDoNotCount) {
  Estimator trainer(LineModel, config_);
  ASSERT_EQ(trainer.Train(LineInput(), {.max_steps = 20}), absl::OkStatus());
  ASSERT_TRUE(AppendEvalResult(Env::Default(), config_.model_dir + "/eval",
                               {.metrics = {{"loss", -1.0}, {"global_step", 27.0}}})
                  .ok());
  ASSERT_TRUE(Run([](const Estimator& e) -> HookList { return {StopIfLower(e, "loss", 0)}; }).ok());
  EXPECT_EQ(Done().final_step, 30);  // where step 27 has been passed
}

// An evaluator in another process writes the log.
TEST_F(EarlyStoppingTest, LooksForEvaluationsOfOtherProcesses) {
  for (const auto& [options, last] : {std::make_pair(EarlyStoppingOptions{.run_every_steps = 8}, 16),
                                      std::make_pair(EarlyStoppingOptions{.run_every_secs = 1e-9}, 13),
                                      std::make_pair(EarlyStoppingOptions{.run_every_secs = 1e9}, 40)}) {
    UseModelDir(absl::StrCat(last));
    auto record = std::make_shared<StepHook>([this](RunContext& context, const RunValues&) {
      if (context.global_step() != 12) return;
      ASSERT_TRUE(AppendEvalResult(Env::Default(), config_.model_dir + "/eval",
                                   {.metrics = {{"loss", 5.0}, {"global_step", 10.0}}})
                      .ok());
    });
    Estimator estimator(LineModel, config_);
    ASSERT_EQ(
        estimator.Train(LineInput(), {.max_steps = 40, .hooks = {StopIfHigher(estimator, "loss", 4, options), record}}),
        absl::OkStatus());
    EXPECT_EQ(estimator.last_train_result()->global_step, last);
  }
}

TEST_F(EarlyStoppingTest, ARuleOfOnesOwn) {
  ASSERT_TRUE(Run([](const Estimator& e) -> HookList {
                return {MakeEarlyStoppingHook(e, [](const std::map<int64_t, EvalResult>& results) {
                  return results.size() == 4 ? std::string("four are enough") : std::string();
                })};
              }).ok());
  EXPECT_EQ(Done().final_step, 40);
  EXPECT_EQ(Done().reason, "early stopping: four are enough");
}

// Evaluations of the weights as trained, where these are what the job evaluates.
TEST_F(EarlyStoppingTest, OfWeightsWithoutAverages) {
  ASSERT_TRUE(Run(NoDecrease, /*learning_rate=*/0, {.throttle_secs = 0, .use_moving_average = false}).ok());
  EXPECT_EQ(Done().final_step, 30);
}

// What was trained up to an evaluation that a rule refuses is saved.
TEST_F(EarlyStoppingTest, AnErrorOfARuleLosesNoStep) {
  config_.save_checkpoints_steps = 1000;
  const StopRule rule = [](const std::map<int64_t, EvalResult>& results) -> absl::StatusOr<std::string> {
    if (results.empty()) return std::string();
    return absl::InvalidArgumentError("no good");
  };
  const auto result =
      Run([&](const Estimator& e) -> HookList { return {MakeEarlyStoppingHook(e, rule)}; }, 0.05, {.every_steps = 7});
  EXPECT_EQ(ExitCodeFor(result.status()), kExitUsage);
  EXPECT_THAT(std::string(result.status().message()), HasSubstr("no good"));
  EXPECT_EQ(CheckpointNames(config_.model_dir), (std::vector<std::string>{"model.ckpt-0", "model.ckpt-7"}));
  EXPECT_FALSE(Env::Default()->Exists(config_.model_dir + "/DONE"));
}

TEST_F(EarlyStoppingTest, SaysWhatIsWrong) {
  const std::vector<std::pair<MakeHooks, std::string>> cases = {
      {[](const Estimator& e) -> HookList { return {StopIfNoDecrease(e, "los", 20)}; },
       "StopIfNoDecrease::Begin: the evaluation has no metric \"los\"; did you mean \"loss\"? It has loss, mean_y"},
      {[](const Estimator& e) -> HookList { return {StopIfHigher(e, "mean", 20)}; }, "did you mean \"mean_y\"?"},
      {[](const Estimator& e) -> HookList { return {StopIfNoIncrease(e, "loss", 0)}; },
       "max_steps_without_increase must be positive, got 0"},
      {[](const Estimator& e) -> HookList { return {StopIfLower(e, "loss", NAN)}; },
       "StopIfLower::Begin: the threshold must be a number"},
      {[](const Estimator& e) -> HookList { return {StopIfLower(e, "loss", 1, {.min_steps = -3})}; },
       "min_steps must not be negative, got -3"},
      {[](const Estimator& e) -> HookList { return {StopIfLower(e, "loss", 1, {.run_every_steps = 0})}; },
       "run_every_secs and run_every_steps must be positive"},
      {[](const Estimator& e) -> HookList { return {MakeEarlyStoppingHook(e, nullptr)}; }, "no rule is given"},
      {[](const Estimator& e) -> HookList {
         return {MakeEarlyStoppingHook(
             e, [](const auto&) -> absl::StatusOr<std::string> { throw std::runtime_error("my mistake"); })};
       },
       "EarlyStoppingHook::AfterCreateSession: threw std::runtime_error: \"my mistake\""}};
  for (size_t i = 0; i < cases.size(); ++i) {
    UseModelDir(absl::StrCat(i));
    const auto result = Run(cases[i].first);
    EXPECT_EQ(ExitCodeFor(result.status()), kExitUsage) << cases[i].second;
    EXPECT_THAT(std::string(result.status().message()), HasSubstr(cases[i].second));
  }
}

}  // namespace
}  // namespace tandem
