#include "estimator/train_and_evaluate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "absl/strings/str_cat.h"
#include "base/exit_code.h"
#include "base/logging.h"
#include "estimator/checkpoint/done_marker.h"
#include "estimator/evaluation/eval_log.h"
#include "estimator/test_models.h"

namespace tandem {
namespace {

using namespace test;  // NOLINT: this file's vocabulary
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class TrainAndEvaluateTest : public ::testing::Test {
 protected:
  void SetUp() override {
    config_ = Config(ModelDir());
    config_.save_checkpoints_steps = 10;
  }
  absl::StatusOr<EvalResult> Run(int64_t max_steps, double throttle = 0, HookList hooks = {}) {
    Estimator estimator(LineModel, config_);
    auto result = TrainAndEvaluate(estimator, {.input_fn = LineInput(), .max_steps = max_steps, .hooks = hooks},
                                   {.input_fn = LineInput(64, 8, 1), .throttle_secs = throttle});
    programs_ = estimator.programs_built();
    return result;
  }
  // The steps that were evaluated, in order.
  std::vector<int64_t> Evaluated() {
    std::vector<int64_t> steps;
    for (int64_t step = 0; step <= 100; ++step) {
      if (FindEvalResult(Env::Default(), config_.model_dir + "/eval", step)->has_value()) steps.push_back(step);
    }
    return steps;
  }
  RunConfig config_;
  int64_t programs_ = 0;
};

TEST_F(TrainAndEvaluateTest, EvaluatesEachCheckpointAndTheFinalStep) {
  LogCapture log;
  auto result = Run(22);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_THAT(Evaluated(), ElementsAre(10, 20, 22));
  EXPECT_EQ(result->global_step(), 22);
  EXPECT_EQ(programs_, 2);
  EXPECT_TRUE(
      log.Contains("Checkpoint frequency is determined based on RunConfig arguments: save_checkpoints_steps 10"));
  auto done = ReadDoneMarker(Env::Default(), config_.model_dir);
  ASSERT_TRUE(done.ok() && done->has_value());
  EXPECT_EQ((*done)->final_step, 22);
  EXPECT_EQ((*done)->reason, "max_steps");
}

TEST_F(TrainAndEvaluateTest, ALongThrottleStillEvaluatesTheFinalStep) {
  ASSERT_TRUE(Run(42, 1e6).ok());
  EXPECT_THAT(Evaluated(), ElementsAre(10, 42));
}

// What cannot begin leaves a job that is done as it is; what begins does not.
TEST_F(TrainAndEvaluateTest, AStartThatIsRefusedKeepsDone) {
  ASSERT_TRUE(Run(12).ok());
  const auto other_model = [](const Features& features, const Tensor& labels, Mode mode, const Params& params) {
    Tensor y = layers::Dense(layers::Dense(features["x"], {.units = 3}), {.units = 1});
    Tensor loss = losses::MeanSquaredError(labels, y);
    if (mode == Mode::kEval) return EstimatorSpec::Eval(loss);
    return EstimatorSpec::Train(loss, optimizers::Adam({}).Minimize(loss));
  };
  const InputFn no_input = [](const InputContext&) -> absl::StatusOr<Dataset> {
    return absl::NotFoundError("no data there");
  };
  const InputFn eval_input = LineInput(64, 8, 1);
  Estimator other(other_model, config_), same(LineModel, config_);
  EXPECT_FALSE(TrainAndEvaluate(other, {.input_fn = LineInput(), .max_steps = 20}, {.input_fn = eval_input}).ok());
  EXPECT_FALSE(TrainAndEvaluate(same, {.input_fn = no_input, .max_steps = 20}, {.input_fn = eval_input}).ok());
  const auto done = ReadDoneMarker(Env::Default(), config_.model_dir);
  ASSERT_TRUE(done.ok() && done->has_value()) << done.status();
  EXPECT_EQ((*done)->final_step, 12);
  const auto fails = std::make_shared<StepHook>(
      [](RunContext& context, const RunValues&) { context.Fail(absl::InternalError("in the middle")); });
  EXPECT_FALSE(Run(20, 0, {fails}).ok());
  EXPECT_FALSE((*ReadDoneMarker(Env::Default(), config_.model_dir)).has_value());
}

TEST_F(TrainAndEvaluateTest, AtMaxStepsItReturnsWhatIsOnRecord) {
  auto first = Run(12);
  ASSERT_TRUE(first.ok()) << first.status();
  auto second = Run(12);
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_EQ(programs_, 0);
  EXPECT_EQ(second->metrics, first->metrics);
}

TEST_F(TrainAndEvaluateTest, AtMaxStepsAnUnevaluatedCheckpointIsEvaluated) {
  Estimator trainer(LineModel, config_);
  ASSERT_EQ(trainer.Train(LineInput(), {.max_steps = 12}), absl::OkStatus());
  auto result = Run(12);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_THAT(Evaluated(), ElementsAre(12));
  EXPECT_EQ(programs_, 1);
}

TEST_F(TrainAndEvaluateTest, TheBestEvaluationIsKeptWithTheCheckpoints) {
  auto result = Run(40);
  ASSERT_TRUE(result.ok()) << result.status();
  Estimator next(LineModel, config_);
  ASSERT_EQ(next.Train(LineInput(), {.steps = 1}), absl::OkStatus());
  ASSERT_TRUE(next.best().has_value());
  // That of 40 came after the last checkpoint, and is in the log.
  EXPECT_EQ(next.best()->global_step, 40);
  EXPECT_EQ(next.best()->loss, (*result)["loss"]);
}

TEST_F(TrainAndEvaluateTest, AnInterruptSavesAndAnotherStartGoesOn) {
  auto interrupt = std::make_shared<StepHook>([](RunContext& context, const RunValues&) {
    if (context.global_step() == 13) std::raise(SIGTERM);
  });
  EXPECT_EQ(ExitCodeFor(Run(22, 0, {interrupt}).status()), kExitTerminated);
  EXPECT_THAT(Evaluated(), ElementsAre(10));
  EXPECT_EQ(CheckpointNames(config_.model_dir).back(), "model.ckpt-13");
  EXPECT_FALSE((*ReadDoneMarker(Env::Default(), config_.model_dir)).has_value());
  ASSERT_TRUE(Run(22).ok());
  EXPECT_THAT(Evaluated(), ElementsAre(10, 22));
}

// A stop in the last evaluation, whether a result of an earlier step is there or not.
TEST_F(TrainAndEvaluateTest, AStopInTheLastEvaluationIsNoSuccess) {
  for (const auto& [throttle, signal, code] :
       {std::make_tuple(0.0, SIGTERM, kExitTerminated), std::make_tuple(1e6, SIGTERM, kExitTerminated),
        std::make_tuple(1e6, SIGINT, kExitInterrupted)}) {
    config_.model_dir = ModelDir(absl::StrCat(throttle, signal));
    auto stop = std::make_shared<StepHook>([signal = signal](RunContext& context, const RunValues&) {
      if (context.global_step() == 22) std::raise(signal);
    });
    Estimator estimator(LineModel, config_);
    auto result = TrainAndEvaluate(estimator, {.input_fn = LineInput(), .max_steps = 22},
                                   {.input_fn = LineInput(64, 8, 1), .hooks = {stop}, .throttle_secs = throttle});
    EXPECT_EQ(ExitCodeFor(result.status()), code) << result.status();
    EXPECT_EQ(Evaluated().back(), throttle == 0 ? 20 : 10);
    EXPECT_EQ(CheckpointNames(config_.model_dir).back(), "model.ckpt-22");
    EXPECT_FALSE((*ReadDoneMarker(Env::Default(), config_.model_dir)).has_value());
    auto again = Run(22);
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(again->global_step(), 22);
    EXPECT_TRUE((*ReadDoneMarker(Env::Default(), config_.model_dir)).has_value());
  }
}

// With nothing evaluated before, and when the evaluation had ended already.
TEST_F(TrainAndEvaluateTest, AStopAtTheOnlyEvaluation) {
  for (int stop_at : {1, 8}) {
    config_.model_dir = ModelDir(absl::StrCat(stop_at));
    int batches = 0;
    auto stop = std::make_shared<StepHook>([&](RunContext&, const RunValues&) {
      if (++batches == stop_at) std::raise(SIGTERM);
    });
    Estimator estimator(LineModel, config_);
    auto result = TrainAndEvaluate(estimator, {.input_fn = LineInput(), .max_steps = 9},
                                   {.input_fn = LineInput(64, 8, 1), .hooks = {stop}, .throttle_secs = 1e6});
    EXPECT_EQ(ExitCodeFor(result.status()), kExitTerminated) << stop_at << ": " << result.status();
    EXPECT_FALSE((*ReadDoneMarker(Env::Default(), config_.model_dir)).has_value());
  }
}

// Raises a signal when it is asked for an export of the last step.
class RaisingExporter : public Exporter {
 public:
  explicit RaisingExporter(bool at_end) : at_end_(at_end) {}
  std::string name() const override { return "raising"; }
  absl::StatusOr<std::string> Export(Estimator&, const ExportRequest& request) override {
    if (request.evaluation.global_step() == 22 && request.is_final == at_end_) std::raise(SIGTERM);
    return std::string();
  }

