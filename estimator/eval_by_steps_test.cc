// TrainAndEvaluate with EvalSpec.every_steps and every_epochs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "base/exit_code.h"
#include "base/logging.h"
#include "estimator/checkpoint/done_marker.h"
#include "estimator/evaluation/eval_log.h"
#include "estimator/test_models.h"
#include "estimator/train_and_evaluate.h"

namespace tandem {
namespace {

using namespace test;  // NOLINT: this file's vocabulary
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class EvalByStepsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    config_ = Config(ModelDir());
    config_.save_checkpoints_steps = 10;
  }
  absl::StatusOr<EvalResult> Run(const EvalSpec& when, int64_t max_steps, HookList hooks = {},
                                 InputFn input = LineInput()) {
    Estimator estimator(LineModel, config_);
    EvalSpec eval = when;
    eval.input_fn = LineInput(64, 8, 1);
    return TrainAndEvaluate(estimator, {.input_fn = input, .max_steps = max_steps, .hooks = hooks}, eval);
  }
  // What metrics.jsonl says, by step.
  std::map<int64_t, EvalResult> Evaluations() {
    std::map<int64_t, EvalResult> results;
    for (int64_t step = 0; step <= 100; ++step) {
      auto found = FindEvalResult(Env::Default(), config_.model_dir + "/eval", step);
      if (found.ok() && found->has_value()) results[step] = **found;
    }
    return results;
  }
  std::vector<int64_t> Evaluated() {
    std::vector<int64_t> steps;
    for (const auto& entry : Evaluations()) steps.push_back(entry.first);
    return steps;
  }
  RunConfig config_;
};

TEST_F(EvalByStepsTest, EveryStepsWhateverCheckpointsThereAre) {
  LogCapture log;
  const auto result = Run({.throttle_secs = 1e6, .every_steps = 7}, 24);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_THAT(Evaluated(), ElementsAre(7, 14, 21, 24));
  EXPECT_EQ(result->global_step(), 24);
  EXPECT_THAT(CheckpointNames(config_.model_dir),
              ElementsAre("model.ckpt-0", "model.ckpt-10", "model.ckpt-20", "model.ckpt-24"));
  EXPECT_TRUE(log.Contains("Start train and evaluate loop. The evaluate will happen every 7 steps."));
}

// The values in memory, and those of the checkpoint of the same step that another process reads.
TEST_F(EvalByStepsTest, GivesTheBitsOfAnEvaluationOfTheCheckpoint) {
  for (int replicas : {1, 2}) {
    config_ = Config(ModelDir("memory"), replicas);
    config_.save_checkpoints_steps = 0;
    ASSERT_TRUE(Run({.every_steps = 5}, 15).ok());
    const auto in_memory = Evaluations();
    EXPECT_THAT(CheckpointNames(config_.model_dir), IsEmpty());

    config_.model_dir = ModelDir("files");
    config_.save_checkpoints_steps = 5;
    Estimator trainer(LineModel, config_);
    ASSERT_EQ(trainer.Train(LineInput(), {.max_steps = 15}), absl::OkStatus());
    Estimator reader(LineModel, config_);
    for (int64_t step : {5, 10, 15}) {
      const auto read = reader.Evaluate(LineInput(64, 8, 1),
                                        {.checkpoint_path = config_.model_dir + "/model.ckpt-" + std::to_string(step)});
      ASSERT_TRUE(read.ok()) << read.status();
      ASSERT_EQ(in_memory.count(step), 1) << step;
      EXPECT_EQ(in_memory.at(step).metrics, read->metrics) << step;
    }
  }
}

TEST_F(EvalByStepsTest, ChangesNoBitOfTheTraining) {
  ASSERT_TRUE(Run({.every_steps = 3}, 20).ok());
  const std::string with = config_.model_dir;
  config_.model_dir = ModelDir("without");
  Estimator trainer(LineModel, config_);
  ASSERT_EQ(trainer.Train(LineInput(), {.max_steps = 20}), absl::OkStatus());
  for (const char* file : {"/model.ckpt-20/variables.safetensors", "/model.ckpt-20/slots.safetensors"}) {
    EXPECT_EQ(*Env::Default()->ReadFile(with + file), *Env::Default()->ReadFile(config_.model_dir + file));
  }
}

// 64 examples in steps of 8 per replica.
TEST_F(EvalByStepsTest, EveryEpochs) {
  ASSERT_TRUE(Run({.every_epochs = 1}, 20).ok());
  EXPECT_THAT(Evaluated(), ElementsAre(8, 16, 20));
  config_ = Config(ModelDir("two"), 2);
  ASSERT_TRUE(Run({.every_epochs = 2}, 20).ok());
  EXPECT_THAT(Evaluated(), ElementsAre(8, 16, 20));
  config_ = Config(ModelDir("accumulated"), 2);
  config_.accumulate_batches = 2;
  ASSERT_TRUE(Run({.every_epochs = 1}, 5).ok());
  EXPECT_THAT(Evaluated(), ElementsAre(2, 4, 5));
  // 50 examples in steps of 8: 6.25 steps.
  config_ = Config(ModelDir("odd"));
  LogCapture log;
  ASSERT_TRUE(Run({.every_epochs = 1}, 26, {}, LineInput(50, 8)).ok());
  EXPECT_THAT(Evaluated(), ElementsAre(7, 13, 19, 25, 26));
  EXPECT_TRUE(log.Contains("An epoch is 6.25 steps."));
}

