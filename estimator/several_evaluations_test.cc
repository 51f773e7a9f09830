// TrainAndEvaluate with several evaluations: each is what a call of Evaluate of its own gives, and what goes by
// evaluations says which it means.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/logging.h"
#include "estimator/checkpoint/done_marker.h"
#include "estimator/early_stopping.h"
#include "estimator/evaluation/eval_log.h"
#include "estimator/exporter.h"
#include "estimator/internal/evaluator_task.h"
#include "estimator/test_models.h"
#include "estimator/train_and_evaluate.h"

namespace tandem {
namespace {

using namespace test;  // NOLINT: this file's vocabulary
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class SeveralEvaluationsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    config_ = Config(ModelDir());
    config_.save_checkpoints_steps = 10;
    config_.keep_checkpoint_max = 0;
  }
  // The whole of 64 examples, and three steps of 40.
  static EvalSpec Whole() { return {.input_fn = LineInput(64, 8, 1), .name = "whole", .throttle_secs = 0}; }
  static EvalSpec Part() { return {.input_fn = LineInput(40, 8, 1), .steps = 3, .name = "part", .throttle_secs = 0}; }

  absl::StatusOr<EvalResults> Run(int64_t max_steps, const std::vector<EvalSpec>& specs, HookList hooks = {}) {
    Estimator estimator(LineModel, config_);
    return TrainAndEvaluate(
        estimator,
        {.input_fn = LineInput(), .max_steps = max_steps, .hooks = std::move(hooks), .reduce_on_plateau = plateau_},
        specs);
  }
  std::string Error(const std::vector<EvalSpec>& specs, HookList hooks = {}) {
    return std::string(Run(20, specs, std::move(hooks)).status().message());
  }
  std::optional<EvalResult> Recorded(const std::string& name, int64_t step, std::optional<int64_t> steps = {}) const {
    const auto found =
        FindEvalResult(Env::Default(), config_.model_dir + "/eval_" + name, step, {.steps = steps, .job = true});
    EXPECT_TRUE(found.ok()) << found.status();
    return found.ok() ? *found : std::nullopt;
  }
  // Lines of the log of that name.
  int64_t LinesOf(const std::string& name) const {
    const std::string log =
        Env::Default()->ReadFile(config_.model_dir + "/eval_" + name + "/metrics.jsonl").value_or("");
    return std::count(log.begin(), log.end(), '\n');
  }
  // That the records of these steps are, bit for bit, what a fresh Estimator finds at their checkpoints.
  void ExpectThoseOfSeparateCalls(const std::vector<int64_t>& steps) {
    RunConfig config = config_;
    for (const int64_t step : steps) {
      for (const EvalSpec& spec : {Whole(), Part()}) {
        Estimator fresh(LineModel, config);
        const auto alone =
            fresh.Evaluate(spec.input_fn, {.steps = spec.steps,
                                           .checkpoint_path = absl::StrCat(config.model_dir, "/model.ckpt-", step),
                                           .name = "alone"});
        ASSERT_TRUE(alone.ok()) << alone.status();
        const std::optional<EvalResult> recorded = Recorded(spec.name, step, spec.steps);
        ASSERT_TRUE(recorded.has_value()) << spec.name << " " << step;
        EXPECT_EQ(recorded->metrics, alone->metrics) << spec.name << " " << step;
      }
    }
  }

  RunConfig config_;
  std::optional<ReduceOnPlateau> plateau_;
};

TEST_F(SeveralEvaluationsTest, AfterCheckpointsEachIsThatOfASeparateCall) {
  const auto results = Run(22, {Whole(), Part()});
  ASSERT_TRUE(results.ok()) << results.status();
  ASSERT_EQ(results->size(), 2);
  EXPECT_EQ(results->at("whole").metrics, Recorded("whole", 22)->metrics);
  EXPECT_EQ(results->at("part").metrics, Recorded("part", 22, 3)->metrics);
  EXPECT_NE(results->at("part")["loss"], results->at("whole")["loss"]);
  ExpectThoseOfSeparateCalls({10, 20, 22});
  EXPECT_FALSE(Env::Default()->Exists(config_.model_dir + "/eval"));
}

TEST_F(SeveralEvaluationsTest, EachHasItsOwnRuleForWhen) {
  EvalSpec by_steps = Whole(), throttled = Part();
  by_steps.every_steps = 4;
  throttled.throttle_secs = 1e6;
  ASSERT_TRUE(Run(22, {by_steps, throttled}).ok());
  std::vector<int64_t> whole, part;
  for (int64_t step = 1; step <= 22; ++step) {
    if (Recorded("whole", step).has_value()) whole.push_back(step);
    if (Recorded("part", step, 3).has_value()) part.push_back(step);
  }
  EXPECT_THAT(whole, ElementsAre(4, 8, 12, 16, 20, 22));
  EXPECT_THAT(part, ElementsAre(10, 22));
  ExpectThoseOfSeparateCalls({22});
}

