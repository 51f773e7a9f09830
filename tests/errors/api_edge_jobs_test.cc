// What stands around an Estimator's calls, with arguments that it cannot use: predictors, exports, exporters, loops of
// one's own, early stopping, plateaus, strategies.
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "estimator/config/strategy.h"
#include "estimator/continuous_eval.h"
#include "estimator/early_stopping.h"
#include "estimator/evaluation/reduce_on_plateau.h"
#include "estimator/exporter.h"
#include "estimator/loop/step_scalar_settings.h"
#include "estimator/monitored_training_session.h"
#include "estimator/predictor.h"
#include "estimator/serving/model.h"
#include "estimator/test_models.h"
#include "estimator/train_and_evaluate.h"
#include "gtest/gtest.h"

namespace tandem {
namespace {

using namespace test;  // NOLINT: this file's vocabulary

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

struct Row {
  const char* argument;
  std::function<absl::Status()> call;
  const char* says;  // the function, or what else the user gave
};

void Check(const char* function, const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    SCOPED_TRACE(std::string(function) + ", " + row.argument);
    const absl::Status status = row.call();
    EXPECT_FALSE(status.ok());
    EXPECT_NE(status.code(), absl::StatusCode::kInternal) << status;
    EXPECT_NE(status.code(), absl::StatusCode::kUnknown) << status;
    EXPECT_TRUE(absl::StrContains(status.message(), row.says)) << status;
  }
}

const std::vector<ComponentSpec>& Point() {
  static const auto* point = new std::vector<ComponentSpec>{{"x", DType::kFloat32, {kBatch, 2}}};
  return *point;
}

TEST(JobsEdgeTest, Predictors) {
  Estimator estimator(LineModel, Config(ModelDir()));
  ASSERT_EQ(estimator.Train(LineInput(), {.steps = 1}), absl::OkStatus());
  auto make = [&](std::vector<ComponentSpec> features, const PredictorOptions& options = {}) {
    return [&estimator, features, options] { return estimator.MakePredictor(features, options).status(); };
  };
  Check("MakePredictor",
        {{"no features", make({}), "MakePredictor"},
         {"one without a batch", make({{"x", DType::kFloat32, {2}}}), "\"x\""},
         {"one without a type", make({{"x", DType::kInvalid, {kBatch, 2}}}), "\"x\""},
         {"one twice", make({Point()[0], Point()[0]}), "\"x\""},
         {"another size", make({{"x", DType::kFloat32, {kBatch, 3}}}), "[3"},
         {"another name", make({{"y", DType::kFloat32, {kBatch, 2}}}), "\"x\""},
         {"batch size 0", make(Point(), {.batch_size = 0}), "batch_size"},
         {"a huge batch", make(Point(), {.batch_size = std::numeric_limits<int64_t>::max()}), "batch_size"},
         {"no such checkpoint", make(Point(), {.checkpoint_path = "nothing-here"}), "nothing-here"},
         {"negative calls", make(Point(), {.calls = -1}), "calls"}});
  const auto predictor = estimator.MakePredictor(Point(), {.batch_size = 4});
  ASSERT_TRUE(predictor.ok()) << predictor.status();
  auto predict = [&](NamedTensors features) {
    return [&predictor, features] { return (*predictor)->Predict(features).status(); };
  };
  const HostTensor row = HostTensor::Zeros(DType::kFloat32, {1, 2});
  Check("Predict", {{"nothing", predict({}), "\"x\""},
                    {"one more", predict({{"x", row}, {"y", row}}), "\"y\""},
                    {"an empty tensor", predict({{"x", HostTensor()}}), "\"x\""},
                    {"a scalar", predict({{"x", HostTensor::Scalar<float>(1)}}), "\"x\""},
                    {"another type", predict({{"x", HostTensor::Zeros(DType::kFloat64, {1, 2})}}), "\"x\""},
                    {"another size", predict({{"x", HostTensor::Zeros(DType::kFloat32, {1, 3})}}), "\"x\""}});
  EXPECT_TRUE((*predictor)->Predict({{"x", row}}).ok());
}

TEST(JobsEdgeTest, Exports) {
  Estimator estimator(LineModel, Config(ModelDir()));
  ASSERT_EQ(estimator.Train(LineInput(), {.steps = 1}), absl::OkStatus());
  const std::string exports = ModelDir("exports");
  auto write = [&](const ServingInput& input, const ExportOptions& options = {}) {
    return [&estimator, exports, input, options] { return estimator.ExportModel(exports, input, options).status(); };
  };
  Check("ExportModel",
        {{"nothing", write({}), "ServingInput"},
         {"both", write({.features = Point(), .input_fn = LineInput()}), "ServingInput"},
         {"negative rows", write({.features = Point(), .rows_per_step = -1}), "rows_per_step"},
         {"a broken input_fn",
          write({.input_fn = [](const InputContext&) -> absl::StatusOr<Dataset> { return Dataset::Range(-1); }}),
          "input_fn"},
         {"no such checkpoint", write({.features = Point()}, {.checkpoint_path = "nothing-here"}), "nothing-here"},
         {"no folder", [&] { return estimator.ExportModel("", {.features = Point()}).status(); }, "export_dir_base"}});
  ASSERT_TRUE(estimator.ExportModel(exports, {.features = Point()}).ok());
  Check("LoadModel",
        {{"no path", [] { return LoadModel("").status(); }, "LoadModel"},
         {"no such path", [] { return LoadModel("/no/such/path").status(); }, "/no/such/path"},
         {"negative threads", [&] { return LoadModel(exports, {.threads = -1}).status(); }, "threads"},
         {"too many threads", [&] { return LoadModel(exports, {.threads = 1 << 30}).status(); }, "threads"},
         {"negative calls", [&] { return LoadModel(exports, {.calls = -1}).status(); }, "calls"},
         {"too many calls", [&] { return LoadModel(exports, {.calls = 1 << 30}).status(); }, "calls"}});
  EXPECT_FALSE(HasExport(""));
  const auto model = LoadModel(exports);
  ASSERT_TRUE(model.ok()) << model.status();
  auto predict = [&](NamedTensors inputs) { return [&model, inputs] { return (*model)->Predict(inputs).status(); }; };
  Check("Model::Predict", {{"nothing", predict({}), "\"x\""},
                           {"an empty tensor", predict({{"x", HostTensor()}}), "\"x\""},
                           {"a scalar", predict({{"x", HostTensor::Scalar<float>(1)}}), "\"x\""},
                           {"another name", predict({{"y", HostTensor::Zeros(DType::kFloat32, {1, 2})}}), "\"y\""},
                           {"another type", predict({{"x", HostTensor::Zeros(DType::kInt64, {1, 2})}}), "\"x\""}});
}

TEST(JobsEdgeTest, Exporters) {
  const ServingInput good = {.features = Point()};
  auto with = [](std::shared_ptr<Exporter> exporter) {
    return [exporter] {
      Estimator estimator(LineModel, Config(ModelDir()));
      return TrainAndEvaluate(estimator, {.input_fn = LineInput(), .max_steps = 1},
                              {.input_fn = LineInput(8, 8, 1), .exporters = {exporter}})
          .status();
    };
  };
  Check(
      "exporters",
      {{"null", with(nullptr), "null"},
       {"no name", with(FinalExporter("", good)), "name"},
       {"a path for a name", with(FinalExporter("../x", good)), "../x"},
       {"no input", with(LatestExporter("latest", {})), "latest"},
       {"a negative number to keep", with(LatestExporter("latest", good, {.exports_to_keep = -1})), "exports_to_keep"},
       {"no metric", with(BestExporter("best", good, {.metric = ""})), "best"},
       {"no direction", with(BestExporter("best", good, {.metric = "accuracy"})), "direction is not set"},
       {"an unknown metric",
        with(BestExporter("best", good, {.metric = "nothing", .direction = MetricDirection::kMax})), "nothing"}});
}

TEST(JobsEdgeTest, LoopsOfOnesOwn) {
  Estimator estimator(LineModel, Config(ModelDir()));
  Check("MonitoredTrainingSession",
        {{"no input_fn", [&] { return MonitoredTrainingSession::Start(estimator, nullptr).status(); }, "input_fn"},
         {"steps 0", [&] { return MonitoredTrainingSession::Start(estimator, LineInput(), {.steps = 0}).status(); },
          "positive"},
         {"a tensor that is not there",
          [&] { return MonitoredTrainingSession::Start(estimator, LineInput(), {.steps = 1}, {"nothing"}).status(); },
          "nothing"}});
  auto session = MonitoredTrainingSession::Start(estimator, LineInput(), {.steps = 1});
  ASSERT_TRUE(session.ok()) << session.status();
  EXPECT_TRUE((*session)->Run().ok());
  EXPECT_TRUE((*session)->ShouldStop());
  EXPECT_EQ((*session)->Run().status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ((*session)->Close(), absl::OkStatus());
  EXPECT_EQ((*session)->Close().code(), absl::StatusCode::kFailedPrecondition);
  Check("ContinuousEval",
        {{"no input_fn", [&] { return ContinuousEval(estimator, {}).status(); }, "input_fn"},
         {"a negative time",
          [&] { return ContinuousEval(estimator, {.input_fn = LineInput(8, 8, 1)}, {.timeout_secs = -1}).status(); },
          "timeout_secs"},
         {"a time that is no number",
          [&] { return ContinuousEval(estimator, {.input_fn = LineInput(8, 8, 1)}, {.timeout_secs = kNaN}).status(); },
          "timeout_secs"},
         {"a negative number",
          [&] { return ContinuousEval(estimator, {.input_fn = LineInput(8, 8, 1)}, {.max_evaluations = -1}).status(); },
          "max_evaluations"}});
}

TEST(JobsEdgeTest, EarlyStopping) {
  Estimator estimator(LineModel, Config(ModelDir()));
  auto with = [&](std::shared_ptr<SessionRunHook> hook) {
    return [&estimator, hook] { return estimator.Train(LineInput(), {.steps = 1, .hooks = {hook}}); };
  };
  Check("early stopping",
        {{"no rule", with(MakeEarlyStoppingHook(estimator, nullptr)), "no rule"},
         {"no metric", with(StopIfNoDecrease(estimator, "", 10)), "metric"},
         {"no steps", with(StopIfNoIncrease(estimator, "loss", 0)), "max_steps_without_increase"},
         {"negative steps", with(StopIfNoDecrease(estimator, "loss", -1)), "max_steps_without_decrease"},
         {"a threshold that is no number", with(StopIfLower(estimator, "loss", kNaN)), "threshold"},
         {"a negative time", with(StopIfHigher(estimator, "loss", 1, {.run_every_secs = -1})), "run_every_secs"},
         {"a time that is no number", with(StopIfHigher(estimator, "loss", 1, {.run_every_secs = kNaN})),
          "run_every_secs"},
         {"every 0 steps", with(StopIfLower(estimator, "loss", 1, {.run_every_steps = 0})), "run_every_steps"},
         {"a negative step", with(StopIfLower(estimator, "loss", 1, {.min_steps = -1})), "min_steps"}});
}

TEST(JobsEdgeTest, PlateausAndStrategies) {
  Check("ReduceOnPlateau",
        {{"no metric", [] { return ReduceOnPlateau{.metric = ""}.Validate(); }, "metric"},
         {"factor 0", [] { return ReduceOnPlateau{.factor = 0}.Validate(); }, "factor"},
         {"factor 1", [] { return ReduceOnPlateau{.factor = 1}.Validate(); }, "factor"},
         {"a factor that is no number", [] { return ReduceOnPlateau{.factor = kNaN}.Validate(); }, "factor"},
         {"no patience", [] { return ReduceOnPlateau{.patience = -1}.Validate(); }, "patience"},
         {"min_delta", [] { return ReduceOnPlateau{.min_delta = kNaN}.Validate(); }, "min_delta"},
         {"cooldown", [] { return ReduceOnPlateau{.cooldown = -1}.Validate(); }, "cooldown"},
         {"a rate below 0", [] { return ReduceOnPlateau{.min_learning_rate = -1}.Validate(); }, "min_learning_rate"}});
  Check("strategies",
        {{"no devices", [] { return MirroredStrategy({}).Validate(); }, "device"},
         {"no devices", [] { return CentralStorageStrategy({}).Validate(); }, "device"},
         {"no devices", [] { return MultiWorkerMirroredStrategy({}).Validate(); }, "device"},
         {"no devices", [] { return ParameterServerStrategy({}).Validate(); }, "device"},
         {"a device twice",
          [] {
            return MirroredStrategy({"cpu:0", "cpu:0"}).Validate();
          },
          "cpu:0"},
         {"both kinds",
          [] {
            return MirroredStrategy({"cpu:0", "gpu:0"}).Validate();
          },
          "gpu:0"},
         {"no device", [] { return StrategyFromFlag("").Validate(); }, "device"},
         {"a comma", [] { return StrategyFromFlag("cpu:0,").Validate(); }, "device"},
         {"a negative number", [] { return OneDeviceStrategy("cpu:-1").Validate(); }, "cpu:-1"},
         {"a huge number", [] { return OneDeviceStrategy("gpu:99999999999999999999").Validate(); }, "gpu:9999"}});
  StepScalarSettings settings;
  settings.SetDefaults({{"learning_rate", 0.1}});
  Check("SetStepScalar", {{"no name", [&] { return settings.Set("", 1); }, "learning_rate"},
                          {"another name", [&] { return settings.Set("rate", 1); }, "learning_rate"},
                          {"no number", [&] { return settings.Set("learning_rate", kNaN); }, "learning_rate"},
                          {"below 0", [&] { return settings.Set("learning_rate", -1); }, "learning_rate"}});
  const int64_t step = 0;
  RunContext outside(Mode::kEval, &step);
  Check("RunContext", {{"outside of training", [&] { return outside.SetStepScalar("learning_rate", 1); }, "train"},
                       {"outside of training", [&] { return outside.StepScalar().status(); }, "train"}});
}

}  // namespace
}  // namespace tandem
