// Learning rates that change while a training runs: by hooks and by ReduceOnPlateau.
#include <cmath>
#include <csignal>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "base/exit_code.h"
#include "base/logging.h"
#include "estimator/checkpoint/checkpoint.h"
#include "estimator/test_models.h"
#include "estimator/train_and_evaluate.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tandem {
namespace {

using test::Config;
using test::ModelDir;
using test::StepHook;
using testing::ElementsAre;
using testing::HasSubstr;

// w -= rate, so that the sum of all rates can be seen. The loss of evaluations is a step function of w.
EstimatorSpec Counter(const Features& features, const Tensor& labels, Mode mode, const Params& params) {
  GraphBuilder* graph = features.graph();
  Tensor w = graph->Variable({.name = "w"});
  Tensor loss = w + ReduceMean(features["value"]) * 0.0;
  if (mode == Mode::kEval) return EstimatorSpec::Eval(Floor(loss));
  LearningRate rate = 0.125;
  if (params.Bool("schedule", false))
    rate = schedules::ExponentialDecay({.initial_learning_rate = 0.1, .decay_steps = 10});
  return EstimatorSpec::Train(loss, optimizers::SGD({.learning_rate = rate}).Minimize(loss));
}

InputFn Numbers(int64_t epochs = -1) {
  return [=](const InputContext&) -> absl::StatusOr<Dataset> {
    return Dataset::FromTensorSlices({{"value", HostTensor::FromVector<float>({4}, {1, 2, 3, 4})}})
        .Repeat(epochs)
        .Batch(2);
  };
}

RunConfig Saving(const std::string& dir, int64_t steps) {
  RunConfig config = Config(dir);
  config.save_checkpoints_steps = steps;
  config.keep_checkpoint_max = 0;
  return config;
}

float WeightAt(const std::string& dir, int64_t step) {
  absl::StatusOr<CheckpointData> data = ReadCheckpoint(Env::Default(), dir + "/model.ckpt-" + std::to_string(step));
  EXPECT_TRUE(data.ok()) << data.status();
  return data.ok() ? data->variables.at("w").data<float>()[0] : std::numeric_limits<float>::quiet_NaN();
}

// Halves the rate before every third step, as a function of the rate itself.
class Halving : public SessionRunHook {
 public:
  std::vector<std::string> BeforeRun(RunContext& context) override {
    if (context.global_step() == 0 || context.global_step() % 3 != 0) return {};
    const absl::StatusOr<double> rate = context.StepScalar();
    EXPECT_TRUE(rate.ok()) << rate.status();
    context.Fail(context.SetStepScalar("learning_rate", *rate / 2));
    return {};
  }
};

TEST(StepScalarsTest, AHookSetsARateAndARestartKeepsIt) {
  const std::string dir = ModelDir("restarted"), whole = ModelDir("whole");
  // Checkpoints of steps 1, 3, 5, ... and the last one: a restart right where the rate changes, and elsewhere.
  for (int64_t last : {3, 5, 11}) {
    Estimator estimator(Counter, Saving(dir, 2));
    ASSERT_TRUE(estimator.Train(Numbers(), {.max_steps = last, .hooks = {std::make_shared<Halving>()}}).ok());
  }
  Estimator estimator(Counter, Saving(whole, 2));
  ASSERT_TRUE(estimator.Train(Numbers(), {.max_steps = 11, .hooks = {std::make_shared<Halving>()}}).ok());
  // 0.125 for steps 0 to 2, then half of it for three steps, and so on.
  const float sum = 3 * 0.125f + 3 * 0.0625f + 3 * 0.03125f + 2 * 0.015625f;
  EXPECT_EQ(WeightAt(dir, 11), -sum);
  EXPECT_EQ(WeightAt(whole, 11), -sum);
}

// Halves the rate where an epoch of two steps begins, but for the first.
class HalvingByEpochs : public SessionRunHook {
 public:
  std::vector<std::string> BeforeRun(RunContext& context) override {
    if (context.global_step() == 0 || context.global_step() % 2 != 0) return {};
    context.Fail(context.SetStepScalar("learning_rate", *context.StepScalar() / 2));
    return {};
  }
};

// The input ends where BeforeRun has set a rate for a step that is not run, and the next training sets it again.
TEST(StepScalarsTest, ARateForAStepThatIsNotRunIsNotSet) {
  for (int64_t save_steps : {1, 2, 100}) {
    SCOPED_TRACE(save_steps);
    const std::string by_epochs = ModelDir("by_epochs"), whole = ModelDir("whole");
    const auto weight = [](Estimator& estimator) { return *estimator.GetVariableValue("w")->data<float>(); };
    Estimator epochs(Counter, Saving(by_epochs, save_steps)), all(Counter, Saving(whole, save_steps));
    for (int epoch = 0; epoch < 3; ++epoch) {
      ASSERT_TRUE(epochs.Train(Numbers(1), {.hooks = {std::make_shared<HalvingByEpochs>()}}).ok());
    }
    ASSERT_TRUE(all.Train(Numbers(3), {.hooks = {std::make_shared<HalvingByEpochs>()}}).ok());
    EXPECT_EQ(weight(epochs), -(2 * 0.125f + 2 * 0.0625f + 2 * 0.03125f));
    EXPECT_EQ(weight(all), weight(epochs));
  }
}

TEST(StepScalarsTest, WhatAHookSetsAfterAStepCountsFromTheNext) {
  const std::string dir = ModelDir();
  auto hook = std::make_shared<StepHook>([](RunContext& context, const RunValues& values) {
    if (values.step == 1) {
      EXPECT_TRUE(context.SetStepScalar("learning_rate", 1).ok());
    }
  });
  Estimator estimator(Counter, Saving(dir, 100));
  ASSERT_TRUE(estimator.Train(Numbers(), {.max_steps = 4, .hooks = {hook}}).ok());
  EXPECT_EQ(WeightAt(dir, 4), -2.25f);
}

TEST(StepScalarsTest, AScalarThatNothingSetsIsAnError) {
  for (const auto& [name, remedy] :
       {std::pair("globl_step", "would always be 0; did you mean \"global_step\"? Otherwise give it a default"),
        std::pair("temperature", "would always be 0; give it a default, which hooks may change")}) {
    int line = 0;
    Estimator estimator(
        [&](const Features& features, const Tensor&, Mode, const Params&) {
          line = __LINE__ + 1;
          Tensor step = features.graph()->StepScalar(name, DType::kInt64);
          return EstimatorSpec::Eval(ReduceMean(features["value"]) + Cast(step, DType::kFloat32));
        },
        Saving(ModelDir(name), 100));
    const absl::Status status = estimator.Evaluate(test::NumbersInput(8, 4)).status();
    EXPECT_THAT(std::string(status.message()),
                HasSubstr(absl::StrCat("the step scalar \"", name, "\" at estimator/step_scalars_test.cc:", line)));
    EXPECT_THAT(std::string(status.message()), HasSubstr(remedy));
  }
  // One with a default, also where it is asked for again, and those of the runtime.
  Estimator estimator(
      [](const Features& features, const Tensor&, Mode, const Params&) {
        GraphBuilder* graph = features.graph();
        Tensor sum = graph->StepScalar("temperature", DType::kFloat32);
        graph->StepScalar("temperature", DType::kFloat32, 0.5);
        for (const char* name : {"global_step", "seed"}) {
          sum = sum + Mul(Cast(graph->StepScalar(name, DType::kInt64), DType::kFloat32), 0.0);
        }
        for (const char* name : {"example_count", "replica_example_count"}) {
          sum = sum + Mul(graph->StepScalar(name, DType::kFloat32), 0.0);
        }
        sum = sum + Mul(Cast(graph->StepScalar("replica_index", DType::kInt32), DType::kFloat32), 0.0);
        return EstimatorSpec::Eval(ReduceMean(Mul(features["value"], 0.0)) + sum);
      },
      Saving(ModelDir("fine"), 100));
  auto result = estimator.Evaluate(test::NumbersInput(8, 4));
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ((*result)["loss"], 0.5);
}

TEST(StepScalarsTest, MistakesAreNamed) {
  std::vector<std::string> errors;
  auto hook = std::make_shared<StepHook>([&](RunContext& context, const RunValues&) {
    for (const absl::Status& status :
         {context.SetStepScalar("learning_rate", -1), context.SetStepScalar("learning_rate", NAN),
          context.SetStepScalar("rate", 1), context.StepScalar("global_step").status()}) {
      errors.emplace_back(status.message());
    }
  });
  Estimator estimator(Counter, Saving(ModelDir(), 100));
  ASSERT_TRUE(estimator.Train(Numbers(), {.max_steps = 1, .hooks = {hook}}).ok());
  EXPECT_THAT(errors, ElementsAre(HasSubstr("a finite number of at least 0, got -1"), HasSubstr("got nan"),
                                  HasSubstr("no number \"rate\" that may change between steps; it has learning_rate"),
                                  HasSubstr("no number \"global_step\"")));
  errors.clear();
  const Params schedule = {{"schedule", true}};
  Estimator scheduled(Counter, Saving(ModelDir("schedule"), 100), schedule);
  ASSERT_TRUE(scheduled.Train(Numbers(), {.max_steps = 1, .hooks = {hook}}).ok());
  EXPECT_THAT(errors[0], HasSubstr("a learning rate that is a schedule follows from the global step"));
  absl::Status in_eval;
  auto eval_hook = std::make_shared<StepHook>(
      [&](RunContext& context, const RunValues&) { in_eval = context.SetStepScalar("learning_rate", 1); });
  ASSERT_TRUE(estimator.Evaluate(Numbers(1), {.hooks = {eval_hook}}).ok());
  EXPECT_THAT(std::string(in_eval.message()), HasSubstr("between steps of a training only"));
  const absl::StatusOr<EvalResult> plateau =
      TrainAndEvaluate(scheduled, {.input_fn = Numbers(), .max_steps = 3, .reduce_on_plateau = ReduceOnPlateau{}},
                       {.input_fn = Numbers(1)});
  EXPECT_THAT(std::string(plateau.status().message()), HasSubstr("no learning rate that is a number"));
}

// Keras' rule, once more: values by evaluation, and after which of them it reduces.
std::vector<int> Reductions(const ReduceOnPlateau& rule, const std::vector<double>& values) {
  PlateauState state;
  std::vector<int> found;
  for (size_t i = 0; i < values.size(); ++i) {
    if (state.Observe(rule, static_cast<int64_t>(i), values[i])) found.push_back(static_cast<int>(i));
    absl::StatusOr<PlateauState> again = PlateauState::FromJson(state.ToJson());  // as a restart would
    EXPECT_TRUE(again.ok()) << again.status();
    state = *again;
  }
  return found;
}

// What tf.keras.callbacks.ReduceLROnPlateau of TensorFlow 2.15 does with the same values.
TEST(ReduceOnPlateauTest, IsKerasRule) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  EXPECT_THAT(Reductions({.patience = 2}, {5, 4, 4, 4, 4, 4, 3, 3, 3}), ElementsAre(3, 5, 8));
  EXPECT_THAT(Reductions({.patience = 2, .cooldown = 2}, {5, 5, 5, 5, 5, 5, 5, 5, 5, 5}), ElementsAre(2, 5, 8));
  EXPECT_THAT(Reductions({.patience = 1, .min_delta = 0.5}, {5, 4.6, 4.4, 4.2, 3.8}), ElementsAre(1, 3));
  EXPECT_THAT(Reductions({.direction = MetricDirection::kMax, .patience = 1}, {1, 2, 1.5, 3, 3}), ElementsAre(2, 4));
  EXPECT_THAT(Reductions({.patience = 2}, {nan, nan, 1, nan, nan}), ElementsAre(1, 4));
  EXPECT_THAT(Reductions({.patience = 2}, {inf, inf, 1, inf, inf}), ElementsAre(1, 4));
  EXPECT_THAT(Reductions({.patience = 2}, {5, -inf, 4, 3, 2}), ElementsAre(3));
  EXPECT_THAT(Reductions({.direction = MetricDirection::kMax, .patience = 1}, {inf, 1, -inf, inf}),
              ElementsAre(1, 2, 3));
  EXPECT_THAT(Reductions({.patience = 0}, {1, 1, 0}), ElementsAre(1));
}