TEST_F(SeveralEvaluationsTest, ARunThatGoesOnHasTheSameRecords) {
  EvalSpec whole = Whole(), part = Part();
  whole.every_steps = 5;
  part.every_steps = 10;
  auto interrupt = std::make_shared<StepHook>([](RunContext& context, const RunValues&) {
    if (context.global_step() == 13) std::raise(SIGTERM);
  });
  EXPECT_FALSE(Run(30, {whole, part}, {interrupt}).ok());
  EXPECT_FALSE(Recorded("whole", 15).has_value());
  ASSERT_TRUE(Run(30, {whole, part}).ok());
  EXPECT_EQ(LinesOf("whole"), 6);
  EXPECT_EQ(LinesOf("part"), 3);
  const std::string interrupted = config_.model_dir, at_once = ModelDir("at_once");
  config_.model_dir = at_once;
  ASSERT_TRUE(Run(30, {whole, part}).ok());
  struct Records {
    EvalSpec spec;
    int64_t every;
  };
  for (const Records& records : {Records{whole, 5}, Records{part, 10}}) {
    for (int64_t step = records.every; step <= 30; step += records.every) {
      config_.model_dir = interrupted;
      const auto one = Recorded(records.spec.name, step, records.spec.steps);
      config_.model_dir = at_once;
      const auto other = Recorded(records.spec.name, step, records.spec.steps);
      ASSERT_TRUE(one.has_value() && other.has_value()) << records.spec.name << " " << step;
      EXPECT_EQ(one->metrics, other->metrics) << records.spec.name << " " << step;
    }
  }
}

// As after a kill between two evaluations of the last step.
TEST_F(SeveralEvaluationsTest, OnlyWhatIsMissingIsMadeAgain) {
  ASSERT_TRUE(Run(20, {Whole(), Part()}).ok());
  const auto part = Recorded("part", 20, 3);
  ASSERT_EQ(Env::Default()->DeleteRecursively(config_.model_dir + "/eval_part"), absl::OkStatus());
  const int64_t lines = LinesOf("whole");
  const auto again = Run(20, {Whole(), Part()});
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(LinesOf("whole"), lines);
  EXPECT_EQ(LinesOf("part"), 1);
  EXPECT_EQ(again->at("part").metrics, part->metrics);
}

TEST_F(SeveralEvaluationsTest, AnEvaluatorMakesAllOfThem) {
  Estimator trainer(LineModel, config_);
  ASSERT_EQ(trainer.Train(LineInput(), {.max_steps = 20}), absl::OkStatus());
  ASSERT_EQ(WriteDoneMarker(Env::Default(), config_.model_dir, {.final_step = 20, .reason = "max_steps"}),
            absl::OkStatus());
  Estimator estimator(LineModel, config_);
  std::vector<EvalSpec> specs = {Whole(), Part()};
  for (EvalSpec& spec : specs) spec.start_delay_secs = 0;
  const auto results = EvaluatorTask(estimator, specs, {.max_steps = 20}).Run();
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ(results->size(), 2);
  ExpectThoseOfSeparateCalls({20});
}

// The chief and the evaluator of a cluster, one after the other.
TEST_F(SeveralEvaluationsTest, InAClusterTheChiefLeavesThemToTheEvaluator) {
  std::vector<EvalSpec> specs = {Whole(), Part()};
  for (EvalSpec& spec : specs) spec.start_delay_secs = 0;
  Cluster cluster{.source = "the test"};
  cluster.addresses = {{TaskType::kChief, {"localhost:1"}}, {TaskType::kEvaluator, {"localhost:2"}}};
  config_.cluster = cluster;
  const auto of_chief = Run(12, specs);
  ASSERT_TRUE(of_chief.ok()) << of_chief.status();
  EXPECT_TRUE(of_chief->empty());
  EXPECT_FALSE(Recorded("whole", 12).has_value());
  cluster.task = {TaskType::kEvaluator, 0};
  cluster.rank = -1;
  config_.cluster = cluster;
  const auto of_evaluator = Run(12, specs);
  SetLogTag("");
  ASSERT_TRUE(of_evaluator.ok()) << of_evaluator.status();
  EXPECT_EQ(of_evaluator->at("whole").global_step(), 12);
  EXPECT_EQ(of_evaluator->at("part").global_step(), 12);
  config_.cluster = std::nullopt;
  ExpectThoseOfSeparateCalls({12});
}

TEST_F(SeveralEvaluationsTest, TheirNamesAreChecked) {
  EvalSpec nameless = Whole(), same = Part();
  nameless.name = "";
  same.name = "whole";
  EXPECT_EQ(Error({}), "TrainAndEvaluate: there are no evaluations; give it an EvalSpec, or call Estimator::Train");
  EXPECT_EQ(Error({nameless, nameless}),
            "TrainAndEvaluate: of the 2 evaluations number 1 and number 2 have no name; each needs a name of its own "
            "(EvalSpec.name), by which its results are told apart");
  EXPECT_EQ(
      Error({Part(), nameless}),
      "TrainAndEvaluate: of the 2 evaluations number 2 has no name, beside \"part\"; each needs a name of its own "
      "(EvalSpec.name), by which its results are told apart");
  EXPECT_EQ(
      Error({Whole(), Part(), same}),
      "TrainAndEvaluate: of the 3 evaluations number 1 and number 3 have the name \"whole\"; each needs a name of "
      "its own (EvalSpec.name), by which its results are told apart");
  EvalSpec folders = Part();
  folders.name = "a/b";
  EXPECT_THAT(Error({folders}), HasSubstr("the name \"a/b\" is none of a folder"));
  EvalSpec wrong = Part();
  wrong.steps = -1;
  EXPECT_THAT(Error({Whole(), wrong}), HasSubstr("evaluation \"part\": EvalSpec: steps must be positive, got -1"));
}

