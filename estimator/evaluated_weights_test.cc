// Which weights an evaluation is of, and what of it is remembered.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <utility>
#include <vector>

#include "base/exit_code.h"
#include "base/fault_injecting_env.h"
#include "base/logging.h"
#include "estimator/checkpoint/checkpoint_manager.h"
#include "estimator/evaluation/eval_log.h"
#include "estimator/test_models.h"
#include "estimator/train_and_evaluate.h"

namespace tandem {
namespace {

using namespace test;  // NOLINT: this file's vocabulary
using ::testing::HasSubstr;

RunConfig WithoutCheckpoints(const std::string& dir) {
  RunConfig config = Config(dir);
  config.save_checkpoints_steps = 0;
  return config;
}

// A checkpoint of another training.
std::string OtherCheckpoint() {
  const std::string dir = ModelDir("other");
  Estimator other(LineModel, Config(dir));
  EXPECT_EQ(other.Train(LineInput(64, 16), {.steps = 300}), absl::OkStatus());
  return dir + "/model.ckpt-300";
}

// The loss over all points, of the values in memory.
double Loss(Estimator& estimator) {
  auto result = estimator.Evaluate(LineInput(64, 8, 1));
  EXPECT_TRUE(result.ok()) << result.status();
  return result.ok() ? (*result)["loss"] : -1;
}

TEST(EvaluatedWeights, AnotherCheckpointLeavesTheTrainingInMemoryAlone) {
  const std::string other = OtherCheckpoint();
  Estimator plain(LineModel, WithoutCheckpoints(ModelDir("plain")));
  Estimator disturbed(LineModel, WithoutCheckpoints(ModelDir("disturbed")));
  for (Estimator* estimator : {&plain, &disturbed}) {
    ASSERT_EQ(estimator->Train(LineInput(), {.steps = 20}), absl::OkStatus());
  }
  for (int i = 0; i < 2; ++i) {
    auto result = disturbed.Evaluate(LineInput(64, 8, 1), {.checkpoint_path = other});
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(result->global_step(), 300);
  }
  ASSERT_EQ(disturbed.Predict(LineInput(8, 8, 1), [](const NamedTensors&) { return true; }, {.checkpoint_path = other}),
            absl::OkStatus());
  EXPECT_EQ(Loss(disturbed), Loss(plain));
  ASSERT_TRUE(disturbed.Evaluate(LineInput(64, 8, 1), {.checkpoint_path = other}).ok());
  for (Estimator* estimator : {&plain, &disturbed}) {
    ASSERT_EQ(estimator->Train(LineInput(), {.steps = 20}), absl::OkStatus());
    EXPECT_EQ(estimator->last_train_result()->global_step, 40);
  }
  EXPECT_EQ(disturbed.last_train_result()->loss, plain.last_train_result()->loss);
  EXPECT_EQ(Loss(disturbed), Loss(plain));
}

TEST(EvaluatedWeights, ANewTrainingDoesNotBeginWithWhatWasEvaluated) {
  const std::string other = OtherCheckpoint();
  for (const RunConfig& config : {WithoutCheckpoints(ModelDir("off")), Config(ModelDir("on"))}) {
    Estimator plain(LineModel, Config(ModelDir("plain"))), disturbed(LineModel, config);
    ASSERT_TRUE(disturbed.Evaluate(LineInput(64, 8, 1), {.checkpoint_path = other}).ok());
    for (Estimator* estimator : {&plain, &disturbed}) {
      ASSERT_EQ(estimator->Train(LineInput(), {.steps = 3}), absl::OkStatus());
      EXPECT_EQ(estimator->last_train_result()->global_step, 3);
    }
    EXPECT_EQ(disturbed.last_train_result()->loss, plain.last_train_result()->loss);
  }
}

// The values at x = 0, which are the bias.
float Bias(const NamedTensors& p) { return p.at("y").values<float>()[0]; }

TEST(EvaluatedWeights, ACheckpointThatWasReplacedUnderItsNameIsReadAgain) {
  const std::string first = ModelDir("first"), second = ModelDir("second"), place = ModelDir("place") + "/mean";
  for (const std::string& dir : {first, second}) {
    Estimator estimator(LineModel, Config(dir), {{"learning_rate", dir == first ? 0.01 : 0.1}});
    ASSERT_EQ(estimator.Train(LineInput(), {.steps = 30}), absl::OkStatus());
  }
  const auto loss_of = [](Estimator& estimator, const std::string& path) {
    const auto result = estimator.Evaluate(LineInput(64, 8, 1), {.checkpoint_path = path});
    EXPECT_TRUE(result.ok()) << result.status();
    return result.ok() ? (*result)["loss"] : -1;
  };
  const std::string a = first + "/model.ckpt-30", b = second + "/model.ckpt-30";
  Estimator fresh_a(LineModel, Config(ModelDir("a"))), fresh_b(LineModel, Config(ModelDir("b")));
  const double loss_a = loss_of(fresh_a, a), loss_b = loss_of(fresh_b, b);
  ASSERT_NE(loss_a, loss_b);

  for (const bool in_memory : {false, true}) {
    SCOPED_TRACE(in_memory ? "with a training in memory" : "");
    Estimator estimator(LineModel, in_memory ? WithoutCheckpoints(ModelDir("off")) : Config(ModelDir("on")));
    if (in_memory) {
      ASSERT_EQ(estimator.Train(LineInput(), {.steps = 3}), absl::OkStatus());
    }
    const double own = in_memory ? Loss(estimator) : 0;
    std::vector<float> biases;
    for (const auto& [source, loss] : {std::pair(a, loss_a), std::pair(b, loss_b), std::pair(a, loss_a)}) {
      std::filesystem::remove_all(place);
      std::filesystem::copy(source, place);
      EXPECT_EQ(loss_of(estimator, place), loss);
      std::filesystem::remove_all(place);
      std::filesystem::create_directory_symlink(source == a ? b : a, place);
      const auto first_bias = [&](const NamedTensors& p) {
        biases.push_back(Bias(p));
        return false;
      };
      ASSERT_EQ(estimator.Predict(LineInput(8, 8, 1), first_bias, {.checkpoint_path = place}), absl::OkStatus());
    }
    EXPECT_NE(biases.at(0), biases.at(1));
    EXPECT_EQ(biases.at(0), biases.at(2));
    if (in_memory) {
      EXPECT_EQ(Loss(estimator), own);
    }
  }
}

// As an evaluator finds one that it has evaluated and is to export, when the chief has saved newer ones.
TEST(EvaluatedWeights, ACheckpointThatIsGoneIsStillInMemory) {
  const std::string other = OtherCheckpoint();
  Estimator estimator(LineModel, Config(ModelDir()));
  const auto before = estimator.Evaluate(LineInput(64, 8, 1), {.checkpoint_path = other});
  ASSERT_TRUE(before.ok()) << before.status();
  ASSERT_EQ(Env::Default()->DeleteRecursively(other), absl::OkStatus());
  const auto after = estimator.Evaluate(LineInput(64, 8, 1), {.checkpoint_path = other});
  ASSERT_TRUE(after.ok()) << after.status();
  EXPECT_EQ((*after)["loss"], (*before)["loss"]);
}

// What this process saved and has in memory, and another process replaced.
TEST(EvaluatedWeights, ACheckpointOfTheTrainingItselfIsReadAgainToo) {
  const std::string dir = ModelDir(), other = OtherCheckpoint();
  Estimator estimator(LineModel, Config(dir)), fresh(LineModel, Config(ModelDir("fresh")));
  ASSERT_EQ(estimator.Train(LineInput(), {.steps = 3}), absl::OkStatus());
  const std::string own = dir + "/model.ckpt-3";
  ASSERT_EQ(Env::Default()->DeleteRecursively(own), absl::OkStatus());
  std::filesystem::copy(other, own);
  const auto wanted = fresh.Evaluate(LineInput(64, 8, 1), {.checkpoint_path = other});
  const auto result = estimator.Evaluate(LineInput(64, 8, 1), {.checkpoint_path = own});
  ASSERT_TRUE(wanted.ok() && result.ok()) << wanted.status() << result.status();
  EXPECT_EQ((*result)["loss"], (*wanted)["loss"]);
}

// Does before a file is opened for reading what another process might do then.
class OpenHookEnv : public FaultInjectingEnv {
 public:
  OpenHookEnv() : FaultInjectingEnv(Env::Default()) {}
  absl::StatusOr<std::unique_ptr<RandomAccessFile>> OpenForRead(const std::string& path) override {
    on_open(path);
    return FaultInjectingEnv::OpenForRead(path);
  }
  std::function<void(const std::string& path)> on_open;
};

// By a trainer of another process, whose last save of a step replaces the one before.
TEST(EvaluatedWeights, TheLatestCheckpointMayBeReplacedWhileItIsRead) {
  const std::string dir = ModelDir(), other = ModelDir("other");
  for (const std::string& model_dir : {dir, other}) {
    Estimator trainer(LineModel, Config(model_dir), {{"learning_rate", model_dir == dir ? 0.01 : 0.1}});
    ASSERT_EQ(trainer.Train(LineInput(), {.steps = 5}), absl::OkStatus());
  }
  const absl::StatusOr<CheckpointData> data = ReadCheckpoint(Env::Default(), other + "/model.ckpt-5");
  ASSERT_TRUE(data.ok()) << data.status();
  const auto bias = [&](const RunConfig& config) {
    float value = 0;
    Estimator reader(LineModel, config);
    const absl::Status read = reader.Predict(LineInput(8, 8, 1), [&](const NamedTensors& p) {
      value = Bias(p);
      return false;
    });
    EXPECT_TRUE(read.ok()) << read;
    return value;
  };
  const std::string kept = ModelDir("kept");
  std::filesystem::copy(dir, kept, std::filesystem::copy_options::recursive);
  const float theirs = bias(Config(other));
  // Before the k-th opening of the weights: to verify the latest, to verify what is read, and to read it.
  for (int k = 1; k <= 3; ++k) {
    SCOPED_TRACE(k);
    std::filesystem::remove_all(dir);
    std::filesystem::copy(kept, dir, std::filesystem::copy_options::recursive);
    OpenHookEnv env;
    int opened = 0;
    env.on_open = [&](const std::string& path) {
      if (BaseName(path) != kVariablesName || ++opened != k) return;
      EXPECT_TRUE(CheckpointManager(Env::Default(), dir).Save(*data).ok());
    };
    RunConfig config = Config(dir);
    config.env = &env;
    EXPECT_EQ(bias(config), theirs);
    EXPECT_GT(opened, k);
  }
}

TEST(EvaluatedWeights, TheBestIsOfWholeEvaluationsOfTheModelsOwn) {
  const std::string other = OtherCheckpoint(), dir = ModelDir();
  RunConfig config = Config(dir);
  config.save_checkpoints_steps = 10;
  Estimator estimator(LineModel, config);
  // Initial values, before any training.
  ASSERT_TRUE(estimator.Evaluate(LineInput(64, 8, 1)).ok());
  EXPECT_FALSE(estimator.best().has_value());
  ASSERT_EQ(estimator.Train(LineInput(), {.steps = 20}), absl::OkStatus());
  // The other checkpoint is much better, the first examples alone are another task.
  ASSERT_TRUE(estimator.Evaluate(LineInput(64, 8, 1), {.checkpoint_path = other}).ok());
  ASSERT_TRUE(estimator.Evaluate(LineInput(64, 8, 1), {.steps = 1}).ok());
  auto stop = std::make_shared<StepHook>([](RunContext& context, const RunValues&) { context.RequestStop(); });
  ASSERT_TRUE(estimator.Evaluate(LineInput(64, 8, 1), {.hooks = {stop}}).ok());
  EXPECT_FALSE(estimator.best().has_value());
  auto own =
      estimator.Evaluate(LineInput(64, 8, 1), {.checkpoint_path = dir + "/../" + BaseName(dir) + "/model.ckpt-10"});
  ASSERT_TRUE(own.ok()) << own.status();
  ASSERT_TRUE(estimator.best().has_value());
  EXPECT_EQ(estimator.best()->global_step, 10);
  EXPECT_EQ(estimator.best()->loss, (*own)["loss"]);
}

TEST(EvaluatedWeights, AFinishedJobReturnsItsOwnResult) {
  const std::string other_dir = ModelDir("other"), dir = ModelDir();
  RunConfig config = Config(dir), other_config = Config(other_dir);
  config.save_checkpoints_steps = other_config.save_checkpoints_steps = 10;
  Estimator other(LineModel, other_config, {{"learning_rate", 0.5}});
  ASSERT_EQ(other.Train(LineInput(), {.max_steps = 10}), absl::OkStatus());
  const TrainSpec train{.input_fn = LineInput(), .max_steps = 10};
  const EvalSpec eval{.input_fn = LineInput(64, 8, 1)};
  Estimator estimator(LineModel, config);
  auto first = TrainAndEvaluate(estimator, train, eval);
  ASSERT_TRUE(first.ok()) << first.status();
  // Later lines of the same step: another checkpoint, a part, one that was stopped.
  auto stop = std::make_shared<StepHook>([](RunContext& context, const RunValues&) { context.RequestStop(); });
  for (const EvaluateOptions& options : {EvaluateOptions{.checkpoint_path = other_dir + "/model.ckpt-10"},
                                         EvaluateOptions{.steps = 3}, EvaluateOptions{.hooks = {stop}}}) {
    auto result = estimator.Evaluate(eval.input_fn, options);
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(result->global_step(), 10);
    EXPECT_NE((*result)["mean_y"], (*first)["mean_y"]);
  }
  Estimator again(LineModel, config);
  auto second = TrainAndEvaluate(again, train, eval);
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_EQ(again.programs_built(), 0);
  EXPECT_EQ(second->metrics, first->metrics);
  // Another part of the input is another evaluation.
  EvalSpec part = eval;
  part.steps = 3;
  auto third = TrainAndEvaluate(again, train, part);
  ASSERT_TRUE(third.ok()) << third.status();
  EXPECT_EQ(again.programs_built(), 0);
  EXPECT_NE((*third)["mean_y"], (*first)["mean_y"]);
  part.steps = 4;
  ASSERT_TRUE(TrainAndEvaluate(again, train, part).ok());
  EXPECT_EQ(again.programs_built(), 1);
}

// Under the default name, as one does to see whether a model overfits.
TEST(EvaluatedWeights, OtherDataByHandAreNotTheJobsOwn) {
  RunConfig config = Config(ModelDir());
  config.save_checkpoints_steps = 10;
  config.keep_best = KeepBest{};
  const TrainSpec train{.input_fn = LineInput(64, 16), .max_steps = 30};
  const EvalSpec eval{.input_fn = LineInput(64, 16, 1), .throttle_secs = 0};
  const InputFn other = LineInput(2, 2, 1);
  Estimator estimator(LineModel, config);
  auto first = TrainAndEvaluate(estimator, train, eval);
  ASSERT_TRUE(first.ok()) << first.status();
  const auto best = estimator.best();
  ASSERT_TRUE(best.has_value());
  auto by_hand = estimator.Evaluate(other);
  ASSERT_TRUE(by_hand.ok()) << by_hand.status();
  ASSERT_LT((*by_hand)["loss"], (*first)["loss"]);
  EXPECT_EQ(estimator.best()->loss, best->loss);

  Estimator again(LineModel, config);
  auto second = TrainAndEvaluate(again, train, eval);
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_EQ(again.programs_built(), 0);
  EXPECT_EQ(second->metrics, first->metrics);
  EXPECT_EQ(again.best()->loss, best->loss);
  // A job with another test set evaluates it.
  EvalSpec changed = eval;
  changed.input_fn = other;
  auto third = TrainAndEvaluate(again, train, changed);
  ASSERT_TRUE(third.ok()) << third.status();
  EXPECT_EQ(third->metrics, by_hand->metrics);
}

TEST(EvaluatedWeights, AnEndlessInputNeedsANumberOfSteps) {
  Estimator estimator(LineModel, Config(ModelDir()));
  const InputFn filtered = [](const InputContext&) -> absl::StatusOr<Dataset> {
    return LinePoints(64).Repeat().Filter([](const Element&) -> absl::StatusOr<bool> { return true; }).Batch(8);
  };
  for (const InputFn& endless : {LineInput(64, 8, -1), filtered}) {
    const absl::Status status = estimator.Evaluate(endless).status();
    EXPECT_EQ(ExitCodeFor(status), kExitUsage);
    EXPECT_THAT(std::string(status.message()), HasSubstr("never ends, because of Repeat ("));
    EXPECT_THAT(std::string(status.message()), HasSubstr("EvalSpec.steps"));
  }
  auto result = estimator.Evaluate(LineInput(64, 8, -1), {.steps = 3});
  EXPECT_TRUE(result.ok()) << result.status();
}

}  // namespace
}  // namespace tandem