 private:
  const bool at_end_;
};

// The job is done, and its caller hears of the signal.
TEST_F(TrainAndEvaluateTest, AStopBehindTheLastEvaluation) {
  for (const bool at_end : {false, true}) {
    config_.model_dir = ModelDir(absl::StrCat("at_end_", at_end));
    Estimator estimator(LineModel, config_);
    const auto result =
        TrainAndEvaluate(estimator, {.input_fn = LineInput(), .max_steps = 22},
                         {.input_fn = LineInput(64, 8, 1), .exporters = {std::make_shared<RaisingExporter>(at_end)}});
    EXPECT_EQ(ExitCodeFor(result.status()), kExitTerminated) << result.status();
    EXPECT_EQ(Evaluated().back(), 22);
    const auto done = ReadDoneMarker(Env::Default(), config_.model_dir);
    ASSERT_TRUE(done.ok() && done->has_value()) << done.status();
    EXPECT_EQ((*done)->reason, "max_steps");
    const auto again = Run(22);
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(again->global_step(), 22);
    EXPECT_EQ(programs_, 0);
  }
}

// One that the chief gets when a task of its own evaluates.
TEST_F(TrainAndEvaluateTest, AStopBehindATrainingWithoutEvaluations) {
  class StopAtEnd : public SessionRunHook {
   public:
    std::string name() const override { return "StopAtEnd"; }
    absl::Status End(RunContext&) override {
      std::raise(SIGTERM);
      return absl::OkStatus();
    }
  };
  Cluster cluster{.source = "the test"};
  cluster.addresses = {{TaskType::kChief, {"localhost:1"}}, {TaskType::kEvaluator, {"localhost:2"}}};
  config_.cluster = cluster;
  EXPECT_EQ(ExitCodeFor(Run(12, 0, {std::make_shared<StopAtEnd>()}).status()), kExitTerminated);
  EXPECT_TRUE((*ReadDoneMarker(Env::Default(), config_.model_dir)).has_value());
}

// How a job is stopped.
struct Stop {
  std::string where;
  int64_t save_steps = 10;
  double throttle = 0;
  HookList train_hooks = {}, eval_hooks = {};
  ExporterList exporters = {};
};

// Jobs without max_steps, which end with their input: 8 steps an epoch.
class JobToTheEndOfInput : public TrainAndEvaluateTest {
 protected:
  static constexpr int64_t kEpochs = 3, kLast = 8 * kEpochs;

