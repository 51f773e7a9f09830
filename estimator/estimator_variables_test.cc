// Variables that a program reads and assigns.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/logging.h"
#include "base/moving_average_name.h"
#include "estimator/checkpoint/checkpoint.h"
#include "estimator/test_models.h"

namespace tandem {
namespace {

using namespace test;  // NOLINT: this file's vocabulary
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kKernel[] = "dense/kernel", kBias[] = "dense/bias";

// A line of points, y = a x0 + b x1 + c; {3, -2, 1} is that of the data.
NamedTensors Line(float a, float b, float c) {
  return {{kKernel, HostTensor::FromVector<float>({2, 1}, {a, b})}, {kBias, HostTensor::FromVector<float>({1}, {c})}};
}

std::vector<float> Floats(const HostTensor& tensor) {
  return {tensor.values<float>().begin(), tensor.values<float>().end()};
}

std::vector<std::string> NamesOf(const NamedTensors& tensors) {
  std::vector<std::string> names;
  for (const auto& entry : tensors) names.push_back(entry.first);
  return names;
}

RunConfig Unsaved(int replicas = 1) {
  RunConfig config = Config(ModelDir(), replicas);
  config.save_checkpoints_steps = 0;
  return config;
}

RunConfig Saved(const std::string& dir) {
  RunConfig config = Config(dir);
  config.save_checkpoints_steps = 1000;
  config.keep_checkpoint_max = 0;
  return config;
}

InputFn Once() { return LineInput(37, 8, /*epochs=*/1); }

double Loss(Estimator& estimator, const EvaluateOptions& options = {}) {
  const absl::StatusOr<EvalResult> result = estimator.Evaluate(Once(), options);
  EXPECT_TRUE(result.ok()) << result.status();
  return result.ok() ? (*result)["loss"] : -1;
}

std::string ErrorOf(const absl::Status& status) { return std::string(status.message()); }

TEST(Variables, AreReadAndAssignedInMemory) {
  for (const int replicas : {1, 2}) {
    Estimator estimator(LineModel, Unsaved(replicas));
    ASSERT_EQ(estimator.Train(LineInput(), {.steps = 5}), absl::OkStatus());
    NamedTensors values = *estimator.ReadVariables();
    EXPECT_THAT(NamesOf(values), ElementsAre(kBias, kKernel));
    const NamedTensors all = *estimator.ReadVariables({}, {.slots = true});
    EXPECT_GT(all.size(), values.size());
    EXPECT_TRUE(all.at(kKernel).BitEqual(values.at(kKernel)));
    EXPECT_THAT(NamesOf(*estimator.ReadVariables({kBias})), ElementsAre(kBias));

    EXPECT_GT(Loss(estimator), 1e-3);
    NamedTensors line = Line(3, -2, 1);
    ASSERT_EQ(estimator.AssignVariables(line), absl::OkStatus());
    line[kBias].data<float>()[0] = 77;  // is no more of the model
    EXPECT_LT(Loss(estimator), 1e-10);
    EXPECT_THAT(Floats(estimator.ReadVariables()->at(kKernel)), ElementsAre(3, -2));
    ASSERT_EQ(estimator.AssignVariables({{kBias, HostTensor::FromVector<float>({1}, {2})}}), absl::OkStatus());
    EXPECT_NEAR(Loss(estimator), 1, 1e-6);  // all are too large by one
    EXPECT_NEAR(Loss(estimator), 1, 1e-6);

    auto hook = std::make_shared<StepHook>();
    ASSERT_EQ(estimator.Train(LineInput(), {.steps = 1, .hooks = {hook}}), absl::OkStatus());
    EXPECT_EQ(hook->last.step, 5);
    EXPECT_NEAR(hook->last.Number("loss"), 1, 1e-6);
    EXPECT_NE(Floats(estimator.ReadVariables()->at(kBias))[0], 2);  // trained
  }
}

// What was read is not what the model goes on with, and assigning all of it changes nothing.
TEST(Variables, AssignedToThemselvesLeaveEveryBit) {
  const auto train = [](bool assign) {
    Estimator estimator(LineModel, Unsaved());
    const auto hook = std::make_shared<StepHook>([&](RunContext& context, const RunValues& values) {
      if (!assign || values.step != 3) return;
      NamedTensors all = *context.ReadVariables({}, {.slots = true});
      ASSERT_EQ(context.AssignVariables(all), absl::OkStatus());
      for (auto& [name, value] : all) std::fill_n(static_cast<char*>(value.raw()), value.byte_size(), 1);
    });
    EXPECT_EQ(estimator.Train(LineInput(), {.steps = 4, .hooks = {hook}}), absl::OkStatus());
    if (assign) {
      EXPECT_EQ(estimator.AssignVariables(*estimator.ReadVariables({}, {.slots = true})), absl::OkStatus());
    }
    EXPECT_EQ(estimator.Train(LineInput(), {.steps = 4}), absl::OkStatus());
    return *estimator.ReadVariables({}, {.slots = true});
  };
  const NamedTensors with = train(true), without = train(false);
  ASSERT_EQ(NamesOf(with), NamesOf(without));
  for (const auto& [name, value] : with) EXPECT_TRUE(value.BitEqual(without.at(name))) << name;
}

TEST(Variables, AssignedByAHookAreThoseOfTheNextStep) {
  for (const int replicas : {1, 2}) {
    Estimator estimator(LineModel, Unsaved(replicas));
    std::vector<double> losses;
    const auto hook = std::make_shared<StepHook>([&](RunContext& context, const RunValues& values) {
      losses.push_back(values.Number("loss"));
      absl::Status status;
      if (values.step == 2) status = context.AssignVariables(Line(3, -2, 1));
      if (values.step == 4) status = estimator.AssignVariables(Line(3, -2, 3));
      EXPECT_EQ(status, absl::OkStatus());
    });
    ASSERT_EQ(estimator.Train(LineInput(), {.steps = 6, .hooks = {hook}}), absl::OkStatus());
    EXPECT_GT(losses[2], 1e-3);
    EXPECT_LT(losses[3], 1e-10);
    EXPECT_NEAR(losses[5], 4, 1e-5);
  }
}

TEST(Variables, OfACheckpointAreAssignedOverIt) {
  const std::string dir = ModelDir();
  {
    Estimator estimator(LineModel, Saved(dir));
    ASSERT_EQ(estimator.Train(LineInput(), {.steps = 4}), absl::OkStatus());
  }
  const NamedTensors trained = ReadCheckpoint(Env::Default(), dir + "/model.ckpt-4")->variables;
  Estimator estimator(LineModel, Saved(dir));
  EXPECT_TRUE(estimator.ReadVariables()->at(kKernel).BitEqual(trained.at(kKernel)));
  EXPECT_EQ(estimator.programs_built(), 0);
  EXPECT_GT(estimator.ReadVariables({}, {.slots = true})->size(), 2u);
  const double before = Loss(estimator);
  ASSERT_EQ(estimator.AssignVariables({{kKernel, HostTensor::FromVector<float>({2, 1}, {0, 0})}}), absl::OkStatus());
  const NamedTensors now = *estimator.ReadVariables();
  EXPECT_THAT(Floats(now.at(kKernel)), ElementsAre(0, 0));
  EXPECT_TRUE(now.at(kBias).BitEqual(trained.at(kBias)));
  const double assigned = Loss(estimator);
  EXPECT_NE(assigned, before);
  EXPECT_EQ(Loss(estimator, {.checkpoint_path = dir + "/model.ckpt-4"}), before);
  EXPECT_EQ(Loss(estimator), assigned);
  EXPECT_EQ(estimator.best()->loss, before);  // those of assigned values are no evaluations of the model

  // Training goes on at step 4 with them, and they are saved before its first step.
  NamedTensors begun;
  const auto look = std::make_shared<StepHook>([&](RunContext&, const RunValues& values) {
    EXPECT_EQ(values.step, 4);
    begun = ReadCheckpoint(Env::Default(), dir + "/model.ckpt-4")->variables;
  });
  ASSERT_EQ(estimator.Train(LineInput(), {.steps = 1, .hooks = {look}}), absl::OkStatus());
  ASSERT_TRUE(begun.contains(kKernel));
  EXPECT_THAT(Floats(ReadCheckpoint(Env::Default(), dir + "/model.ckpt-4")->variables.at(kKernel)), ElementsAre(0, 0));
  const NamedTensors last = ReadCheckpoint(Env::Default(), dir + "/model.ckpt-5")->variables;
  EXPECT_TRUE(estimator.ReadVariables()->at(kKernel).BitEqual(last.at(kKernel)));
  EXPECT_NE(Floats(last.at(kKernel)), (std::vector<float>{0, 0}));
}

// The input's position is that of the checkpoint, and slots go on.
TEST(Variables, NothingElseChangesWhereTheSameIsAssigned) {
  const auto train = [](const std::string& dir, bool assign) {
    EXPECT_EQ(Estimator(LineModel, Saved(dir)).Train(LineInput(64, 8, -1, 20), {.steps = 3}), absl::OkStatus());
    Estimator estimator(LineModel, Saved(dir));
    if (assign) {
      EXPECT_EQ(estimator.AssignVariables(*estimator.ReadVariables()), absl::OkStatus());
    }
    EXPECT_EQ(estimator.Train(LineInput(64, 8, -1, 20), {.steps = 3}), absl::OkStatus());
    return *ReadCheckpoint(Env::Default(), dir + "/model.ckpt-6");
  };
  const CheckpointData with = train(ModelDir("with"), true), without = train(ModelDir("without"), false);
  EXPECT_EQ(with.iterator_state, without.iterator_state);
  for (const auto& [name, value] : without.slots) EXPECT_TRUE(value.BitEqual(with.slots.at(name))) << name;
  for (const auto& [name, value] : without.variables) EXPECT_TRUE(value.BitEqual(with.variables.at(name))) << name;
}

TEST(Variables, AreKeptUntilTheModelIsBuilt) {
  LogCapture log;
  Estimator estimator(LineModel, Saved(ModelDir()));
  EXPECT_EQ(estimator.ReadVariables().status().code(), absl::StatusCode::kNotFound);
  ASSERT_EQ(estimator.AssignVariables(Line(3, -2, 1)), absl::OkStatus());
  EXPECT_THAT(NamesOf(*estimator.ReadVariables()), ElementsAre(kBias, kKernel));
  EXPECT_LT(Loss(estimator), 1e-10);
  EXPECT_LT(Loss(estimator), 1e-10);
  EXPECT_FALSE(log.Contains("untrained"));
  EXPECT_FALSE(log.Contains("initial values"));
  auto hook = std::make_shared<StepHook>();
  ASSERT_EQ(estimator.Train(LineInput(), {.steps = 1, .hooks = {hook}}), absl::OkStatus());
  EXPECT_EQ(hook->last.step, 0);
  EXPECT_LT(hook->last.Number("loss"), 1e-10);
}

TEST(Variables, ThatWereNotAssignedHaveTheirFirstValues) {
  LogCapture log;
  Estimator estimator(LineModel, Saved(ModelDir()));
  ASSERT_EQ(estimator.AssignVariables({{kBias, HostTensor::FromVector<float>({1}, {5})}}), absl::OkStatus());
  Loss(estimator);
  EXPECT_TRUE(log.Contains("which AssignVariables was not given, have their initial values: dense/kernel."));
}

// The saver comes before the user's hooks, so the checkpoint of the last step was begun without what they assign.
TEST(Variables, AssignedBehindTheLastStepAreSaved) {
  const std::string dir = ModelDir();
  Estimator estimator(LineModel, Saved(dir));
  const auto hook = std::make_shared<StepHook>([&](RunContext& context, const RunValues& values) {
    if (values.step != 2) return;
    ASSERT_EQ(context.AssignVariables(Line(7, 8, 9)), absl::OkStatus());
  });
  ASSERT_EQ(estimator.Train(LineInput(), {.steps = 3, .hooks = {hook}}), absl::OkStatus());
  EXPECT_THAT(Floats(ReadCheckpoint(Env::Default(), dir + "/model.ckpt-3")->variables.at(kKernel)), ElementsAre(7, 8));
  Estimator again(LineModel, Saved(dir));
  EXPECT_THAT(Floats(again.ReadVariables()->at(kBias)), ElementsAre(9));
}

// With the checkpoint of this very step on the disk.
TEST(Variables, AssignedBehindASaveOfTheSameStepAreSavedAgain) {
  const std::string dir = ModelDir();
  RunConfig config = Saved(dir);
  config.save_checkpoints_steps = 1;
  const auto hook = std::make_shared<StepHook>([&](RunContext& context, const RunValues&) {
    ASSERT_EQ(context.AssignVariables(Line(7, 8, 9)), absl::OkStatus());
  });
  ASSERT_EQ(Estimator(LineModel, config).Train(LineInput(), {.steps = 2, .hooks = {hook}}), absl::OkStatus());
  EXPECT_THAT(Floats(ReadCheckpoint(Env::Default(), dir + "/model.ckpt-2")->variables.at(kKernel)), ElementsAre(7, 8));
}

TEST(Variables, ThatDoNotFitAreAllNamedAtOnce) {
  Estimator estimator(LineModel, Unsaved());
  ASSERT_EQ(estimator.Train(LineInput(), {.steps = 1}), absl::OkStatus());
  const NamedTensors before = *estimator.ReadVariables();
  NamedTensors wrong = {{"dense/kernal", HostTensor::Zeros(DType::kFloat32, {2, 1})},
                        {kKernel, HostTensor::Zeros(DType::kFloat32, {3, 1})},
                        {kBias, HostTensor::Zeros(DType::kInt32, {1})},
                        {"none", HostTensor()}};
  const absl::Status status = estimator.AssignVariables(wrong);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(ErrorOf(status),
              AllOf(HasSubstr("AssignVariables: 4 of 4 values do not fit, and none is assigned"),
                    HasSubstr("\"dense/kernal\" is no variable of the model; did you mean \"dense/kernel\"?"),
                    HasSubstr("\"dense/kernel\" is float32[2,1], and is given float32[3,1]"),
                    HasSubstr("\"dense/bias\" is float32[1], and is given int32[1]"),
                    HasSubstr("\"none\" is given an empty tensor")));
  wrong = {{kKernel, HostTensor::Zeros(DType::kFloat32, {2, 1})}, {"x", HostTensor::Zeros(DType::kFloat32, {1})}};
  EXPECT_FALSE(estimator.AssignVariables(wrong).ok());
  EXPECT_TRUE(estimator.ReadVariables()->at(kKernel).BitEqual(before.at(kKernel)));
  const absl::Status read = estimator.ReadVariables({"dense/bia", kKernel, "y"}).status();
  EXPECT_EQ(read.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(ErrorOf(read), AllOf(HasSubstr("\"dense/bia\"; did you mean \"dense/bias\"?"), HasSubstr("\"y\"")));
}

TEST(Variables, ThatNoModelHasAreTheErrorOfTheTraining) {
  Estimator estimator(LineModel, Saved(ModelDir()));
  ASSERT_EQ(estimator.AssignVariables({{"dense/kernal", HostTensor::Zeros(DType::kFloat32, {2, 1})}}),
            absl::OkStatus());
  LogCapture log;
  Loss(estimator);
  EXPECT_TRUE(log.Contains("AssignVariables was given no variable of mode eval, but dense/kernal."));
  EXPECT_THAT(ErrorOf(estimator.Train(LineInput(), {.steps = 1})),
              HasSubstr("\"dense/kernal\" is no variable of the model; did you mean \"dense/kernel\"?"));
  EXPECT_EQ(estimator.Train(LineInput(), {.steps = 1}), absl::OkStatus());  // it is not kept
}

TEST(Variables, OfAHookAreThoseOfATraining) {
  Estimator estimator(LineModel, Unsaved());
  ASSERT_EQ(estimator.Train(LineInput(), {.steps = 1}), absl::OkStatus());
  const auto hook = std::make_shared<StepHook>([&](RunContext& context, const RunValues&) {
    EXPECT_THAT(ErrorOf(context.AssignVariables({})), HasSubstr("RunContext::AssignVariables is for the hooks of a"));
    EXPECT_EQ(context.ReadVariables().status().code(), absl::StatusCode::kFailedPrecondition);
  });
  ASSERT_TRUE(estimator.Evaluate(Once(), {.hooks = {hook}}).ok());
  EXPECT_GT(hook->calls, 0);
}

// The average of what was assigned begins with it; that of others goes on.
TEST(Variables, MovingAveragesOfAssignedOnesBeginAnew) {
  const ModelFn averaged = [](const Features& features, const Tensor& labels, Mode, const Params&) {
    Tensor loss = losses::MeanSquaredError(labels, layers::Dense(features["x"], {.units = 1}));
    return EstimatorSpec::Train(
        loss, optimizers::SGD({.learning_rate = 0.1}).WithMovingAverage({.decay = 0.5}).Minimize(loss));
  };
  Estimator estimator(averaged, Unsaved());
  const std::string of_kernel = MovingAverageName(kKernel), of_bias = MovingAverageName(kBias);
  const auto hook = std::make_shared<StepHook>([&](RunContext& context, const RunValues& values) {
    if (values.step != 3) return;
    const NamedTensors before = *context.ReadVariables({of_kernel, of_bias});
    ASSERT_EQ(context.AssignVariables({{kKernel, HostTensor::FromVector<float>({2, 1}, {5, 6})}}), absl::OkStatus());
    const NamedTensors after = *context.ReadVariables({of_kernel, of_bias});
    EXPECT_THAT(Floats(after.at(of_kernel)), ElementsAre(5, 6));
    EXPECT_TRUE(after.at(of_bias).BitEqual(before.at(of_bias)));
  });
  ASSERT_EQ(estimator.Train(LineInput(), {.steps = 5, .hooks = {hook}}), absl::OkStatus());
  EXPECT_EQ(hook->calls, 5);
}

TEST(Variables, TrainingGoesOnFromTheStepThatIsGiven) {
  Estimator estimator(LineModel, Unsaved());
  ASSERT_EQ(estimator.AssignVariables(Line(3, -2, 1), {.global_step = 40}), absl::OkStatus());
  EXPECT_EQ(estimator.global_step(), 0);  // until a training takes it
  ASSERT_EQ(estimator.Train(LineInput(), {.steps = 2}), absl::OkStatus());
  EXPECT_EQ(estimator.global_step(), 42);
  EXPECT_EQ(estimator.last_train_result()->global_step, 42);
  ASSERT_EQ(estimator.Train(LineInput(), {.max_steps = 43}), absl::OkStatus());
  EXPECT_EQ(estimator.last_train_result()->steps, 1);
}

TEST(Variables, AStepThatIsGivenMustBeOne) {
  Estimator estimator(LineModel, Unsaved());
  const absl::Status status = estimator.AssignVariables(Line(3, -2, 1), {.global_step = -1});
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(ErrorOf(status), HasSubstr("global_step is -1"));
  class AssignsStep : public SessionRunHook {
   public:
    explicit AssignsStep(Estimator* estimator) : estimator_(estimator) {}
    absl::Status AfterRun(RunContext&, const RunValues&) override {
      return estimator_->AssignVariables({}, {.global_step = 3});
    }

   private:
    Estimator* const estimator_;
  };
  const absl::Status inside =
      estimator.Train(LineInput(), {.steps = 2, .hooks = {std::make_shared<AssignsStep>(&estimator)}});
  EXPECT_EQ(inside.code(), absl::StatusCode::kFailedPrecondition) << inside;
  EXPECT_THAT(ErrorOf(inside), HasSubstr("global_step of a training that runs"));
}

}  // namespace
}  // namespace tandem
