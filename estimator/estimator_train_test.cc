// Estimator::Train through the real compiler and runtime.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <filesystem>

#include "absl/strings/match.h"
#include "absl/synchronization/notification.h"
#include "base/exit_code.h"
#include "base/fault_injecting_env.h"
#include "base/logging.h"
#include "estimator/evaluation/eval_log.h"
#include "estimator/monitored_training_session.h"
#include "estimator/test_models.h"

namespace tandem {
namespace {

using namespace test;  // NOLINT: this file's vocabulary
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Train, StepsAddUpAndMaxStepsDoNot) {
  Estimator by_steps(LineModel, Config(ModelDir("steps")));
  ASSERT_EQ(by_steps.Train(LineInput(), {.steps = 5}), absl::OkStatus());
  EXPECT_EQ(by_steps.last_train_result()->global_step, 5);
  ASSERT_EQ(by_steps.Train(LineInput(), {.steps = 5}), absl::OkStatus());
  EXPECT_EQ(by_steps.last_train_result()->global_step, 10);
  EXPECT_EQ(by_steps.programs_built(), 1);

  const std::string dir = ModelDir("max");
  Estimator first(LineModel, Config(dir));
  ASSERT_EQ(first.Train(LineInput(), {.max_steps = 5}), absl::OkStatus());
  Estimator second(LineModel, Config(dir));
  LogCapture log;
  ASSERT_EQ(second.Train(LineInput(), {.max_steps = 5}), absl::OkStatus());
  EXPECT_EQ(second.last_train_result()->global_step, 5);
  EXPECT_EQ(second.programs_built(), 0);
  EXPECT_TRUE(log.Contains("Skipping training since max_steps has already saved."));
}

TEST(Train, RefusesNonsense) {
  Estimator estimator(LineModel, Config(ModelDir()));
  for (const TrainOptions& options :
       {TrainOptions{.steps = 1, .max_steps = 1}, TrainOptions{.steps = 0}, TrainOptions{.max_steps = -1}}) {
    EXPECT_EQ(estimator.Train(LineInput(), options).code(), absl::StatusCode::kInvalidArgument);
  }
  EXPECT_FALSE(estimator.Train(nullptr).ok());
  RunConfig config = Config(ModelDir());
  config.train_distribute = MirroredStrategy({"gpu:0"});
  Estimator gpu(LineModel, config);
  EXPECT_EQ(ExitCodeFor(gpu.Train(LineInput())), kExitUsage);
}

TEST(Train, SavesFirstAndLastAndSurvivesAMove) {
  const std::string dir = ModelDir(), moved = ModelDir("moved");
  {
    Estimator estimator(LineModel, Config(dir));
    ASSERT_EQ(estimator.Train(LineInput(), {.steps = 5}), absl::OkStatus());
  }
  EXPECT_THAT(CheckpointNames(dir), ElementsAre("model.ckpt-0", "model.ckpt-5"));
  EXPECT_THAT(*Env::Default()->ReadFile(dir + "/checkpoint"), ::testing::Not(HasSubstr(dir)));
  std::filesystem::rename(dir, moved);
  Estimator estimator(LineModel, Config(moved));
  LogCapture log;
  ASSERT_EQ(estimator.Train(LineInput(), {.steps = 1}), absl::OkStatus());
  EXPECT_EQ(estimator.last_train_result()->global_step, 6);
  EXPECT_TRUE(log.Contains("Restoring parameters from " + moved + "/model.ckpt-5"));
}

// The first checkpoint's files cannot be created before a step is done.
class PatientEnv : public FaultInjectingEnv {
 public:
  PatientEnv() : FaultInjectingEnv(Env::Default()) {}
  absl::StatusOr<std::unique_ptr<WritableFile>> CreateNewFile(const std::string& path) override {
    // Where steps wait for the checkpoint this is never told, and the test fails instead of hanging.
    if (absl::StrContains(path, "model.ckpt-0"))
      overlapped_ = step_done_.WaitForNotificationWithTimeout(absl::Minutes(1));
    return FaultInjectingEnv::CreateNewFile(path);
  }
  void StepDone() { step_done_.Notify(); }
  bool overlapped() const { return overlapped_; }