TEST_F(SeveralEvaluationsTest, TheirExportersExportBesideEachOther) {
  EvalSpec whole = Whole(), part = Part();
  whole.exporters = {FinalExporter("final", {.input_fn = LineInput(8, 8, 1)})};
  part.exporters = {FinalExporter("final", {.input_fn = LineInput(8, 8, 1)})};
  EXPECT_EQ(
      Error({whole, part}),
      "TrainAndEvaluate: the evaluations \"whole\" and \"part\" both have an exporter \"final\", and would export "
      "to the same folder; rename one");
}

TEST_F(SeveralEvaluationsTest, KeepBestNamesOne) {
  config_.keep_best = KeepBest{};
  EXPECT_EQ(Error({Whole(), Part()}),
            "RunConfig.keep_best: there are several evaluations, and it names none; set `evaluation` to one of "
            "\"whole\", \"part\"");
  config_.keep_best->evaluation = "hole";
  EXPECT_EQ(Error({Whole(), Part()}),
            "RunConfig.keep_best: there is no evaluation \"hole\" (EvalSpec.name); did you mean \"whole\"? There are "
            "\"whole\", \"part\"");
  EXPECT_FALSE(Env::Default()->Exists(config_.model_dir + "/model.ckpt-0"));
  config_.keep_best->evaluation = "part";
  config_.keep_best->metric = "mean_x";
  config_.keep_best->direction = MetricDirection::kMax;
  EXPECT_THAT(Error({Whole(), Part()}),
              HasSubstr("RunConfig.keep_best: the evaluation has no metric \"mean_x\"; did you mean \"mean_y\"?"));
  config_.keep_best->metric = "mean_y";
  ASSERT_TRUE(Run(20, {Whole(), Part()}).ok());
}

TEST_F(SeveralEvaluationsTest, EarlyStoppingNamesOne) {
  Estimator estimator(LineModel, config_);
  const auto stop = [&](const std::string& name) {
    return StopIfHigher(estimator, "loss", 0, {.evaluation = name});  // at the first that it sees
  };
  EXPECT_THAT(Error({Whole(), Part()}, {stop("")}), HasSubstr("StopIfHigher: there are several evaluations"));
  EXPECT_THAT(Error({Whole(), Part()}, {stop("parts")}), HasSubstr("did you mean \"part\"?"));
  EvalSpec whole = Whole(), part = Part();
  whole.every_steps = 4;
  part.every_steps = 6;
  ASSERT_TRUE(TrainAndEvaluate(estimator, {.input_fn = LineInput(), .max_steps = 20, .hooks = {stop("part")}},
                               std::vector<EvalSpec>{whole, part})
                  .ok());
  EXPECT_EQ(estimator.last_train_result()->global_step, 6);
}

TEST_F(SeveralEvaluationsTest, ReduceOnPlateauNamesOne) {
  plateau_ = ReduceOnPlateau{.factor = 0.5, .patience = 1, .min_delta = 1e6};
  EXPECT_THAT(Error({Whole(), Part()}), HasSubstr("TrainSpec.reduce_on_plateau: there are several evaluations"));
  plateau_->evaluation = "elsewhere";
  EXPECT_EQ(Error({Whole(), Part()}),
            "TrainSpec.reduce_on_plateau: there is no evaluation \"elsewhere\" (EvalSpec.name) in this "
            "TrainAndEvaluate; there are \"whole\", \"part\"");
  plateau_->evaluation = "part";
  EvalSpec whole = Whole(), part = Part();
  whole.every_steps = 2;
  part.every_steps = 8;
  LogCapture log;
  ASSERT_TRUE(Run(20, {whole, part}).ok());
  // At 16 and 20 it is no better than at 8; what the others find counts for nothing.
  EXPECT_TRUE(log.Contains("at step 16 is no better"));
  EXPECT_FALSE(log.Contains("at step 4 is no better"));
}

// A single evaluation needs no name, and what goes by another one may wait for that of another process.
TEST_F(SeveralEvaluationsTest, OfOneAMisspellingIsFoundAndAnotherNameSaid) {
  EvalSpec named = Whole();
  config_.keep_best = KeepBest{.evaluation = "wholes"};
  EXPECT_THAT(Error({named}), HasSubstr("did you mean \"whole\"?"));
  config_.keep_best->evaluation = "elsewhere";
  LogCapture log;
  ASSERT_TRUE(Run(10, {named}).ok());
  EXPECT_TRUE(log.Contains("those of TrainAndEvaluate have the name \"whole\" (EvalSpec.name): none of them counts"));
}

}  // namespace
}  // namespace tandem