TEST(ReduceOnPlateauTest, OptionsAreChecked) {
  const std::pair<ReduceOnPlateau, const char*> cases[] = {
      {{.metric = ""}, "metric is empty"},
      {{.metric = "accuracy"}, "direction is not set, and nothing says whether a larger or a smaller \"accuracy\" is"},
      {{.factor = 1}, "factor must be in (0, 1), got 1"},
      {{.patience = -1}, "patience and cooldown must not be negative, got -1 and 0"},
      {{.min_delta = -1}, "min_delta must be a number >= 0, got -1"},
      {{.min_learning_rate = NAN}, "min_learning_rate must be a number >= 0, got nan"},
  };
  for (const auto& [rule, text] : cases) EXPECT_THAT(std::string(rule.Validate().message()), HasSubstr(text));
  Estimator estimator(Counter, Saving(ModelDir(), 1));
  const absl::StatusOr<EvalResult> result =
      TrainAndEvaluate(estimator,
                       {.input_fn = Numbers(),
                        .max_steps = 3,
                        .reduce_on_plateau = ReduceOnPlateau{.metric = "acuracy", .direction = MetricDirection::kMax}},
                       {.input_fn = Numbers(1), .throttle_secs = 0});
  EXPECT_THAT(std::string(result.status().message()),
              HasSubstr("the evaluation has no metric \"acuracy\"; it has loss"));
}