 private:
  absl::Notification step_done_;
  bool overlapped_ = false;
};

TEST(Train, TheFirstStepDoesNotWaitForTheFirstCheckpoint) {
  const std::string dir = ModelDir();
  PatientEnv env;
  RunConfig config = Config(dir);
  config.env = &env;
  auto step_done = std::make_shared<StepHook>([&](RunContext& context, const RunValues&) {
    if (context.global_step() == 1) env.StepDone();
  });
  Estimator estimator(LineModel, config);
  ASSERT_EQ(estimator.Train(LineInput(), {.steps = 5, .hooks = {step_done}}), absl::OkStatus());
  EXPECT_TRUE(env.overlapped());
  EXPECT_THAT(CheckpointNames(dir), ElementsAre("model.ckpt-0", "model.ckpt-5"));
  // It holds the values before that step.
  CheckpointManager manager(Env::Default(), dir);
  const absl::StatusOr<CheckpointData> first = manager.Restore(dir + "/model.ckpt-0");
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(first->variables.at("dense/bias").data<float>()[0], 0);
  EXPECT_EQ(first->slots.at("dense/bias/Adam").data<float>()[0], 0);
}

TEST(Train, KeepsTheNewestCheckpoints) {
  const std::string dir = ModelDir();
  RunConfig config = Config(dir);
  config.save_checkpoints_steps = 2;
  config.keep_checkpoint_max = 2;
  Estimator estimator(LineModel, config);
  ASSERT_EQ(estimator.Train(LineInput(), {.steps = 7}), absl::OkStatus());
  EXPECT_THAT(CheckpointNames(dir), ElementsAre("model.ckpt-6", "model.ckpt-7"));
}

TEST(Train, LogsWhatScriptsLookFor) {
  LogCapture log;
  Estimator estimator(LineModel, Config(ModelDir(), 2));
  ASSERT_EQ(estimator.Train(LineInput(), {.steps = 101}), absl::OkStatus());
  for (const char* line : {"Using config: {model_dir: ", "Calling model_fn.", "Done calling model_fn.",
                           "Create CheckpointSaverHook.", "Graph was finalized.", "Saving checkpoints for 0 into ",
                           "loss = ", ", step = 0", "global_step/sec: ", ", input wait ", "Input: training waited ",
                           "% of a core; the ", ", step = 100 (", "Saving checkpoints for 101", "Loss for final step: ",
                           "batch 8 x 2 replicas x 1 worker = 16", "total 3 parameters, of which 3 are trainable"}) {
    EXPECT_TRUE(log.Contains(line)) << line;
  }
}

TEST(Train, LearnsAndTheVariablesCanBeRead) {
  Estimator estimator(LineModel, Config(ModelDir()));
  ASSERT_EQ(estimator.Train(LineInput(), {.steps = 600}), absl::OkStatus());
  EXPECT_LT(estimator.last_train_result()->loss, 1e-3);
  EXPECT_THAT(*estimator.GetVariableNames(), ElementsAre("dense/bias", "dense/bias/Adam", "dense/bias/Adam_1",
                                                         "dense/kernel", "dense/kernel/Adam", "dense/kernel/Adam_1"));
  EXPECT_NEAR(estimator.GetVariableValue("dense/kernel")->data<float>()[0], 3, 0.1);
  EXPECT_NEAR(estimator.GetVariableValue("dense/bias")->data<float>()[0], 1, 0.1);
  EXPECT_TRUE(absl::IsNotFound(estimator.GetVariableValue("nothing").status()));
}

TEST(Train, WithoutCheckpointsGoesOnInMemory) {
  const std::string dir = ModelDir();
  RunConfig config = Config(dir);
  config.save_checkpoints_steps = 0;
  Estimator estimator(LineModel, config);
  ASSERT_EQ(estimator.Train(LineInput(), {.steps = 3}), absl::OkStatus());
  ASSERT_EQ(estimator.Train(LineInput(), {.steps = 3}), absl::OkStatus());
  EXPECT_EQ(estimator.last_train_result()->global_step, 6);
  EXPECT_TRUE(CheckpointNames(dir).empty());
}

TEST(Train, AnEmptyInputMakesNoSteps) {
  LogCapture log;
  Estimator estimator(LineModel, Config(ModelDir()));
  const InputFn none = [](const InputContext&) -> absl::StatusOr<Dataset> { return LinePoints(8).Take(0).Batch(4); };
  EXPECT_EQ(estimator.Train(none), absl::OkStatus());
  EXPECT_TRUE(log.Contains("made no steps"));
}

TEST(Train, AHookFetchesByNameOverAllReplicas) {
  Estimator estimator(LineModel, Config(ModelDir(), 2));
  auto hook = std::make_shared<StepHook>(nullptr, std::vector<std::string>{"dense/Add", "loss", "global_step"});
  ASSERT_EQ(estimator.Train(LineInput(20, 8, 1), {.hooks = {hook}}), absl::OkStatus());
  EXPECT_EQ(hook->calls, 2);
  // The last round: 4 rows for the first replica, none for the second.
  EXPECT_EQ(hook->last.tensors.at("dense/Add").shape(), (Shape{4, 1}));
  EXPECT_EQ(hook->last.Number("global_step"), 2);
  auto bad = std::make_shared<StepHook>(nullptr, std::vector<std::string>{"dense/Nothing"});
  const absl::Status status = estimator.Train(LineInput(20, 8, 1), {.hooks = {bad}});
  EXPECT_EQ(ExitCodeFor(status), kExitUsage);
  EXPECT_THAT(std::string(status.message()), HasSubstr("dense/Nothing"));
}

TEST(Train, AHookFetchesAnOutputOfTheModel) {
  Estimator estimator(
      [](const Features& features, const Tensor& labels, Mode, const Params&) {
        Tensor y = layers::Dense(features["x"], {.units = 1});
        features.graph()->Output("largest", ReduceMax(y));
        Tensor loss = losses::MeanSquaredError(labels, y);
        return EstimatorSpec::Train(loss, optimizers::SGD({}).Minimize(loss));
      },
      Config(ModelDir()));
  auto hook = std::make_shared<StepHook>(nullptr, std::vector<std::string>{"largest", "dense/Add"});
  ASSERT_EQ(estimator.Train(LineInput(8, 8, 1), {.hooks = {hook}}), absl::OkStatus());
  const auto values = hook->last.tensors.at("dense/Add").values<float>();
  EXPECT_EQ(hook->last.Number("largest"), *std::max_element(values.begin(), values.end()));
}

TEST(Train, AnOutputThatTakesTheLosssNameIsToldWithBothLines) {
  int line = 0;
  Estimator estimator(
      [&line](const Features& features, const Tensor& labels, Mode, const Params&) {
        Tensor loss = losses::MeanSquaredError(labels, layers::Dense(features["x"], {.units = 1}));
        line = __LINE__ + 1;
        features.graph()->Output("loss", loss);
        TrainOp train = optimizers::SGD({}).Minimize(loss);
        return EstimatorSpec::Train(loss, train);
      },
      Config(ModelDir()));
  const std::string file = "estimator/estimator_train_test.cc:";
  const absl::Status status = estimator.Train(LineInput(), {.steps = 1});
  EXPECT_EQ(status.message(), "output \"loss\" at " + file + std::to_string(line + 2) +
                                  ": there is an output of this name already, from " + file + std::to_string(line) +
                                  "; choose another name");
}

// Loss: w * mean(sqrt(v)) with v = 1, then v = -1.
EstimatorSpec DivergingModel(const Features& features, const Tensor& labels, Mode mode, const Params& params) {
  VariableSpec spec;
  spec.name = "w";
  spec.initializer = {Initializer::Kind::kConstant, 1, 0};
  Tensor w = features.graph()->Variable(spec);
  Tensor loss = Mul(w, ReduceMean(Sqrt(features["v"])));
  return EstimatorSpec::Train(loss, optimizers::SGD({.learning_rate = 0.1}).Minimize(loss));
}

absl::StatusOr<Dataset> DivergingInput(const InputContext&) {
  return Dataset::FromTensorSlices({{"v", HostTensor::FromVector<float>({4}, {1, 1, -1, -1})}}).Batch(2);
}

TEST(Train, ANonFiniteStepIsNamedAndNeverSaved) {
  const std::string dir = ModelDir();
  RunConfig config = Config(dir);
  config.save_checkpoints_steps = 1;
  Estimator estimator(DivergingModel, config);
  auto hook = std::make_shared<StepHook>();
  LogCapture log;
  const absl::Status status = estimator.Train(DivergingInput, {.steps = 2, .hooks = {hook}});
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(hook->calls, 2);
  EXPECT_TRUE(log.Contains("Model diverged with loss = NaN."));
  EXPECT_THAT(std::string(status.message()), HasSubstr("Sqrt"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("estimator_train_test.cc"));
  EXPECT_THAT(CheckpointNames(dir), ElementsAre("model.ckpt-0", "model.ckpt-1"));
  EXPECT_FLOAT_EQ(estimator.GetVariableValue("w")->data<float>()[0], 0.9f);
}

TEST(Train, ANonFiniteStepCanEndTrainingQuietly) {
  RunConfig config = Config(ModelDir());
  config.fail_on_nan = false;
  Estimator estimator(DivergingModel, config);
  EXPECT_EQ(estimator.Train(DivergingInput, {.steps = 2}), absl::OkStatus());
  EXPECT_EQ(estimator.last_train_result()->global_step, 1);
}

TEST(Train, WarmStartsANewModelOnly) {
  const std::string weights = ModelDir() + ".safetensors";
  ASSERT_TRUE(
      WriteSafetensors(Env::Default(), weights, {{"dense/kernel", HostTensor::FromVector<float>({2, 1}, {42, 42})}})
          .ok());
  const std::string dir = ModelDir("warm");
  RunConfig config = Config(dir);
  config.warm_start_from = WarmStartSettings{.path = weights};
  const Params frozen = {{"learning_rate", 0.0}};
  {
    Estimator estimator(LineModel, config, frozen);
    ASSERT_EQ(estimator.Train(LineInput(), {.steps = 5}), absl::OkStatus());
    EXPECT_EQ(estimator.GetVariableValue("dense/kernel")->data<float>()[0], 42);
    EXPECT_EQ(estimator.last_train_result()->global_step, 5);
  }
  config.warm_start_from->path = "/nowhere.safetensors";
  Estimator again(LineModel, config, frozen);
  ASSERT_EQ(again.Train(LineInput(), {.steps = 1}), absl::OkStatus());
  EXPECT_EQ(again.GetVariableValue("dense/kernel")->data<float>()[0], 42);
}

// Two units more than the model of the checkpoint: the first unit begins as that one is, the others as without it.
TEST(Train, WarmStartsALargerLayerOnTwoDevices) {
  const ModelFn wide = [](const Features& features, const Tensor& labels, Mode, const Params&) {
    Tensor y = layers::Dense(features["x"], {.units = 3, .name = "wide"});
    Tensor loss = losses::MeanSquaredError(labels, ReduceSum(y, {1}, true));
    return EstimatorSpec::Train(loss, optimizers::Adam({.learning_rate = 0.0}).Minimize(loss));
  };
  const std::string narrow_dir = ModelDir("narrow"), dir = ModelDir("wide");
  Estimator narrow(LineModel, Config(narrow_dir)), cold(wide, Config(ModelDir("cold"), 2));
  ASSERT_EQ(narrow.Train(LineInput(), {.steps = 5}), absl::OkStatus());
  ASSERT_EQ(cold.Train(LineInput(), {.steps = 1}), absl::OkStatus());
  RunConfig config = Config(dir, 2);
  config.warm_start_from = WarmStartSettings{.path = narrow_dir,
                                             .with_slots = true,
                                             .var_name_replacements = {{"^wide/", "dense/"}},
                                             .on_shape_mismatch = ShapeMismatch::kCopyOverlap};
  for (int64_t steps : {1, 2}) {
    ASSERT_EQ(Estimator(wide, config).Train(LineInput(), {.max_steps = steps}), absl::OkStatus());
    Estimator reader(wide, config);
    for (const char* slot : {"", "/Adam"}) {
      // Adam's slots are of other gradients after a step.
      if (steps + (*slot != 0 ? 1 : 0) > 2) continue;
      const std::string name = absl::StrCat("model.ckpt-", *slot != 0 ? 0 : steps);
      auto saved = CheckpointManager(Env::Default(), dir).Restore(JoinPath(dir, name));
      ASSERT_TRUE(saved.ok()) << saved.status();
      const TensorMap& all = *slot != 0 ? saved->slots : saved->variables;
      const float* warm = all.at(absl::StrCat("wide/kernel", slot)).data<float>();
      auto from = narrow.GetVariableValue(absl::StrCat("dense/kernel", slot));
      auto initial = cold.GetVariableValue("wide/kernel");
      ASSERT_TRUE(from.ok() && initial.ok());
      for (int row = 0; row < 2; ++row) {
        EXPECT_EQ(warm[3 * row], from->data<float>()[row]) << slot;
        for (int i : {1, 2}) EXPECT_EQ(warm[3 * row + i], *slot != 0 ? 0 : initial->data<float>()[3 * row + i]) << slot;
      }
    }
  }
}

TEST(Train, ACheckpointOfAnotherModelListsTheDifferences) {
  const std::string dir = ModelDir();
  Estimator first(LineModel, Config(dir));
  ASSERT_EQ(first.Train(LineInput(), {.steps = 1}), absl::OkStatus());
  Estimator second(
      [](const Features& features, const Tensor& labels, Mode mode, const Params&) {
        Tensor y = layers::Dense(layers::Dense(features["x"], {.units = 4}), {.units = 1});
        Tensor loss = losses::MeanSquaredError(labels, y);
        return EstimatorSpec::Train(loss, optimizers::SGD({}).Minimize(loss));
      },
      Config(dir));
  const absl::Status status = second.Train(LineInput(), {.steps = 1});
  EXPECT_EQ(ExitCodeFor(status), kExitUsage);
  for (const char* part : {"dense/kernel", "dense_1/kernel", "dense_1/bias", "dense/kernel/Adam"}) {
    EXPECT_THAT(std::string(status.message()), HasSubstr(part));
  }
  EXPECT_THAT(CheckpointNames(dir), ElementsAre("model.ckpt-0", "model.ckpt-1"));
}

TEST(Train, ErrorsOfTheModelNameTheLine) {
  Estimator estimator(
      [](const Features& features, const Tensor& labels, Mode, const Params&) {
        Tensor loss = ReduceMean(features["y"]);
        return EstimatorSpec::Train(loss, optimizers::SGD({}).Minimize(loss));
      },
      Config(ModelDir()));
  const absl::Status status = estimator.Train(LineInput(), {.steps = 1});
  EXPECT_EQ(ExitCodeFor(status), kExitCompileError);
  EXPECT_THAT(std::string(status.message()), HasSubstr("the input has no feature \"y\"; it has x"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("estimator_train_test.cc:"));
}

TEST(Train, ASpecOfAnotherModeIsAnError) {
  Estimator estimator(NumbersModel, Config(ModelDir()));
  const absl::Status status = estimator.Train(NumbersInput(8, 4), {.steps = 1});
  EXPECT_THAT(std::string(status.message()), HasSubstr(": it is a spec for mode eval; return EstimatorSpec::Train("));
}

TEST(Train, AnUnbatchedInputIsAnError) {
  Estimator estimator(LineModel, Config(ModelDir()));
  const InputFn single = [](const InputContext&) -> absl::StatusOr<Dataset> { return LinePoints(8); };
  EXPECT_THAT(std::string(estimator.Train(single, {.steps = 1}).message()), HasSubstr(".Batch("));
}

TEST(Train, LabelsOutOfRangeAreBadData) {
  Estimator estimator(
      [](const Features& features, const Tensor& labels, Mode, const Params&) {
        Tensor loss = losses::SparseSoftmaxCrossEntropy(labels, layers::Dense(features["x"], {.units = 3}));
        return EstimatorSpec::Train(loss, optimizers::SGD({}).Minimize(loss));
      },
      Config(ModelDir()));
  const InputFn input = [](const InputContext&) -> absl::StatusOr<Dataset> {
    return Dataset::FromTensorSlices({{"x", HostTensor::Zeros(DType::kFloat32, {4, 2})},
                                      {"label", HostTensor::FromVector<int32_t>({4}, {0, 2, 1, 3})}})
        .Batch(2);
  };
  const absl::Status status = estimator.Train(input);
  EXPECT_EQ(ExitCodeFor(status), kExitBadData);
  EXPECT_THAT(std::string(status.message()), HasSubstr("label 3 in row 1"));
}

TEST(Train, AnInterruptFinishesTheStepAndSaves) {
  const std::string dir = ModelDir();
  Estimator estimator(LineModel, Config(dir));
  auto interrupt = std::make_shared<StepHook>([](RunContext& context, const RunValues&) {
    if (context.global_step() == 3) std::raise(SIGINT);
  });
  const absl::Status status = estimator.Train(LineInput(), {.max_steps = 10, .hooks = {interrupt}});
  EXPECT_EQ(ExitCodeFor(status), kExitInterrupted);
  EXPECT_THAT(CheckpointNames(dir), ElementsAre("model.ckpt-0", "model.ckpt-3"));
  ASSERT_EQ(estimator.Train(LineInput(), {.max_steps = 10}), absl::OkStatus());
  EXPECT_EQ(estimator.last_train_result()->steps, 7);
}

// One that comes when the last step is made must not be forgotten: the program would go on with what comes next.
TEST(Train, ASignalBehindTheLastStepEndsTheCall) {
  struct StopAtEnd : SessionRunHook {
    absl::Status End(RunContext&) override {
      std::raise(SIGTERM);
      return absl::OkStatus();
    }
  };
  const std::string dir = ModelDir();
  const HookList stop = {std::make_shared<StopAtEnd>()};
  Estimator estimator(LineModel, Config(dir));
  EXPECT_EQ(ExitCodeFor(estimator.Train(LineInput(), {.max_steps = 3, .hooks = stop})), kExitTerminated);
  EXPECT_EQ(estimator.last_train_result()->reason, StopReason::kMaxRounds);
  EXPECT_EQ(ExitCodeFor(estimator.Evaluate(LineInput(64, 8, 1), {.hooks = stop}).status()), kExitTerminated);
  EXPECT_TRUE(FindEvalResult(Env::Default(), dir + "/eval", 3)->has_value());
  EXPECT_EQ(
      ExitCodeFor(estimator.Predict(LineInput(8, 8, 1), [](const NamedTensors&) { return true; }, {.hooks = stop})),
      kExitTerminated);
  auto session = MonitoredTrainingSession::Start(estimator, LineInput(), {.steps = 2, .hooks = stop});
  ASSERT_TRUE(session.ok()) << session.status();
  while (!(*session)->ShouldStop()) ASSERT_TRUE((*session)->Run().ok());
  EXPECT_EQ(ExitCodeFor((*session)->Close()), kExitTerminated);
  EXPECT_THAT(CheckpointNames(dir), ElementsAre("model.ckpt-0", "model.ckpt-3", "model.ckpt-5"));
  // It ends one call.
  EXPECT_EQ(estimator.Train(LineInput(), {.steps = 1}), absl::OkStatus());
}

// The loss of a line is the mean of its steps' losses, the metric that of their examples.
TEST(Train, MetricsOfTheLastStepsAreLogged) {
  RunConfig config = Config(ModelDir());
  config.log_step_count_steps = 4;
  Estimator estimator(
      [](const Features& features, const Tensor& labels, Mode, const Params&) {
        Tensor y = layers::Dense(features["x"], {.units = 1});
        Tensor loss = losses::MeanSquaredError(labels, y);
        return EstimatorSpec::Train(loss, optimizers::SGD({.learning_rate = 0.0}).Minimize(loss),
                                    {{"mse", metrics::MeanSquaredError(labels, y)},
                                     {"positive", metrics::TruePositives(labels, labels, {.threshold = -100})}});
      },
      config);
  LogCapture log;
  ASSERT_TRUE(estimator.Train(LineInput(), {.max_steps = 9}).ok());
  // 32 examples in four steps; of the first 32 labels none is 0. At rate 0 both lines are alike but for their steps.
  EXPECT_TRUE(log.Contains("positive = 32 (steps 0 to 3)"));
  EXPECT_TRUE(log.Contains("positive = 32 (steps 4 to 7)"));
  EXPECT_FALSE(log.Contains("(steps 8 to"));
}

}  // namespace
}  // namespace tandem
