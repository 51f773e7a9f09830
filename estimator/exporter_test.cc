// Exporters of TrainAndEvaluate.
#include "estimator/exporter.h"

#include <errno.h>

#include <cmath>
#include <stdexcept>

#include "base/exit_code.h"
#include "base/fault_injecting_env.h"
#include "base/logging.h"
#include "estimator/checkpoint/done_marker.h"
#include "estimator/serving/export_dir.h"
#include "estimator/serving/model.h"
#include "estimator/test_models.h"
#include "estimator/train_and_evaluate.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tandem {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::vector<ComponentSpec> kFeatures = {{"x", DType::kFloat32, {kBatch, 2}}};

RunConfig SavingConfig(const std::string& model_dir, int64_t save_every = 5) {
  RunConfig config = test::Config(model_dir);
  config.save_checkpoints_steps = save_every;
  return config;
}

TrainSpec Train(int64_t max_steps) { return {.input_fn = test::LineInput(), .max_steps = max_steps}; }

EvalSpec Eval(ExporterList exporters) {
  return {.input_fn = test::LineInput(16, 8, 1), .throttle_secs = 0, .exporters = std::move(exporters)};
}

std::string Folder(const std::string& model_dir, const std::string& name) {
  return JoinPath(JoinPath(model_dir, "export"), name);
}

// Global steps of the exports of an exporter, oldest first.
std::vector<int64_t> Steps(const std::string& model_dir, const std::string& name) {
  std::vector<int64_t> steps;
  auto paths = ListExports(Env::Default(), Folder(model_dir, name));
  EXPECT_TRUE(paths.ok()) << paths.status();
  for (const std::string& path : *paths) {
    const auto model = LoadModel(path);
    EXPECT_TRUE(model.ok()) << model.status();
    if (model.ok()) steps.push_back((*model)->global_step());
  }
  return steps;
}

TEST(ExporterTest, LatestAndFinal) {
  LogCapture log;
  const std::string dir = test::ModelDir();
  Estimator estimator(test::LineModel, SavingConfig(dir));
  const auto result = TrainAndEvaluate(estimator, Train(22),
                                       Eval({LatestExporter("latest", {.features = kFeatures}, {.exports_to_keep = 3}),
                                             FinalExporter("final", {.input_fn = test::LineInput()})}));
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_THAT(Steps(dir, "latest"), ElementsAre(15, 20, 22));  // and before: 5, 10
  EXPECT_THAT(Steps(dir, "final"), ElementsAre(22));
  const auto model = LoadModel(Folder(dir, "final"));
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ((*model)->metrics().at("loss"), (*result)["loss"]);
  EXPECT_EQ((*model)->metrics().count("global_step"), 0u);
  const HostTensor x = HostTensor::FromVector<float>({3, 2}, {0, 0, 1, 0, 0.5, 1});
  const auto y = (*model)->Predict({{"x", x}});
  ASSERT_TRUE(y.ok()) << y.status();
  int64_t row = 0;
  const InputFn three = [&](const InputContext&) -> absl::StatusOr<Dataset> {
    return Dataset::FromTensorSlices({{"x", x}}).Batch(8);
  };
  ASSERT_TRUE(estimator
                  .Predict(three,
                           [&](const NamedTensors& p) {
                             EXPECT_EQ(p.at("y").data<float>()[0], y->at("y").data<float>()[row++]);
                             return true;
                           })
                  .ok());
  EXPECT_EQ(row, 3);
}

TEST(ExporterTest, ARestartDoesNotExportAgain) {
  LogCapture log;
  const std::string dir = test::ModelDir();
  const auto run = [&](int64_t max_steps) {
    Estimator estimator(test::LineModel, SavingConfig(dir));
    const auto result = TrainAndEvaluate(
        estimator, Train(max_steps),
        Eval({LatestExporter("latest", {.features = kFeatures}), BestExporter("best", {.features = kFeatures}),
              FinalExporter("final", {.features = kFeatures})}));
    EXPECT_TRUE(result.ok()) << result.status();
  };
  run(10);
  const auto best = Steps(dir, "best");
  EXPECT_THAT(Steps(dir, "latest"), ElementsAre(5, 10));
  run(10);
  EXPECT_THAT(Steps(dir, "latest"), ElementsAre(5, 10));
  EXPECT_THAT(Steps(dir, "final"), ElementsAre(10));
  EXPECT_EQ(Steps(dir, "best"), best);
  // The export of the end is caught up with where a run was killed before it.
  ASSERT_TRUE(Env::Default()->DeleteRecursively(Folder(dir, "final")).ok());
  run(10);
  EXPECT_THAT(Steps(dir, "final"), ElementsAre(10));
  run(15);
  EXPECT_THAT(Steps(dir, "final"), ElementsAre(10, 15));
}

