// A training whose steps come from a loop of the test's own, against Estimator::Train.
#include "estimator/monitored_training_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/logging.h"
#include "base/status_macros.h"
#include "estimator/test_models.h"

namespace tandem {
namespace {

using namespace test;  // NOLINT: this file's vocabulary
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Session = MonitoredTrainingSession;

// Dropout and a shuffled input, so that seeds and positions matter.
EstimatorSpec Model(const Features& features, const Tensor& labels, Mode mode, const Params& params) {
  Tensor x = layers::Dense(features["x"], {.units = 6, .activation = Relu});
  x = layers::Dropout(x, {.rate = 0.2, .training = mode == Mode::kTrain});
  Tensor loss = losses::MeanSquaredError(labels, layers::Dense(x, {.units = 1}));
  if (mode == Mode::kEval) return EstimatorSpec::Eval(loss);
  return EstimatorSpec::Train(loss, optimizers::Adam({.learning_rate = 0.05}).Minimize(loss));
}

InputFn Input(int64_t epochs = 3) { return LineInput(50, 8, epochs, /*shuffle=*/20); }

RunConfig SavingConfig(const std::string& dir, int replicas = 2) {
  RunConfig config = Config(dir, replicas);
  config.save_checkpoints_steps = 4;
  return config;
}

// Of the newest checkpoint: variables, slots, position and all.
std::string Bytes(const std::string& dir, const std::vector<std::string>& files = {"variables.safetensors",
                                                                                   "slots.safetensors", "state.json"}) {
  const auto latest = CheckpointManager(Env::Default(), dir).LatestCheckpoint();
  EXPECT_TRUE(latest.ok() && latest->has_value()) << latest.status();
  std::string bytes = BaseName(**latest);
  for (const std::string& name : files) bytes += *Env::Default()->ReadFile(JoinPath(**latest, name));
  return bytes;
}

// Makes at most `steps` steps (-1: all) and closes.
absl::Status Loop(Session& session, int64_t steps = -1) {
  for (int64_t i = 0; i != steps && !session.ShouldStop(); ++i) TD_RETURN_IF_ERROR(session.Run().status());
  return session.Close();
}

TEST(MonitoredTrainingSession, AfterItsEstimatorIsAnError) {
  for (const bool prepared : {false, true}) {
    auto estimator = std::make_unique<Estimator>(Model, SavingConfig(ModelDir()));
    auto started = Session::Start(*estimator, Input());
    ASSERT_TRUE(started.ok()) << started.status();
    Session& session = **started;
    ASSERT_TRUE(session.Run().ok());
    if (prepared) {
      EXPECT_FALSE(session.ShouldStop());
    }
    estimator = nullptr;
    EXPECT_FALSE(session.ShouldStop());
    for (const absl::Status& status : {session.Run().status(), session.Close()}) {
      EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
      EXPECT_THAT(std::string(status.message()), HasSubstr("its Estimator is gone; keep it until"));
    }
    EXPECT_EQ(session.global_step(), 1);
  }
}

TEST(MonitoredTrainingSession, TrainsToTheBitsOfTrain) {
  for (const int replicas : {1, 2}) {
    const std::string by_train = ModelDir("train"), by_loop = ModelDir("loop");
    ASSERT_EQ(Estimator(Model, SavingConfig(by_train, replicas)).Train(Input()), absl::OkStatus());
    Estimator estimator(Model, SavingConfig(by_loop, replicas));
    auto session = Session::Start(estimator, Input());
    ASSERT_TRUE(session.ok()) << session.status();
    ASSERT_EQ(Loop(**session), absl::OkStatus());
    EXPECT_EQ(Bytes(by_loop), Bytes(by_train));
    EXPECT_EQ(CheckpointNames(by_loop), CheckpointNames(by_train));
    EXPECT_EQ(estimator.last_train_result()->reason, StopReason::kEndOfInput);
  }
}

// What is saved between two steps is what a training goes on from, its position in the input included.
TEST(MonitoredTrainingSession, SavesWhenItIsAsked) {
  RunConfig config = SavingConfig(ModelDir("saved"));
  config.save_checkpoints_steps = 1000;
  {
    Estimator estimator(Model, config);
    auto session = Session::Start(estimator, Input());
    ASSERT_TRUE(session.ok()) << session.status();
    for (int i = 0; i < 3; ++i) ASSERT_TRUE((*session)->Run().ok());
    ASSERT_EQ((*session)->Save(), absl::OkStatus());
    EXPECT_EQ(CheckpointNames(config.model_dir), (std::vector<std::string>{"model.ckpt-0", "model.ckpt-3"}));
    ASSERT_EQ((*session)->Save(), absl::OkStatus()) << "it is saved already";
    EXPECT_FALSE((*session)->ShouldStop());
    EXPECT_THAT((*session)->Save().message(), HasSubstr("has prepared the next step, whose batches are drawn"));
    ASSERT_TRUE((*session)->Run().ok()) << "no step is lost by that mistake";
  }  // without Close: step 4 is lost
  Estimator other(Model, config);
  ASSERT_EQ(other.Train(Input()), absl::OkStatus());
  RunConfig plain = SavingConfig(ModelDir("plain"));
  ASSERT_EQ(Estimator(Model, plain).Train(Input()), absl::OkStatus());
  EXPECT_EQ(Bytes(config.model_dir), Bytes(plain.model_dir));
}

TEST(MonitoredTrainingSession, SavesNothingWhereThatCannotBe) {
  RunConfig config = SavingConfig(ModelDir());
  config.save_checkpoints_steps = 0;
  Estimator estimator(Model, config);
  auto session = Session::Start(estimator, Input());
  ASSERT_TRUE(session.ok()) << session.status();
  ASSERT_TRUE((*session)->Run().ok());
  EXPECT_THAT((*session)->Save().message(), HasSubstr("checkpoints are off; set RunConfig.save_checkpoints_steps"));
  ASSERT_EQ((*session)->Close(), absl::OkStatus());
  EXPECT_THAT((*session)->Save().message(), HasSubstr("it is closed"));
}

TEST(MonitoredTrainingSession, GivesTheValuesOfEachStep) {
  const std::string dir = ModelDir();
  Estimator estimator(Model, SavingConfig(dir, 1));
  std::vector<std::string> calls;
  auto hook = std::make_shared<StepHook>([&](RunContext&, const RunValues&) { calls.push_back("hook"); });
  auto session = Session::Start(estimator, Input(-1), {.max_steps = 3, .hooks = {hook}}, {"dense/Relu"});
  ASSERT_TRUE(session.ok()) << session.status();
  while (!(*session)->ShouldStop()) {
    EXPECT_FALSE((*session)->ShouldStop()) << "asking again prepares nothing more";
    const auto values = (*session)->Run();
    ASSERT_TRUE(values.ok()) << values.status();
    calls.push_back("loop");
    EXPECT_EQ(values->examples, 8);
    EXPECT_GT(values->Number("loss"), 0);
    EXPECT_EQ(values->Number("global_step"), (*session)->global_step());
    EXPECT_EQ(values->tensors.at("dense/Relu").shape(), (Shape{8, 6}));
    EXPECT_EQ(values->tensors.size(), 3u) << "not what hooks fetch";
  }
  EXPECT_THAT(calls, ElementsAre("hook", "loop", "hook", "loop", "hook", "loop"));
  EXPECT_THAT((*session)->Run().status().message(), HasSubstr("there is no step left"));
  EXPECT_EQ((*session)->Close(), absl::OkStatus());
  EXPECT_THAT((*session)->Close().message(), HasSubstr("closed already"));
  EXPECT_TRUE((*session)->ShouldStop());
  EXPECT_EQ((*session)->global_step(), 3);
  EXPECT_THAT(CheckpointNames(dir), ElementsAre("model.ckpt-0", "model.ckpt-3"));
}

TEST(MonitoredTrainingSession, ALoopThatIsLeftGoesOnLater) {
  const std::string whole = ModelDir("whole"), parts = ModelDir("parts");
  ASSERT_EQ(Estimator(Model, SavingConfig(whole)).Train(Input()), absl::OkStatus());
  // In processes of its own each, as it were; once in the same.
  for (const int64_t steps : {3, 1, -1}) {
    Estimator estimator(Model, SavingConfig(parts));
    auto session = Session::Start(estimator, Input());
    ASSERT_TRUE(session.ok()) << session.status();
    ASSERT_EQ(Loop(**session, steps), absl::OkStatus());
    if (steps == -1) break;
    EXPECT_EQ(estimator.last_train_result()->reason, StopReason::kStopRequested);
    session = Session::Start(estimator, Input());
    ASSERT_TRUE(session.ok()) << session.status();
    ASSERT_EQ(Loop(**session, 1), absl::OkStatus());
  }
  EXPECT_EQ(Bytes(parts), Bytes(whole));
}

// while (!session->ShouldStop() && loss > good) ...: the step that ShouldStop has prepared is made, and nothing is
// lost.
TEST(MonitoredTrainingSession, APreparedStepIsNotLost) {
  const std::string dir = ModelDir("loop"), plain = ModelDir("plain");
  Estimator estimator(Model, SavingConfig(dir));
  auto session = Session::Start(estimator, Input());
  ASSERT_TRUE(session.ok()) << session.status();
  for (int i = 0; !(*session)->ShouldStop() && i < 5; ++i) ASSERT_TRUE((*session)->Run().ok());
  EXPECT_EQ((*session)->Close(), absl::OkStatus());
  EXPECT_EQ(estimator.last_train_result()->global_step, 6);
  ASSERT_EQ(Estimator(Model, SavingConfig(plain)).Train(Input(), {.steps = 6}), absl::OkStatus());
  EXPECT_EQ(Bytes(dir), Bytes(plain));
}

TEST(MonitoredTrainingSession, WithoutCloseTheLastCheckpointStands) {
  const std::string dir = ModelDir();
  Estimator estimator(Model, SavingConfig(dir));
  {
    auto session = Session::Start(estimator, Input());
    ASSERT_TRUE(session.ok()) << session.status();
    for (int i = 0; i < 6; ++i) ASSERT_TRUE((*session)->Run().ok());
    const absl::Status second = estimator.Train(Input());
    EXPECT_THAT(second.message(), HasSubstr("before a MonitoredTrainingSession was closed"));
    LogCapture log;
    session->reset();
    EXPECT_TRUE(log.Contains("ends without Close"));
  }
  EXPECT_THAT(CheckpointNames(dir), ElementsAre("model.ckpt-0", "model.ckpt-4"));
  ASSERT_EQ(estimator.Train(Input()), absl::OkStatus());
  const std::string whole = ModelDir("whole");
  ASSERT_EQ(Estimator(Model, SavingConfig(whole)).Train(Input()), absl::OkStatus());
  EXPECT_EQ(Bytes(dir), Bytes(whole));
}

TEST(MonitoredTrainingSession, NothingToTrain) {
  const std::string dir = ModelDir();
  Estimator estimator(Model, SavingConfig(dir));
  ASSERT_EQ(estimator.Train(Input(), {.max_steps = 2}), absl::OkStatus());
  auto session = Session::Start(estimator, Input(), {.max_steps = 2});
  ASSERT_TRUE(session.ok()) << session.status();
  EXPECT_TRUE((*session)->ShouldStop());
  EXPECT_EQ((*session)->global_step(), 2);
  EXPECT_FALSE((*session)->Run().ok());
  EXPECT_EQ((*session)->Close(), absl::OkStatus());
}

TEST(MonitoredTrainingSession, EvaluatesBetweenSteps) {
  const std::string dir = ModelDir("evaluated"), plain = ModelDir("plain");
  Estimator estimator(Model, SavingConfig(dir));
  auto session = Session::Start(estimator, Input(), {.steps = 6});
  ASSERT_TRUE(session.ok()) << session.status();
  std::vector<double> losses;
  while (!(*session)->ShouldStop()) {
    ASSERT_TRUE((*session)->Run().ok());
    const auto result = estimator.Evaluate(LineInput(16, 8, 1));
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(result->global_step(), (*session)->global_step());
    losses.push_back(result->metrics.at("loss"));
  }
  ASSERT_EQ((*session)->Close(), absl::OkStatus());
  EXPECT_EQ(losses.size(), 6u);
  EXPECT_NE(losses.front(), losses.back());
  ASSERT_EQ(Estimator(Model, SavingConfig(plain)).Train(Input(), {.steps = 6}), absl::OkStatus());
  const std::vector<std::string> weights = {"variables.safetensors", "slots.safetensors"};
  EXPECT_EQ(Bytes(dir, weights), Bytes(plain, weights));  // the rest has the best evaluation
}

TEST(MonitoredTrainingSession, ErrorsComeAgain) {
  Estimator estimator(Model, SavingConfig(ModelDir()));
  const InputFn broken = [](const InputContext& context) -> absl::StatusOr<Dataset> {
    return Input(-1)(context)->Map(
        [](const Element& e) -> absl::StatusOr<Element> {
          static int calls = 0;
          if (++calls > 8) return absl::DataLossError("a broken batch");
          return e;
        },
        {.spec = Input(-1)(context)->spec()});
  };
  auto session = Session::Start(estimator, broken);
  ASSERT_TRUE(session.ok()) << session.status();
  int64_t steps = 0;
  absl::Status status;
  while (!(*session)->ShouldStop()) {
    status = (*session)->Run().status();
    if (!status.ok()) break;
    ++steps;
  }
  EXPECT_GE(steps, 1);
  EXPECT_THAT(status.message(), HasSubstr("a broken batch"));
  EXPECT_FALSE((*session)->ShouldStop());
  EXPECT_EQ((*session)->Run().status(), status);
  EXPECT_EQ((*session)->Close(), status);
}

TEST(MonitoredTrainingSession, MistakesAreNamed) {
  Estimator estimator(Model, SavingConfig(ModelDir()));
  EXPECT_THAT(Session::Start(estimator, nullptr).status().message(), HasSubstr("no input_fn"));
  EXPECT_THAT(Session::Start(estimator, Input(), {.steps = 0}).status().message(), HasSubstr("steps must be positive"));
  const absl::Status unknown = Session::Start(estimator, Input(), {}, {"dense/Rely"}).status();
  EXPECT_THAT(unknown.message(), HasSubstr("dense/Rely"));
  EXPECT_THAT(unknown.message(), HasSubstr("MonitoredTrainingSession"));
  RunConfig compile = SavingConfig(ModelDir("compile"));
  compile.compile_only = true;
  Estimator compiles(Model, compile);
  EXPECT_THAT(Session::Start(compiles, Input()).status().message(), HasSubstr("compile_only is set"));
}

}  // namespace
}  // namespace tandem