  absl::StatusOr<EvalResult> Run(const Stop& stop = {}, int64_t epochs = kEpochs) {
    config_.save_checkpoints_steps = stop.save_steps;
    Estimator estimator(LineModel, config_);
    auto result = TrainAndEvaluate(estimator, {.input_fn = LineInput(64, 8, epochs), .hooks = stop.train_hooks},
                                   {.input_fn = LineInput(64, 8, 1),
                                    .hooks = stop.eval_hooks,
                                    .throttle_secs = stop.throttle,
                                    .exporters = stop.exporters});
    trained_ = estimator.last_train_result();
    return result;
  }
  void ExpectDone(int64_t last) {
    const auto done = ReadDoneMarker(Env::Default(), config_.model_dir);
    ASSERT_TRUE(done.ok() && done->has_value()) << done.status();
    EXPECT_EQ((*done)->final_step, last);
    EXPECT_EQ((*done)->reason, "end of input");
    EXPECT_EQ(CheckpointNames(config_.model_dir).back(), absl::StrCat("model.ckpt-", last));
    EXPECT_EQ(ReadUnfinishedMarker(Env::Default(), config_.model_dir).value(), std::nullopt);
  }
  std::optional<TrainResult> trained_;
};

HookList At(int64_t step, std::function<void(RunContext&)> fn) {
  return {std::make_shared<StepHook>([=](RunContext& context, const RunValues&) {
    if (context.global_step() == step) fn(context);
  })};
}
HookList SignalAt(int64_t step) {
  return At(step, [](RunContext&) { std::raise(SIGTERM); });
}
HookList FailureAt(int64_t step) {
  return At(step, [](RunContext& context) { context.Fail(absl::InternalError("a failure")); });
}

// At the last step as its exports are asked for: fails, or raises a signal.
class LastExporter : public Exporter {
 public:
  explicit LastExporter(bool fails) : fails_(fails) {}
  std::string name() const override { return "last"; }
  bool required() const override { return true; }
  absl::StatusOr<std::string> Export(Estimator&, const ExportRequest& request) override {
    if (!request.is_final) return std::string();
    if (fails_) return absl::UnavailableError("no room");
    std::raise(SIGTERM);
    return std::string();
  }