// Evaluations with these values of "auc", each by an exporter that is new, as after a restart. Returns those exported.
std::vector<double> Exported(const std::string& name, const std::vector<double>& values, BestExporterOptions options) {
  Estimator estimator(test::LineModel, SavingConfig(test::ModelDir(name)));
  EXPECT_TRUE(estimator.Train(test::LineInput(), {.steps = 1}).ok());
  const std::string base = Folder(estimator.model_dir(), name);
  for (size_t i = 0; i < values.size(); ++i) {
    const auto exporter = BestExporter(name, {.features = kFeatures}, options);
    const auto path = exporter->Export(
        estimator, {.export_dir_base = base,
                    .evaluation = {.metrics = {{"auc", values[i]}, {"global_step", static_cast<double>(i)}}}});
    EXPECT_TRUE(path.ok()) << path.status();
  }
  std::vector<double> exported;
  const auto paths = ListExports(Env::Default(), base);
  for (const std::string& path : *paths) {
    exported.push_back((*LoadModel(path))->metrics().at("auc"));
  }
  return exported;
}

TEST(ExporterTest, BestIsWhatIsOnRecord) {
  LogCapture log;
  const std::vector<double> values = {NAN, 0.3, 0.2, 0.25, NAN, 0.2, 0.1, 0.3, 0.4};
  EXPECT_THAT(Exported("lower", values, {.metric = "auc", .direction = MetricDirection::kMin}),
              ElementsAre(0.3, 0.2, 0.1));
  EXPECT_THAT(Exported("higher", values, {.metric = "auc", .direction = MetricDirection::kMax}), ElementsAre(0.3, 0.4));
  EXPECT_THAT(Exported("one", values, {.metric = "auc", .direction = MetricDirection::kMin, .exports_to_keep = 1}),
              ElementsAre(0.1));
  EXPECT_THAT(Exported("none", {NAN, NAN}, {.metric = "auc", .direction = MetricDirection::kMin}), IsEmpty());
  EXPECT_THAT(Exported("infinite", {INFINITY, 5}, {.metric = "auc", .direction = MetricDirection::kMin}),
              ElementsAre(INFINITY, 5));
  EXPECT_THAT(Exported("below", {-INFINITY, 5}, {.metric = "auc", .direction = MetricDirection::kMin}),
              ElementsAre(-INFINITY));
}

// The model got the metric when the job was done: its evaluation is on record without it, and is not made again.
TEST(ExporterTest, ARecordWithoutTheMetricIsNoError) {
  LogCapture log;
  const std::string dir = test::ModelDir();
  const ModelFn with_metric = [](const Features& features, const Tensor& labels, Mode mode, const Params& params) {
    EstimatorSpec spec = test::LineModel(features, labels, mode, params);
    if (mode == Mode::kEval) spec.metrics["mean_label"] = metrics::Mean(labels);
    return spec;
  };
  const auto run = [&](const ModelFn& model, int64_t steps, const std::string& metric) {
    Estimator estimator(model, SavingConfig(dir));
    const auto best =
        BestExporter("best", {.features = kFeatures}, {.metric = metric, .direction = MetricDirection::kMin});
    return TrainAndEvaluate(estimator, Train(steps), Eval({best})).status();
  };
  ASSERT_EQ(run(test::LineModel, 10, "loss"), absl::OkStatus());
  const auto exports = Steps(dir, "best");
  EXPECT_EQ(run(with_metric, 10, "mean_label"), absl::OkStatus());
  EXPECT_TRUE(log.Contains("has no metric \"mean_label\""));
  EXPECT_EQ(Steps(dir, "best"), exports);
  EXPECT_EQ(run(with_metric, 15, "mean_label"), absl::OkStatus());
  EXPECT_EQ(Steps(dir, "best").back(), 15);
  // An error is one also when it is tried again: that job was not done.
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(run(test::LineModel, 20, "mean_label").message(), HasSubstr("has no metric"));
  }
}

