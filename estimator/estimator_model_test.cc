// What a model_fn asks for is what is computed, or an error or a warning that names its line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/exit_code.h"
#include "base/logging.h"
#include "estimator/test_models.h"
#include "estimator/train_and_evaluate.h"

namespace tandem {
namespace {

using namespace test;  // NOLINT: this file's vocabulary
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kFile[] = "estimator_model_test.cc:";

TEST(Model, EveryOptimizerHasItsOwnRate) {
  Estimator estimator(
      [](const Features& features, const Tensor&, Mode, const Params&) {
        GraphBuilder* graph = features.graph();
        Tensor a = graph->Variable({.name = "a", .shape = {1}, .initializer = {Initializer::Kind::kConstant, 1}});
        Tensor b = graph->Variable({.name = "b", .shape = {1}, .initializer = {Initializer::Kind::kConstant, 1}});
        // The slopes are 1 and 1: features only bring the batch in.
        Tensor loss = ReduceMean(Mul(ReduceSum(features["x"], {1}, true), 0.0) + a + b);
        optimizers::SGD({.learning_rate = 0.125}).Minimize(loss, {.var_list = {a}});
        return EstimatorSpec::Train(loss, optimizers::SGD({.learning_rate = 0.5}).Minimize(loss, {.var_list = {b}}));
      },
      Config(ModelDir()));
  ASSERT_EQ(estimator.Train(LineInput(), {.steps = 1}), absl::OkStatus());
  EXPECT_FLOAT_EQ(estimator.GetVariableValue("a")->data<float>()[0], 0.875);
  EXPECT_FLOAT_EQ(estimator.GetVariableValue("b")->data<float>()[0], 0.5);
}

// A rate that is scaled by the replicas: the step of the one variable, whose gradient is 1, is rate x replicas.
TEST(Model, KnowsItsReplicas) {
  for (int replicas : {1, 3}) {
    RunConfig config = Config(ModelDir(absl::StrCat(replicas)), replicas);
    config.eval_distribute = OneDeviceStrategy("cpu:0");
    std::map<Mode, int> seen;
    Estimator estimator(
        [&seen](const Features& features, const Tensor&, Mode mode, const Params& params) {
          EXPECT_EQ(params.num_workers(), 1);
          EXPECT_EQ(params.worker_index(), 0);
          seen[mode] = params.num_replicas();
          Tensor a = features.graph()->Variable({.name = "a", .shape = {1}});
          Tensor y = Mul(ReduceSum(features["x"], {1}, true), 0.0) + a;
          if (mode == Mode::kPredict) return EstimatorSpec::Predict({{"y", y}});
          const double rate = params.Number("rate", 0) * params.num_replicas();
          Tensor loss = ReduceMean(y);
          return EstimatorSpec::Train(loss, optimizers::SGD({.learning_rate = rate}).Minimize(loss));
        },
        config, {{"rate", 0.125}});
    const float before = 0;  // zeros
    ASSERT_EQ(estimator.Train(LineInput(), {.steps = 1}), absl::OkStatus());
    ASSERT_EQ(estimator.Predict(LineInput(8, 8, 1), [](const NamedTensors&) { return true; }), absl::OkStatus());
    EXPECT_FLOAT_EQ(estimator.GetVariableValue("a")->data<float>()[0], before - 0.125f * static_cast<float>(replicas));
    EXPECT_THAT(seen, ElementsAre(std::pair(Mode::kTrain, replicas), std::pair(Mode::kPredict, 1)));
  }
}

EstimatorSpec RandomModel(const Features& features, const Tensor&, Mode mode, const Params&) {
  Tensor u = RandomUniform(features.graph(), {kBatch, 2});
  Tensor y = Mul(features["x"], 0.0) + u;
  if (mode == Mode::kPredict) return EstimatorSpec::Predict({{"u", y}});
  return EstimatorSpec::Eval(ReduceMean(y), {{"u", metrics::Mean(y)}});
}

std::vector<float> RandomPredictions(Estimator& estimator) {
  std::vector<float> values;
  const absl::Status status = estimator.Predict(LineInput(64, 8, 1), [&](const NamedTensors& p) {
    for (float v : p.at("u").values<float>()) values.push_back(v);
    return true;
  });
  EXPECT_EQ(status, absl::OkStatus());
  return values;
}

TEST(Model, RandomNumbersDoNotRepeatInEveryBatchOutsideOfTraining) {
  Estimator estimator(RandomModel, Config(ModelDir(), 2));
  const std::vector<float> values = RandomPredictions(estimator);
  ASSERT_EQ(values.size(), 128u);
  // 24 bits each: two of 128 are equal once in two thousand seeds, and this is one seed.
  EXPECT_EQ(std::set<float>(values.begin(), values.end()).size(), values.size());
  EXPECT_EQ(RandomPredictions(estimator), values);
  Estimator same(RandomModel, Config(ModelDir("same"), 2));
  EXPECT_EQ(RandomPredictions(same), values);
}

TEST(Model, AnEvaluationSeesOtherRandomNumbersInEveryBatch) {
  Estimator estimator(RandomModel, Config(ModelDir()));
  const double one = (*estimator.Evaluate(LineInput(8, 8, 1)))["u"];
  const double eight = (*estimator.Evaluate(LineInput(64, 8, 1)))["u"];
  EXPECT_NE(one, eight);
  EXPECT_NEAR(eight, 0.5, 0.1);
}

TEST(Model, ComputedLabelsOutOfRangeStopTheStepAtTheirLine) {
  int line = 0;
  Estimator estimator(
      [&](const Features& features, const Tensor& labels, Mode, const Params&) {
        Tensor logits = layers::Dense(features["x"], {.units = 3});
        Tensor wrong = Cast(Mul(labels, 100.0), DType::kInt32);
        line = __LINE__ + 1;
        Tensor loss = losses::SparseSoftmaxCrossEntropy(wrong, logits);
        return EstimatorSpec::Train(loss, optimizers::SGD({}).Minimize(loss));
      },
      Config(ModelDir()));
  const absl::Status status = estimator.Train(LineInput(), {.steps = 3});
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(std::string(status.message()), HasSubstr("NaN"));
  EXPECT_THAT(std::string(status.message()), HasSubstr(absl::StrCat(kFile, line)));
}

// What the log warns of when `model` is trained for a step.
std::string Warnings(const ModelFn& model) {
  LogCapture log;
  Estimator estimator(model, Config(ModelDir()));
  EXPECT_EQ(estimator.Train(LineInput(), {.steps = 1}), absl::OkStatus());
  return log.Text(LogSeverity::kWarning);
}

TEST(Model, ARegularizerThatIsInNoLossIsNamed) {
  int line = 0;
  enum { kLeftOut, kInTheLoss, kInTheMinimizedLoss, kAddedUpOnly } what;
  const ModelFn model = [&](const Features& features, const Tensor& labels, Mode, const Params&) {
    line = __LINE__ + 1;
    Tensor y = layers::Dense(features["x"], {.units = 1, .kernel_regularizer = L2(0.1)});
    Tensor loss = losses::MeanSquaredError(labels, y), total = loss;
    if (what != kLeftOut) total = loss + losses::RegularizationLoss(features.graph());
    TrainOp train = optimizers::SGD({}).Minimize(what == kAddedUpOnly ? loss : total);
    return EstimatorSpec::Train(what == kInTheLoss ? total : loss, train);
  };
  for (auto without : {kLeftOut, kAddedUpOnly}) {
    what = without;
    EXPECT_THAT(Warnings(model), HasSubstr("The regularizer of \"dense\" at "));
    EXPECT_THAT(Warnings(model), HasSubstr(absl::StrCat(kFile, line, " has no effect")));
  }
  for (auto with : {kInTheLoss, kInTheMinimizedLoss}) {
    what = with;
    EXPECT_THAT(Warnings(model), Not(HasSubstr("regularizer")));
  }
}

TEST(Model, VariablesWithoutAGradientAreNamed) {
  int line = 0;
  bool all = false;
  const ModelFn model = [&](const Features& features, const Tensor& labels, Mode, const Params&) {
    Tensor y = layers::Dense(features["x"], {.units = 1, .name = "used"});
    Tensor z = layers::Dense(features["x"], {.units = 1, .name = "unused"});
    Tensor loss = losses::MeanSquaredError(labels, all ? y + z : y);
    line = __LINE__ + 1;
    return EstimatorSpec::Train(loss, optimizers::SGD({}).Minimize(loss));
  };
  const std::string warnings = Warnings(model);
  EXPECT_THAT(warnings,
              HasSubstr(absl::StrCat(kFile, line,
                                     ": the loss does not depend on unused/kernel, unused/bias: without a gradient")));
  all = true;
  EXPECT_THAT(Warnings(model), Not(HasSubstr("gradient")));
}

TEST(Model, ParamsOfAnotherKindAreAnError) {
  const Params params = {{"learning_rate", "0.1"}};
  Estimator estimator(LineModel, Config(ModelDir()), params);
  for (int i = 0; i < 2; ++i) {
    const absl::Status status = estimator.Train(LineInput(), {.steps = 1});
    EXPECT_EQ(ExitCodeFor(status), kExitCompileError);
    EXPECT_THAT(std::string(status.message()), HasSubstr("Params: \"learning_rate\" is the string \"0.1\", and "));
    EXPECT_THAT(std::string(status.message()), HasSubstr("test_models.h:"));
  }
  // Evaluation does not ask for it.
  EXPECT_TRUE(estimator.Evaluate(LineInput(8, 8, 1)).ok());
}

// Its message, without what stands in front of it, or "OK".
std::string ParamsError(const absl::Status& status) {
  const size_t begin = status.message().find("Params: ");
  return begin == absl::string_view::npos ? status.ToString() : std::string(status.message().substr(begin));
}

std::string AsksForAnInteger(int line) {
  return absl::StrCat("Params: \"batch\" is the string \"64\", and estimator/", kFile, line,
                      " asks for an integer; give it as that kind");
}

TEST(Model, ParamsOfAnotherKindInInputFnAreAnErrorBeforeAStepIsMade) {
  const Params params = {{"batch", "64"}};
  for (const char* call : {"train", "evaluate", "predict", "predictor", "export"}) {
    int line = 0;
    const Params own = params.WithoutErrors();
    const InputFn input = [&line, own](const InputContext&) -> absl::StatusOr<Dataset> {
      line = __LINE__ + 1;
      return LinePoints(64).Batch(own.Int("batch", 8));
    };
    Estimator estimator(LineModel, Config(ModelDir(call)), own);
    const std::string what = call;
    absl::Status status;
    auto hook = std::make_shared<StepHook>();
    if (what == "train") status = estimator.Train(input, {.hooks = {hook}});
    if (what == "evaluate") status = estimator.Evaluate(input, {.hooks = {hook}}).status();
    if (what == "predict") {
      status = estimator.Predict(input, [](const NamedTensors&) { return true; }, {.hooks = {hook}});
    }
    if (what == "predictor") {
      own.Int("batch", 8), line = __LINE__;  // a program's own mistake between two calls
      status = estimator.MakePredictor({{"x", DType::kFloat32, {kBatch, 2}}}).status();
    }
    if (what == "export") {
      ASSERT_EQ(estimator.Train(LineInput(), {.steps = 1}), absl::OkStatus());
      status = estimator.ExportModel(ModelDir("exports"), {.input_fn = input}).status();
    }
    EXPECT_EQ(ParamsError(status), AsksForAnInteger(line)) << call;
    EXPECT_EQ(hook->calls, 0) << call;
  }
}

TEST(Model, ParamsOfAnotherKindInTrainAndEvaluatesInputAreAnError) {
  int line = 0;
  const Params params = {{"batch", "64"}};
  const InputFn input = [&line, params](const InputContext&) -> absl::StatusOr<Dataset> {
    line = __LINE__ + 1;
    return LinePoints(64).Batch(params.Int("batch", 8));
  };
  Estimator estimator(LineModel, Config(ModelDir()), params);
  const auto result = TrainAndEvaluate(estimator, {.input_fn = LineInput(), .max_steps = 2}, {.input_fn = input});
  EXPECT_EQ(ParamsError(result.status()), AsksForAnInteger(line));
}

// Asks in one of its calls.
class AskingHook : public SessionRunHook {
 public:
  AskingHook(const Params& params, std::string when) : params_(params), when_(std::move(when)) {}
  std::string name() const override { return "AskingHook"; }
  absl::Status Begin(HookContext&) override { return Ask("Begin"); }
  absl::Status AfterRun(RunContext&, const RunValues&) override {
    ++steps;
    return Ask("AfterRun");
  }
  absl::Status End(RunContext&) override { return Ask("End"); }
  static constexpr int kLine = __LINE__ + 5;
  int steps = 0;