// The loss of evaluations is floor(w): -1 from the first step on, -2 when w is below -1, and so on. With patience 2 and
// an evaluation after each step the rate is halved whenever three in a row are equal.
std::map<int64_t, float> Expected(int64_t steps) {
  std::map<int64_t, float> weights;
  double w = 0, rate = 0.125, best = std::numeric_limits<double>::infinity();
  int wait = 0;
  for (int64_t step = 1; step <= steps; ++step) {
    w -= rate;
    weights[step] = static_cast<float>(w);
    if (std::floor(w) < best - 1e-4) {
      best = std::floor(w);
      wait = 0;
    } else if (++wait >= 2) {
      rate = std::max(rate / 2, 0.03125);
      wait = 0;
    }
  }
  return weights;
}

TEST(ReduceOnPlateauTest, LowersTheRateAndRestartsExactly) {
  const TrainSpec train{
      .input_fn = Numbers(),
      .reduce_on_plateau = ReduceOnPlateau{.factor = 0.5, .patience = 2, .min_learning_rate = 0.03125}};
  const EvalSpec eval{.input_fn = Numbers(1), .throttle_secs = 0};
  const std::map<int64_t, float> expected = Expected(12);
  ASSERT_GT(expected.at(12), -1.0f);
  for (const std::vector<int64_t>& ends : {std::vector<int64_t>{12}, {3, 12}, {2, 3, 5, 12}}) {
    const std::string dir = ModelDir(std::to_string(ends.size()));
    for (int64_t end : ends) {
      Estimator estimator(Counter, Saving(dir, 1));
      TrainSpec part = train;
      part.max_steps = end;
      const absl::StatusOr<EvalResult> result = TrainAndEvaluate(estimator, part, eval);
      ASSERT_TRUE(result.ok()) << result.status();
    }
    for (const auto& [step, w] : expected) EXPECT_EQ(WeightAt(dir, step), w) << step;
  }
  // A process that ended between a checkpoint and the record of its evaluation.
  const std::string dir = ModelDir("unrecorded");
  for (int64_t end : {3, 12}) {
    Estimator estimator(Counter, Saving(dir, 1));
    TrainSpec part = train;
    part.max_steps = end;
    ASSERT_TRUE(TrainAndEvaluate(estimator, part, eval).ok());
    if (end == 3) {
      ASSERT_TRUE(Env::Default()->DeleteRecursively(dir + "/eval").ok());
    }
  }
  for (const auto& [step, w] : expected) EXPECT_EQ(WeightAt(dir, step), w) << step;
}