// An export whose signature is damaged says nothing, and does no harm.
TEST(ExporterTest, DamagedExportsDoNotCount) {
  LogCapture log;
  Estimator estimator(test::LineModel, SavingConfig(test::ModelDir()));
  ASSERT_TRUE(estimator.Train(test::LineInput(), {.steps = 1}).ok());
  const std::string base = Folder(estimator.model_dir(), "best");
  const auto exporter = BestExporter("best", {.features = kFeatures});
  const auto first = exporter->Export(estimator, {.export_dir_base = base, .evaluation = {.metrics = {{"loss", 1}}}});
  ASSERT_TRUE(first.ok()) << first.status();
  ASSERT_TRUE(Env::Default()->WriteFile(JoinPath(*first, "signature.json"), {"{}"}).ok());
  const auto second = exporter->Export(estimator, {.export_dir_base = base, .evaluation = {.metrics = {{"loss", 2}}}});
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_NE(*second, "");
  EXPECT_TRUE(log.Contains("does not count an export"));
}

// What the check before training cannot know.
TEST(ExporterTest, AMetricThatIsAnArray) {
  LogCapture log;
  const std::string dir = test::ModelDir();
  const ModelFn model = [](const Features& features, const Tensor& labels, Mode mode, const Params& params) {
    EstimatorSpec spec = test::LineModel(features, labels, mode, params);
    if (mode != Mode::kEval) return spec;
    spec.metrics["twice"] = Metric{.sums = {{"total", ReduceSum(labels)}}, .result = [](const MetricSums& sums) {
                                     const double total = sums.at("total")[0];
                                     return HostTensor::FromVector<double>({2}, {total, total});
                                   }};
    return spec;
  };
  Estimator estimator(model, SavingConfig(dir));
  const auto result = TrainAndEvaluate(
      estimator, Train(22),
      Eval({BestExporter("best", {.features = kFeatures}, {.metric = "twice", .direction = MetricDirection::kMin})}));
  EXPECT_EQ(result.status().code(), absl::StatusCode::kInvalidArgument) << result.status();
  EXPECT_THAT(result.status().message(),
              HasSubstr("BestExporter \"best\": the metric \"twice\" is an array of shape [2]; name one that is"));
  EXPECT_THAT(test::CheckpointNames(dir), testing::Contains("model.ckpt-5"));
}

TEST(ExporterTest, MistakesAreFoundBeforeTraining) {
  LogCapture log;
  const std::string dir = test::ModelDir();
  const auto error = [&](ExporterList exporters, ModelFn model_fn = test::LineModel) {
    Estimator estimator(model_fn, SavingConfig(dir));
    const auto result = TrainAndEvaluate(estimator, Train(22), Eval(std::move(exporters)));
    EXPECT_FALSE(result.ok());
    EXPECT_THAT(test::CheckpointNames(dir), IsEmpty());
    return std::string(result.status().message());
  };
  const ServingInput input{.features = kFeatures};
  EXPECT_THAT(error({nullptr}), HasSubstr("an exporter is null"));
  EXPECT_THAT(error({FinalExporter("", input)}), HasSubstr("has no name"));
  EXPECT_THAT(error({FinalExporter("../up", input)}), HasSubstr("\"../up\" is none of a folder"));
  EXPECT_THAT(error({FinalExporter("a", input), LatestExporter("a", input)}), HasSubstr("two exporters have the name"));
  EXPECT_THAT(error({LatestExporter("a", input, {.exports_to_keep = -1})}), HasSubstr("exports_to_keep"));
  EXPECT_THAT(error({FinalExporter("a", {})}), HasSubstr("FinalExporter \"a\": there are no features"));
  EXPECT_THAT(error({FinalExporter("a", {.features = {{"X", DType::kFloat32, {kBatch, 2}}}})}),
              HasSubstr("did you mean"));
  // Without a branch for predictions.
  const ModelFn model_fn = [](const Features& features, const Tensor& labels, Mode mode, const Params& params) {
    Tensor loss = losses::MeanSquaredError(labels, layers::Dense(features["x"], {.units = 1}));
    return EstimatorSpec::Eval(loss);
  };
  EXPECT_THAT(error({FinalExporter("a", input)}, model_fn), HasSubstr("mode predict has no labels"));
}