TEST_F(EvalByStepsTest, AnInterruptedRunEvaluatesAtTheSameStepsAndGivesTheSame) {
  ASSERT_TRUE(Run({.every_steps = 7}, 24).ok());
  const auto whole = Evaluations();
  config_.model_dir = ModelDir("interrupted");
  auto interrupt = std::make_shared<StepHook>([](RunContext& context, const RunValues&) {
    if (context.global_step() == 16) std::raise(SIGTERM);
  });
  EXPECT_EQ(ExitCodeFor(Run({.every_steps = 7}, 24, {interrupt}).status()), kExitTerminated);
  EXPECT_THAT(Evaluated(), ElementsAre(7, 14));
  EXPECT_FALSE((*ReadDoneMarker(Env::Default(), config_.model_dir)).has_value());
  ASSERT_TRUE(Run({.every_steps = 7}, 24).ok());
  const auto parts = Evaluations();
  ASSERT_EQ(parts.size(), whole.size());
  for (const auto& [step, result] : whole) EXPECT_EQ(parts.at(step).metrics, result.metrics) << step;
}

// As after a kill between the checkpoint of step 20 and the evaluation of it.
TEST_F(EvalByStepsTest, TheStepThatTrainingStartsFromIsEvaluatedUnlessItWas) {
  Estimator trainer(LineModel, config_);
  ASSERT_EQ(trainer.Train(LineInput(), {.max_steps = 20}), absl::OkStatus());
  ASSERT_TRUE(Run({.every_steps = 10}, 25).ok());
  EXPECT_THAT(Evaluated(), ElementsAre(20, 25));
  const std::string log = config_.model_dir + "/eval/metrics.jsonl";
  const std::string before = *Env::Default()->ReadFile(log);
  ASSERT_TRUE(Run({.every_steps = 5}, 30).ok());  // 25 is on record
  EXPECT_THAT(Evaluated(), ElementsAre(20, 25, 30));
  const std::string after = *Env::Default()->ReadFile(log);
  EXPECT_EQ(std::count(after.begin(), after.end(), '\n'), std::count(before.begin(), before.end(), '\n') + 1);
}

TEST_F(EvalByStepsTest, SaysWhenTheLengthOfAnEpochIsUnknown) {
  const InputFn filtered = [](const InputContext&) -> absl::StatusOr<Dataset> {
    return LinePoints(64).Filter([](const Element&) { return true; }).Repeat().Batch(8);
  };
  const auto result = Run({.every_epochs = 1}, 5, {}, filtered);
  EXPECT_EQ(ExitCodeFor(result.status()), kExitUsage);
  EXPECT_THAT(std::string(result.status().message()),
              AllOf(HasSubstr("EvalSpec.every_epochs"), HasSubstr("input_fn, mode train"), HasSubstr("Filter"),
                    HasSubstr("set every_steps instead")));
  ASSERT_TRUE(Run({.every_steps = 4}, 5, {}, filtered).ok());
}

TEST_F(EvalByStepsTest, RefusesNonsense) {
  const std::vector<std::pair<EvalSpec, std::string>> cases = {
      {{.every_steps = 100, .every_epochs = 2}, "every_steps and every_epochs cannot be both set, got 100 and 2"},
      {{.every_steps = 0}, "every_steps must be positive, got 0"},
      {{.every_epochs = -1}, "every_epochs must be positive, got -1"},
      {{.every_epochs = INT64_MAX}, "more than can be counted"}};
  for (const auto& [spec, message] : cases) {
    const auto result = Run(spec, 5);
    EXPECT_EQ(ExitCodeFor(result.status()), kExitUsage) << message;
    EXPECT_THAT(std::string(result.status().message()), HasSubstr(message));
  }
}

TEST_F(EvalByStepsTest, AnErrorOfTheEvaluationKeepsWhatWasSaved) {
  Estimator estimator(LineModel, config_);
  int calls = 0;  // the first is that of the check before training
  const InputFn broken = [&calls](const InputContext& context) -> absl::StatusOr<Dataset> {
    if (++calls > 1) return absl::NotFoundError("no such file");
    return LineInput(64, 8, 1)(context);
  };
  const auto result =
      TrainAndEvaluate(estimator, {.input_fn = LineInput(), .max_steps = 20}, {.input_fn = broken, .every_steps = 10});
  EXPECT_THAT(std::string(result.status().message()), HasSubstr("TrainAndEvaluate, evaluation after step 10: "));
  EXPECT_THAT(CheckpointNames(config_.model_dir), ElementsAre("model.ckpt-0", "model.ckpt-10"));
}

}  // namespace
}  // namespace tandem