 private:
  absl::Status Ask(const std::string& when) {
    if (when == when_) params_.Int("batch", 8);
    return absl::OkStatus();
  }

  const Params params_;
  const std::string when_;
};

TEST(Model, ParamsOfAnotherKindInAHookAreAnError) {
  for (const bool of_model : {false, true}) {
    for (const auto& [when, steps] : {std::pair("Begin", 0), std::pair("AfterRun", 1), std::pair("End", 5)}) {
      for (const std::string call : {"train", "evaluate", "predict"}) {
        SCOPED_TRACE(absl::StrCat(call, ", ", when, of_model ? ", of model_fn" : ""));
        const Params params = {{"batch", "64"}};
        auto hook = std::make_shared<AskingHook>(params, when);
        HookList hooks;
        if (!of_model) hooks.push_back(hook);
        Estimator estimator(
            [&](const Features& features, const Tensor& labels, Mode mode, const Params& given) {
              EstimatorSpec spec = LineModel(features, labels, mode, given);
              if (!of_model) return spec;
              hook = std::make_shared<AskingHook>(given, when);
              spec.training_hooks = spec.evaluation_hooks = spec.prediction_hooks = {hook};
              return spec;
            },
            Config(ModelDir()), params);
        const InputFn input = LineInput(40, 8, 1);
        absl::Status status;
        if (call == "train") status = estimator.Train(input, {.hooks = hooks});
        if (call == "evaluate") status = estimator.Evaluate(input, {.hooks = hooks}).status();
        if (call == "predict") {
          status = estimator.Predict(input, [](const NamedTensors&) { return true; }, {.hooks = hooks});
        }
        EXPECT_EQ(ParamsError(status), AsksForAnInteger(AskingHook::kLine));
        EXPECT_EQ(hook->steps, steps);
      }
    }
  }
}

// The threads of a pipeline ask while others do.
TEST(Model, ParamsOfAnotherKindInAMapAreAnError) {
  const Params params = {{"batch", "64"}};
  const InputFn input = [params](const InputContext&) -> absl::StatusOr<Dataset> {
    const auto scaled = [params](const Element& element) {
      params.Int("batch", 8);
      return element;
    };
    return LinePoints(64).Map(scaled, {.num_parallel_calls = 4}).Repeat().Batch(8);
  };
  Estimator estimator(LineModel, Config(ModelDir()), params);
  EXPECT_THAT(ParamsError(estimator.Train(input, {.max_steps = 3})), HasSubstr("asks for an integer"));
  EXPECT_FALSE(estimator.last_train_result().has_value());
}

TEST(Model, ATensorOfAnEstimatorThatIsGoneIsAnError) {
  Tensor kept;
  {
    Estimator first(
        [&](const Features& features, const Tensor&, Mode, const Params&) {
          kept = features["x"];
          return EstimatorSpec::Predict({{"y", kept}});
        },
        Config(ModelDir()));
    ASSERT_EQ(first.Predict(LineInput(8, 8, 1), [](const NamedTensors&) { return true; }), absl::OkStatus());
    EXPECT_TRUE(kept.ok());
  }
  EXPECT_FALSE(kept.ok());
  EXPECT_EQ(kept.graph(), nullptr);
  EXPECT_EQ(kept.dtype(), DType::kInvalid);
  EXPECT_EQ(kept.name(), "");
  EXPECT_THAT(std::string(kept.status().message()), HasSubstr("graph is gone"));
  Estimator second(
      [&](const Features& features, const Tensor&, Mode, const Params&) {
        return EstimatorSpec::Predict({{"y", features["x"] + kept}});
      },
      Config(ModelDir("second")));
  const absl::Status status = second.Predict(LineInput(8, 8, 1), [](const NamedTensors&) { return true; });
  EXPECT_THAT(std::string(status.message()), HasSubstr("graph is gone"));
  EXPECT_THAT(std::string(status.message()), HasSubstr(kFile));
}

TEST(Model, FeaturesOfAnEstimatorThatIsGoneAreAnError) {
  std::optional<Features> kept;
  {
    Estimator first(
        [&](const Features& features, const Tensor&, Mode, const Params&) {
          kept = features;
          return EstimatorSpec::Predict({{"y", features["x"]}});
        },
        Config(ModelDir()));
    ASSERT_EQ(first.Predict(LineInput(8, 8, 1), [](const NamedTensors&) { return true; }), absl::OkStatus());
    EXPECT_NE(kept->graph(), nullptr);
  }
  EXPECT_EQ(kept->graph(), nullptr);
  EXPECT_TRUE(kept->Has("x"));
  for (const auto& [features, why] : {std::pair(*kept, "the Estimator that gave the Features is gone"),
                                      std::pair(Features(nullptr, {}), "the Features were made without one")}) {
    int line = 0;
    Estimator second(
        [&features = features, &line](const Features&, const Tensor&, Mode, const Params&) {
          line = __LINE__ + 1;
          return EstimatorSpec::Predict({{"y", features["x"]}});
        },
        Config(ModelDir("second")));
    const absl::Status status = second.Predict(LineInput(8, 8, 1), [](const NamedTensors&) { return true; });
    EXPECT_THAT(std::string(status.message()),
                HasSubstr(absl::StrCat(kFile, line, ": the feature \"x\" is of no graph")));
    EXPECT_THAT(std::string(status.message()), HasSubstr(why));
  }
}

// The graphs of many Estimators, some of which have the address of the first one's.
TEST(Model, ATrainOpOfAnEstimatorThatIsGoneIsNone) {
  TrainOp kept;
  for (int i = 0; i < 20; ++i) {
    Estimator estimator(
        [&](const Features& features, const Tensor& labels, Mode, const Params&) {
          Tensor loss = losses::MeanSquaredError(labels, layers::Dense(features["x"], {.units = 1}));
          if (i == 0) kept = optimizers::SGD({}).Minimize(loss);
          EXPECT_EQ(kept.ok(), i == 0);
          return EstimatorSpec::Train(loss, kept);
        },
        Config(ModelDir()));
    const absl::Status status = estimator.Train(LineInput(), {.max_steps = 1});
    EXPECT_EQ(status.ok(), i == 0) << status;
    if (i > 0) {
      EXPECT_THAT(std::string(status.message()), HasSubstr("missing train op of this call"));
    }
  }
}

// The weights of classes are looked up as the rows of an embedding are, and are none to the user.
TEST(Model, AClassWithoutAWeight) {
  int line = 0;
  const ModelFn model = [&line](const Features& features, const Tensor& labels, Mode, const Params&) {
    line = __LINE__ + 1;
    Tensor weights = losses::ClassWeights(labels, {1});
    Tensor loss =
        losses::SparseSoftmaxCrossEntropy(labels, layers::Dense(features["x"], {.units = 3}), {.weights = weights});
    return EstimatorSpec::Train(loss, optimizers::SGD({}).Minimize(loss));
  };
  const InputFn input = [](const InputContext&) -> absl::StatusOr<Dataset> {
    return Dataset::FromTensorSlices({{"x", HostTensor::Zeros(DType::kFloat32, {3, 2})},
                                      {"label", HostTensor::FromVector<int32_t>({3}, {0, 2, 1})}})
        .Batch(3);
  };
  const absl::Status status = Estimator(model, Config(ModelDir())).Train(input, {.steps = 1});
  EXPECT_EQ(ExitCodeFor(status), kExitBadData);
  EXPECT_THAT(
      std::string(status.message()),
      HasSubstr(absl::StrCat("component \"label\" of the input: label 2 in row 1 of its batch, and ClassWeights "
                             "at estimator/",
                             kFile, line,
                             " has 1 weight, of class 0; give it one weight for each class, or correct the "
                             "data")));
}

}  // namespace
}  // namespace tandem