TEST(ExporterTest, AFullDiskEndsNoTraining) {
  LogCapture log;
  const std::string dir = test::ModelDir();
  FaultInjectingEnv env(Env::Default());
  RunConfig config = SavingConfig(dir);
  config.env = &env;
  env.FailPath("/export/", ENOSPC);
  const ExporterList exporters = {LatestExporter("latest", {.features = kFeatures}),
                                  FinalExporter("final", {.features = kFeatures})};
  {
    Estimator estimator(test::LineModel, config);
    const auto result = TrainAndEvaluate(estimator, Train(12), Eval(exporters));
    EXPECT_EQ(result.status().code(), absl::StatusCode::kResourceExhausted) << result.status();
    EXPECT_EQ(ExitCodeFor(result.status()), kExitIo);
    EXPECT_THAT(result.status().message(), HasSubstr("exporter \"final\", global step 12"));
  }
  EXPECT_TRUE(log.Contains("exporter \"latest\", global step 5"));
  EXPECT_THAT(test::CheckpointNames(dir),
              ElementsAre("model.ckpt-0", "model.ckpt-5", "model.ckpt-10", "model.ckpt-12"));
  EXPECT_TRUE((*ReadDoneMarker(Env::Default(), dir)).has_value());
  // With LatestExporter alone it is no error.
  {
    Estimator estimator(test::LineModel, config);
    EXPECT_TRUE(TrainAndEvaluate(estimator, Train(14), Eval({exporters[0]})).ok());
  }
  // And when there is space again, the same call exports.
  Estimator estimator(test::LineModel, SavingConfig(dir));
  const auto result = TrainAndEvaluate(estimator, Train(14), Eval(exporters));
  EXPECT_TRUE(result.ok()) << result.status();
  EXPECT_THAT(Steps(dir, "latest"), ElementsAre(14));
  EXPECT_THAT(Steps(dir, "final"), ElementsAre(14));
}

TEST(ExporterTest, InputFnsAreAskedOnce) {
  LogCapture log;
  int asked = 0;
  const InputFn input_fn = [&](const InputContext& context) {
    ++asked;
    return test::LineInput()(context);
  };
  const std::string dir = test::ModelDir();
  Estimator estimator(test::LineModel, SavingConfig(dir));
  ASSERT_TRUE(TrainAndEvaluate(estimator, Train(20), Eval({LatestExporter("latest", {.input_fn = input_fn})})).ok());
  EXPECT_EQ(Steps(dir, "latest").size(), 4u);
  EXPECT_EQ(asked, 1);
}

TEST(ExporterTest, CompileOnlyMakesTheProgramToo) {
  LogCapture log;
  const std::string dir = test::ModelDir();
  RunConfig config = SavingConfig(dir);
  config.compile_only = true;
  Estimator estimator(test::LineModel, config);
  const auto result = TrainAndEvaluate(estimator, Train(10), Eval({FinalExporter("final", {.features = kFeatures})}));
  ASSERT_TRUE(result.ok()) << result.status();
  const auto programs = Env::Default()->ListDir(JoinPath(dir, "compiled"));
  ASSERT_TRUE(programs.ok()) << programs.status();
  for (const char* mode : {"train-", "eval-", "predict-"}) {
    EXPECT_THAT(*programs, testing::Contains(testing::StartsWith(mode)));
  }
  EXPECT_FALSE(Env::Default()->Exists(JoinPath(dir, "export")));
}

// An exporter of a user's own.
class OwnExporter : public Exporter {
 public:
  std::string name() const override { return "own"; }
  absl::StatusOr<std::string> Export(Estimator& estimator, const ExportRequest& request) override {
    requests.push_back(request);
    if (fails == 1) return absl::UnavailableError("the server is away");
    if (fails == 2) throw std::runtime_error("broken");
    return std::string();
  }
  std::vector<ExportRequest> requests;
  int fails = 0;
};

TEST(ExporterTest, OneOfYourOwn) {
  LogCapture log;
  const std::string dir = test::ModelDir();
  auto own = std::make_shared<OwnExporter>();
  Estimator estimator(test::LineModel, SavingConfig(dir));
  ASSERT_TRUE(TrainAndEvaluate(estimator, Train(10), Eval({own})).ok());
  ASSERT_EQ(own->requests.size(), 3u);  // at 5, 10 and the end
  EXPECT_EQ(own->requests[0].export_dir_base, Folder(dir, "own"));
  EXPECT_EQ(own->requests[1].evaluation.global_step(), 10);
  EXPECT_FALSE(own->requests[1].is_final);
  EXPECT_TRUE(own->requests[2].is_final);
  own->fails = 1;
  EXPECT_TRUE(TrainAndEvaluate(estimator, Train(15), Eval({own})).ok());
  EXPECT_TRUE(log.Contains("the server is away"));
  own->fails = 2;
  const auto result = TrainAndEvaluate(estimator, Train(20), Eval({own}));
  EXPECT_THAT(result.status().message(), HasSubstr("exporter \"own\", global step 20: threw std::runtime_error"));
  EXPECT_THAT(test::CheckpointNames(dir), testing::Contains("model.ckpt-20"));
}

}  // namespace
}  // namespace tandem