const ReduceOnPlateau kHalving = {.factor = 0.5, .patience = 2, .min_learning_rate = 0.03125};

absl::Status RunTo(const RunConfig& config, int64_t end, EvalSpec eval, HookList hooks = {},
                   std::vector<std::shared_ptr<CheckpointSaverListener>> listeners = {}) {
  eval.input_fn = Numbers(1);
  TrainSpec train{.input_fn = Numbers(), .max_steps = end, .reduce_on_plateau = kHalving};
  train.hooks = std::move(hooks);
  train.saving_listeners = std::move(listeners);
  Estimator estimator(Counter, config);
  return TrainAndEvaluate(estimator, train, eval).status();
}

// A process that ended between a checkpoint and its evaluation: what the checkpoint says of the evaluations before it
// is there when the checkpoint is evaluated.
TEST(ReduceOnPlateauTest, ByStepsARestartFromAnUnrecordedCheckpointIsExact) {
  const std::string dir = ModelDir();
  ASSERT_EQ(RunTo(Saving(dir, 1), 3, {.every_steps = 1}), absl::OkStatus());
  ASSERT_TRUE(Env::Default()->DeleteRecursively(dir + "/eval").ok());
  ASSERT_EQ(RunTo(Saving(dir, 1), 12, {.every_steps = 1}), absl::OkStatus());
  for (const auto& [step, w] : Expected(12)) EXPECT_EQ(WeightAt(dir, step), w) << step;
}

// At step 12 with an evaluation at every second: those of 4 and 6, and then of 8 and 10, are no better than before.
constexpr float kEverySecond = -6 * 0.125f - 4 * 0.0625f - 2 * 0.03125f;