 private:
  const bool fails_;
};

// However it was interrupted: the second start does what was left, and trains nothing.
TEST_F(JobToTheEndOfInput, IsNotTrainedAgainAfterAnInterruptionBehindItsSteps) {
  const auto plain = Run();
  ASSERT_TRUE(plain.ok()) << plain.status();
  ExpectDone(kLast);
  const std::vector<Stop> stops = {
      {.where = "last evaluation", .eval_hooks = SignalAt(kLast)},
      {.where = "only evaluation", .save_steps = 100, .throttle = 1e6, .eval_hooks = SignalAt(kLast)},
      {.where = "evaluation of a checkpoint that was due", .save_steps = 8, .eval_hooks = SignalAt(kLast)},
      {.where = "crash in the evaluation", .save_steps = 8, .eval_hooks = FailureAt(kLast)},
      {.where = "last step", .train_hooks = SignalAt(kLast)},
      {.where = "final export", .exporters = {std::make_shared<LastExporter>(/*fails=*/false)}},
      {.where = "failed final export", .exporters = {std::make_shared<LastExporter>(/*fails=*/true)}},
  };
  for (size_t i = 0; i < stops.size(); ++i) {
    SCOPED_TRACE(stops[i].where);
    config_.model_dir = ModelDir(absl::StrCat(i));
    EXPECT_FALSE(Run(stops[i]).ok());
    EXPECT_EQ(ReadUnfinishedMarker(Env::Default(), config_.model_dir).value(), 0);
    const auto again = Run({.save_steps = stops[i].save_steps});
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(trained_->steps, 0);
    EXPECT_EQ(again->metrics, plain->metrics);
    ExpectDone(kLast);
    // A job that is done is another pass when it is called again.
    ASSERT_TRUE(Run().ok());
    ExpectDone(2 * kLast);
  }
}

TEST_F(JobToTheEndOfInput, EvaluationsBySteps) {
  Estimator first(LineModel, config_), second(LineModel, config_);
  const auto run = [](Estimator& estimator, HookList hooks) {
    return TrainAndEvaluate(estimator, {.input_fn = LineInput(64, 8, kEpochs)},
                            {.input_fn = LineInput(64, 8, 1), .hooks = std::move(hooks), .every_epochs = 1});
  };
  EXPECT_FALSE(run(first, SignalAt(kLast)).ok());
  const auto again = run(second, {});
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->global_step(), kLast);
  ExpectDone(kLast);
}

TEST_F(JobToTheEndOfInput, GoesOnWithMoreEpochs) {
  EXPECT_FALSE(Run({.eval_hooks = SignalAt(kLast)}).ok());
  ASSERT_TRUE(Run({}, kEpochs + 1).ok());
  ExpectDone(kLast + 8);
}

// The second pass has made no checkpoint yet: the one that is there is the end of the first.
TEST_F(JobToTheEndOfInput, ASecondPassThatHasHardlyBegunIsTrained) {
  ASSERT_TRUE(Run().ok());
  EXPECT_FALSE(Run({.train_hooks = FailureAt(kLast + 2)}).ok());
  EXPECT_EQ(ReadUnfinishedMarker(Env::Default(), config_.model_dir).value(), kLast);
  ASSERT_TRUE(Run().ok());
  ExpectDone(2 * kLast);
}

// Train begins its input again, as ever, and so does a job behind it.
TEST_F(JobToTheEndOfInput, TrainingByHandBetweenIsAnotherPass) {
  EXPECT_FALSE(Run({.eval_hooks = SignalAt(kLast)}).ok());
  Estimator by_hand(LineModel, config_);
  ASSERT_EQ(by_hand.Train(LineInput(64, 8, kEpochs)), absl::OkStatus());
  EXPECT_EQ(by_hand.last_train_result()->global_step, 2 * kLast);
  ASSERT_TRUE(Run().ok());
  ExpectDone(3 * kLast);
}

TEST_F(TrainAndEvaluateTest, RefusesNonsense) {
  Estimator estimator(LineModel, config_);
  const EvalSpec eval{.input_fn = LineInput(64, 8, 1)};
  for (const TrainSpec& train : {TrainSpec{}, TrainSpec{.input_fn = LineInput(), .max_steps = 0}}) {
    EXPECT_EQ(ExitCodeFor(TrainAndEvaluate(estimator, train, eval).status()), kExitUsage);
  }
  const TrainSpec train{.input_fn = LineInput(), .max_steps = 1};
  for (const EvalSpec& bad : {EvalSpec{}, EvalSpec{.input_fn = LineInput(), .steps = 0},
                              EvalSpec{.input_fn = LineInput(), .throttle_secs = -1}}) {
    EXPECT_EQ(ExitCodeFor(TrainAndEvaluate(estimator, train, bad).status()), kExitUsage);
  }
  config_.save_checkpoints_steps = 0;
  Estimator no_checkpoints(LineModel, config_);
  EXPECT_THAT(std::string(TrainAndEvaluate(no_checkpoints, train, eval).status().message()),
              HasSubstr("save_checkpoints_steps"));
}

}  // namespace
}  // namespace tandem
