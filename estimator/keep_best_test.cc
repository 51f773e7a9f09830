// RunConfig.keep_best and keep_checkpoint_every_n_hours: checkpoints that rotation leaves, and Estimator::best().
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "base/exit_code.h"
#include "base/logging.h"
#include "estimator/evaluation/eval_log.h"
#include "estimator/monitored_training_session.h"
#include "estimator/test_models.h"
#include "estimator/train_and_evaluate.h"

namespace tandem {
namespace {

using namespace test;  // NOLINT: this file's vocabulary
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// The loss of LineModel falls, so that its greatest value is that of the first evaluation.
const KeepBest kLargestLoss = {.direction = MetricDirection::kMax};

class KeepBestTest : public ::testing::Test {
 protected:
  void SetUp() override {
    config_ = Config(ModelDir());
    config_.save_checkpoints_steps = 10;
    config_.keep_checkpoint_max = 2;
    config_.keep_best = kLargestLoss;
  }
  absl::Status Run(Estimator& estimator, int64_t max_steps, EvalSpec eval = {.throttle_secs = 0}, HookList hooks = {}) {
    eval.input_fn = LineInput(64, 8, 1);
    return TrainAndEvaluate(estimator, {.input_fn = LineInput(), .max_steps = max_steps, .hooks = hooks}, eval)
        .status();
  }
  absl::Status Run(int64_t max_steps, EvalSpec eval = {.throttle_secs = 0}, HookList hooks = {}) {
    Estimator estimator(LineModel, config_);
    return Run(estimator, max_steps, eval, hooks);
  }
  std::vector<std::string> Names() { return CheckpointNames(config_.model_dir); }
  RunConfig config_;
};

TEST_F(KeepBestTest, TheBestStaysBesidesTheNewest) {
  Estimator estimator(LineModel, config_);
  ASSERT_EQ(Run(estimator, 60), absl::OkStatus());
  EXPECT_THAT(Names(), ElementsAre("model.ckpt-10", "model.ckpt-50", "model.ckpt-60"));
  const auto best = estimator.best();
  ASSERT_TRUE(best.has_value());
  EXPECT_EQ(best->global_step, 10);
  EXPECT_EQ(best->checkpoint, config_.model_dir + "/model.ckpt-10");
  const auto recorded = FindEvalResult(Env::Default(), config_.model_dir + "/eval", 10);
  EXPECT_EQ(best->value, (**recorded)["loss"]);
  // The checkpoint can be read.
  Estimator reader(LineModel, config_);
  const auto again = reader.Evaluate(LineInput(64, 8, 1), {.checkpoint_path = best->checkpoint});
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ((*again)["loss"], best->value);
}

TEST_F(KeepBestTest, ASeveralOfThem) {
  config_.keep_best->count = 3;
  ASSERT_EQ(Run(80), absl::OkStatus());
  EXPECT_THAT(Names(),
              ElementsAre("model.ckpt-10", "model.ckpt-20", "model.ckpt-30", "model.ckpt-70", "model.ckpt-80"));
}

// Without keep_best rotation takes the checkpoint of the best evaluation, and best() does not name it.
TEST_F(KeepBestTest, BestNamesNoCheckpointThatIsGone) {
  config_.keep_best.reset();
  config_.keep_checkpoint_max = 1;
  Estimator estimator(LineModel, config_);
  ASSERT_EQ(Run(estimator, 20), absl::OkStatus());
  EXPECT_EQ(estimator.best()->global_step, 20);
  EXPECT_EQ(estimator.best()->checkpoint, config_.model_dir + "/model.ckpt-20");
  ASSERT_EQ(estimator.Train(LineInput(), {.steps = 5}), absl::OkStatus());
  EXPECT_THAT(Names(), ElementsAre("model.ckpt-25"));
  EXPECT_EQ(estimator.best()->global_step, 20);
  EXPECT_EQ(estimator.best()->checkpoint, "");
}

// The best evaluation is of a step that no rule saves.
TEST_F(KeepBestTest, EvaluationsByStepsSaveTheBestOfThem) {
  Estimator estimator(LineModel, config_);
  ASSERT_EQ(Run(estimator, 45, {.every_steps = 7}), absl::OkStatus());
  EXPECT_EQ(estimator.best()->global_step, 7);
  EXPECT_EQ(estimator.best()->checkpoint, config_.model_dir + "/model.ckpt-7");
  EXPECT_THAT(Names(), ElementsAre("model.ckpt-7", "model.ckpt-37", "model.ckpt-45"));
}

TEST_F(KeepBestTest, ASmallestMetricThatImprovesIsSavedEachTime) {
  config_.save_checkpoints_steps = 1000;
  config_.keep_checkpoint_max = 0;
  config_.keep_best = KeepBest{};
  Estimator estimator(LineModel, config_);
  ASSERT_EQ(Run(estimator, 20, {.every_steps = 6}), absl::OkStatus());
  EXPECT_THAT(Names(), ElementsAre("model.ckpt-0", "model.ckpt-6", "model.ckpt-12", "model.ckpt-18", "model.ckpt-20"));
  EXPECT_EQ(estimator.best()->checkpoint, config_.model_dir + "/model.ckpt-20");
}

TEST_F(KeepBestTest, ANamedEvaluationAndItsMetric) {
  config_.keep_best = KeepBest{.metric = "mean_y", .direction = MetricDirection::kMin, .evaluation = "other"};
  ASSERT_EQ(Run(40, {.name = "other", .throttle_secs = 0}), absl::OkStatus());
  std::pair<double, int64_t> least = {INFINITY, 0};
  for (int64_t step : {10, 20, 30, 40}) {
    const auto found = FindEvalResult(Env::Default(), config_.model_dir + "/eval_other", step);
    ASSERT_TRUE(found.ok() && found->has_value()) << step;
    least = std::min(least, {(**found)["mean_y"], step});
  }
  EXPECT_EQ(Env::Default()->Exists(config_.model_dir + "/model.ckpt-" + std::to_string(least.second)), true);
  Estimator next(LineModel, config_);
  ASSERT_EQ(next.Train(LineInput(), {.steps = 1}), absl::OkStatus());
  EXPECT_EQ(next.best("other")->global_step, least.second);
  EXPECT_EQ(next.best("other")->metric, "mean_y");
  EXPECT_FALSE(next.best().has_value());
}

TEST_F(KeepBestTest, WarnsOfANameThatNoEvaluationHas) {
  config_.keep_best->evaluation = "nightly";
  LogCapture log;
  ASSERT_EQ(Run(5, {.name = "validation", .throttle_secs = 0}), absl::OkStatus());
  EXPECT_TRUE(
      log.Contains("RunConfig.keep_best goes by evaluations with the name \"nightly\", and those of "
                   "TrainAndEvaluate have the name \"validation\""));
}

TEST_F(KeepBestTest, ARunThatGoesOnKeepsIt) {
  ASSERT_EQ(Run(30), absl::OkStatus());
  Estimator next(LineModel, config_);
  ASSERT_EQ(Run(next, 70), absl::OkStatus());
  EXPECT_THAT(Names(), ElementsAre("model.ckpt-10", "model.ckpt-60", "model.ckpt-70"));
  EXPECT_EQ(next.best()->global_step, 10);
}

// In a loop of one's own.
TEST_F(KeepBestTest, AnEvaluationBetweenStepsIsSaved) {
  config_.save_checkpoints_steps = 1000;
  Estimator estimator(LineModel, config_);
  auto session = MonitoredTrainingSession::Start(estimator, LineInput(), {.steps = 9});
  ASSERT_TRUE(session.ok()) << session.status();
  while (!(*session)->ShouldStop()) {
    ASSERT_TRUE((*session)->Run().ok());
    ASSERT_TRUE(estimator.Evaluate(LineInput(64, 8, 1)).ok());
  }
  ASSERT_EQ((*session)->Close(), absl::OkStatus());
  ASSERT_TRUE(estimator.best().has_value());
  EXPECT_EQ(estimator.best()->global_step, 1);
  EXPECT_EQ(estimator.best()->checkpoint, config_.model_dir + "/model.ckpt-1");
}

// A process that makes no step, as one that finds its job done, knows it from the records.
TEST_F(KeepBestTest, BestIsOnRecordWhereNothingIsTrained) {
  ASSERT_EQ(Run(30), absl::OkStatus());
  Estimator reader(LineModel, config_);
  ASSERT_TRUE(reader.best().has_value());
  EXPECT_EQ(reader.best()->checkpoint, config_.model_dir + "/model.ckpt-10");
  Estimator again(LineModel, config_);
  ASSERT_EQ(Run(again, 30), absl::OkStatus());
  ASSERT_TRUE(again.best().has_value());
  EXPECT_EQ(again.best()->global_step, 10);
  EXPECT_EQ(again.best()->value, reader.best()->value);
  // An evaluation of such a process is one more.
  Estimator once(LineModel, config_);
  ASSERT_TRUE(once.Evaluate(LineInput(64, 8, 1)).ok());
  EXPECT_EQ(once.best()->global_step, 10);
  config_.model_dir = ModelDir("none");
  EXPECT_FALSE(Estimator(LineModel, config_).best().has_value());
}

// What was trained up to an evaluation that fails is saved.
TEST_F(KeepBestTest, AnEvaluationThatFailsLosesNoStep) {
  config_.save_checkpoints_steps = 1000;
  const auto fails = std::make_shared<StepHook>(
      [](RunContext& context, const RunValues&) { context.Fail(absl::InvalidArgumentError("no good")); });
  const absl::Status status = Run(40, {.hooks = {fails}, .every_steps = 7});
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("no good"));
  EXPECT_THAT(Names(), ElementsAre("model.ckpt-0", "model.ckpt-7"));
  EXPECT_FALSE(Env::Default()->Exists(config_.model_dir + "/DONE"));
}

// Records of a run without keep_best, and another metric from now on.
TEST_F(KeepBestTest, AnotherMetricCountsFromWhatIsOnRecord) {
  config_.keep_best.reset();
  config_.keep_checkpoint_max = 0;
  ASSERT_EQ(Run(30), absl::OkStatus());
  config_.keep_best = kLargestLoss;
  config_.keep_checkpoint_max = 1;
  Estimator next(LineModel, config_);
  ASSERT_EQ(Run(next, 50), absl::OkStatus());
  EXPECT_THAT(Names(), ElementsAre("model.ckpt-10", "model.ckpt-50"));
  EXPECT_EQ(next.best()->checkpoint, config_.model_dir + "/model.ckpt-10");
}

// An evaluator in a process of its own writes the same log.
TEST_F(KeepBestTest, EvaluationsOfAnotherProcessCount) {
  config_.keep_best = KeepBest{};
  config_.keep_checkpoint_max = 1;
  auto record = std::make_shared<StepHook>([this](RunContext& context, const RunValues&) {
    if (context.global_step() % 10 != 5) return;
    const double step = static_cast<double>(context.global_step() - 5);
    ASSERT_TRUE(AppendEvalResult(Env::Default(), config_.model_dir + "/eval",
                                 {.metrics = {{"loss", std::abs(step - 20)}, {"global_step", step}}})
                    .ok());
  });
  Estimator estimator(LineModel, config_);
  ASSERT_EQ(estimator.Train(LineInput(), {.max_steps = 60, .hooks = {record}}), absl::OkStatus());
  EXPECT_THAT(Names(), ElementsAre("model.ckpt-20", "model.ckpt-60"));
}

TEST_F(KeepBestTest, AKilledRunKeepsWhatIsProtected) {
  const auto in_child = [&](const std::function<absl::Status()>& run) {
    const pid_t child = fork();
    if (child == 0) {
      SetMinLogSeverity(LogSeverity::kWarning);
      _exit(run().ok() ? 0 : 1);
    }
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return status;
  };
  for (int64_t kill_at : {31, 40, 41}) {
    auto kill = std::make_shared<StepHook>([&](RunContext& context, const RunValues&) {
      if (context.global_step() == kill_at) std::raise(SIGKILL);
    });
    const int killed = in_child([&] { return Run(80, {.throttle_secs = 0}, {kill}); });
    EXPECT_TRUE(WIFSIGNALED(killed) && WTERMSIG(killed) == SIGKILL) << killed;
  }
  EXPECT_EQ(in_child([&] { return Run(80); }), 0);
  EXPECT_THAT(Names(), ElementsAre("model.ckpt-10", "model.ckpt-70", "model.ckpt-80"));
}

// Over a part of the input, by steps: the records of an interrupted run are those of one that was not.
TEST_F(KeepBestTest, PartsThatAreComparedCountAfterAnInterrupt) {
  const EvalSpec part = {.steps = 2, .every_steps = 10};
  auto interrupt = std::make_shared<StepHook>([](RunContext& context, const RunValues&) {
    if (context.global_step() == 15) std::raise(SIGTERM);
  });
  EXPECT_EQ(ExitCodeFor(Run(40, part, {interrupt})), kExitTerminated);
  Estimator next(LineModel, config_);
  ASSERT_EQ(Run(next, 40, part), absl::OkStatus());
  EXPECT_EQ(next.best()->global_step, 10);
  EXPECT_EQ(next.best()->steps, 2);
  EXPECT_EQ(next.best()->checkpoint, config_.model_dir + "/model.ckpt-10");
}

// Of another kind than the job's are evaluations by hand over a part, with averages where the job takes none, and over
// all where the job takes a part.
TEST_F(KeepBestTest, EvaluationsByHandOfAnotherKindDeleteNothing) {
  config_.keep_checkpoint_max = 1;
  for (const EvalSpec& job :
       {EvalSpec{.steps = 4, .throttle_secs = 0}, EvalSpec{.throttle_secs = 0, .use_moving_average = false}}) {
    config_.model_dir = ModelDir(job.steps.has_value() ? "part" : "raw");
    const int64_t steps = job.steps.value_or(0);
    Estimator estimator(LineModel, config_);
    ASSERT_EQ(Run(estimator, 30, job), absl::OkStatus());
    for (const EvaluateOptions& by_hand : {EvaluateOptions{.steps = 3}, EvaluateOptions{}}) {
      ASSERT_TRUE(estimator.Evaluate(LineInput(64, 8, 1), by_hand).ok());
      EXPECT_EQ(estimator.best()->global_step, 10);
    }
    ASSERT_EQ(Run(estimator, 50, job), absl::OkStatus());
    EXPECT_THAT(Names(), ElementsAre("model.ckpt-10", "model.ckpt-50"));
    EXPECT_EQ(estimator.best()->global_step, 10);
    EXPECT_EQ(estimator.best()->steps, steps);
    // The same to a process that has evaluated nothing, and to one that goes on.
    Estimator reader(LineModel, config_), next(LineModel, config_);
    ASSERT_TRUE(reader.best().has_value());
    EXPECT_EQ(reader.best()->global_step, 10);
    ASSERT_EQ(next.Train(LineInput(), {.steps = 1}), absl::OkStatus());
    EXPECT_EQ(next.best()->global_step, 10);
    EXPECT_EQ(next.best()->steps, steps);
  }
}

// A job that evaluates other weights from now on begins anew.
TEST_F(KeepBestTest, AveragesAndWeightsAsTrainedAreNotCompared) {
  ASSERT_EQ(Run(30), absl::OkStatus());
  Estimator next(LineModel, config_);
  ASSERT_EQ(Run(next, 60, {.throttle_secs = 0, .use_moving_average = false}), absl::OkStatus());
  EXPECT_EQ(next.best()->global_step, 40);
  EXPECT_THAT(Names(), ElementsAre("model.ckpt-40", "model.ckpt-50", "model.ckpt-60"));
}

// More steps than the input has.
TEST_F(KeepBestTest, APartThatIsTheWholeInputIsRememberedByTheNextProcess) {
  config_.keep_best = KeepBest{};
  ASSERT_EQ(Run(30, {.steps = 100, .throttle_secs = 0}), absl::OkStatus());
  Estimator next(LineModel, config_);
  ASSERT_EQ(next.Train(LineInput(), {.steps = 1}), absl::OkStatus());
  EXPECT_EQ(next.best()->global_step, 30);
  EXPECT_EQ(next.best()->steps, 100);
}

TEST_F(KeepBestTest, AMetricThatTheEvaluationDoesNotHave) {
  config_.keep_best->metric = "mean_x";
  const absl::Status status = Run(30);
  EXPECT_EQ(ExitCodeFor(status), kExitUsage);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("RunConfig.keep_best: the evaluation has no metric \"mean_x\"; did you mean \"mean_y\"?"));
  EXPECT_THAT(Names(), IsEmpty());  // it is found before anything is trained
}

TEST_F(KeepBestTest, RefusesNonsense) {
  const auto refused = [](const RunConfig& config) { return std::string(config.Validate().message()); };
  config_.keep_best->count = 0;
  EXPECT_THAT(refused(config_), HasSubstr("keep_best: count must be at least 1, got 0"));
  config_.keep_best = KeepBest{.metric = ""};
  EXPECT_THAT(refused(config_), HasSubstr("keep_best: metric is empty"));
  config_.keep_best = KeepBest{.metric = "accuracy"};
  EXPECT_THAT(refused(config_),
              HasSubstr("keep_best: direction is not set, and nothing says whether a larger or a smaller \"accuracy\" "
                        "is better; set it to MetricDirection::kMax or MetricDirection::kMin"));
  config_.keep_best = KeepBest{};
  config_.save_checkpoints_steps = 0;
  EXPECT_THAT(refused(config_), HasSubstr("keep_best keeps checkpoints, and they are off; set save_checkpoints_steps"));
  config_.keep_best.reset();
  config_.keep_checkpoint_every_n_hours = -1;
  EXPECT_THAT(refused(config_), HasSubstr("keep_checkpoint_every_n_hours must not be negative, got -1"));
}

}  // namespace
}  // namespace tandem