TEST(ReduceOnPlateauTest, ByStepsARestartBetweenEvaluationsMakesNone) {
  const std::string dir = ModelDir("stopped"), whole = ModelDir("whole");
  const EvalSpec eval = {.throttle_secs = 0, .every_steps = 2};
  auto stop = std::make_shared<StepHook>([](RunContext& context, const RunValues&) {
    if (context.global_step() == 3) std::raise(SIGTERM);
  });
  EXPECT_EQ(ExitCodeFor(RunTo(Saving(dir, 1), 12, eval, {stop})), kExitTerminated);
  ASSERT_EQ(RunTo(Saving(dir, 1), 12, eval), absl::OkStatus());
  ASSERT_EQ(RunTo(Saving(whole, 1), 12, eval), absl::OkStatus());
  EXPECT_EQ(WeightAt(dir, 12), WeightAt(whole, 12));
  EXPECT_EQ(WeightAt(whole, 12), kEverySecond);
}

TEST(ReduceOnPlateauTest, ByStepsNeedsNoCheckpoints) {
  LogCapture log;
  ASSERT_EQ(RunTo(Saving(ModelDir(), 0), 12, {.throttle_secs = 0, .every_steps = 2}), absl::OkStatus());
  EXPECT_TRUE(log.Contains("ReduceOnPlateau: loss = "));
}

// Its checkpoint is saved by the rule for checkpoints, and would have been evaluated.
TEST(ReduceOnPlateauTest, AStopInTheStepOfACheckpointLeavesOutNoEvaluation) {
  struct Stop : CheckpointSaverListener {
    absl::Status BeforeSave(int64_t global_step) override {
      if (global_step == 4) std::raise(SIGTERM);
      return absl::OkStatus();
    }
  };
  const std::string dir = ModelDir("stopped"), whole = ModelDir("whole");
  const EvalSpec eval = {.throttle_secs = 0};
  EXPECT_EQ(ExitCodeFor(RunTo(Saving(dir, 2), 12, eval, {}, {std::make_shared<Stop>()})), kExitTerminated);
  ASSERT_EQ(RunTo(Saving(dir, 2), 12, eval), absl::OkStatus());
  ASSERT_EQ(RunTo(Saving(whole, 2), 12, eval), absl::OkStatus());
  EXPECT_EQ(WeightAt(dir, 12), WeightAt(whole, 12));
  EXPECT_EQ(WeightAt(whole, 12), kEverySecond);
}

// One that no rule would have saved is not evaluated.
TEST(ReduceOnPlateauTest, AStopBetweenCheckpointsAddsNoEvaluation) {
  const std::string dir = ModelDir();
  auto stop = std::make_shared<StepHook>([](RunContext& context, const RunValues&) {
    if (context.global_step() == 5) std::raise(SIGTERM);
  });
  EXPECT_EQ(ExitCodeFor(RunTo(Saving(dir, 3), 8, {.throttle_secs = 0}, {stop})), kExitTerminated);
  ASSERT_EQ(RunTo(Saving(dir, 3), 9, {.throttle_secs = 0}), absl::OkStatus());
  EXPECT_EQ(WeightAt(dir, 9), -9 * 0.125f);  // evaluated are 3 and 8
}

// What was trained up to the evaluation is saved.
TEST(ReduceOnPlateauTest, AMetricThatIsAnArrayLosesNoStep) {
  const std::string dir = ModelDir();
  const ModelFn model = [](const Features& features, const Tensor& labels, Mode mode, const Params& params) {
    EstimatorSpec spec = Counter(features, labels, mode, params);
    spec.metrics["twice"] =
        Metric{.sums = {{"sum", ReduceSum(features["value"])}}, .result = [](const MetricSums& sums) {
                 const double sum = sums.at("sum")[0];
                 return HostTensor::FromVector<double>({2}, {sum, sum});
               }};
    return spec;
  };
  Estimator estimator(model, Saving(dir, 1000));
  const absl::StatusOr<EvalResult> result =
      TrainAndEvaluate(estimator,
                       {.input_fn = Numbers(),
                        .max_steps = 20,
                        .reduce_on_plateau = ReduceOnPlateau{.metric = "twice", .direction = MetricDirection::kMax}},
                       {.input_fn = Numbers(1), .every_steps = 7});
  EXPECT_EQ(ExitCodeFor(result.status()), kExitUsage);
  EXPECT_THAT(std::string(result.status().message()),
              HasSubstr("ReduceOnPlateau: the metric \"twice\" is an array of"));
  EXPECT_THAT(test::CheckpointNames(dir), ElementsAre("model.ckpt-0", "model.ckpt-7"));
}

}  // namespace
}  // namespace tandem
