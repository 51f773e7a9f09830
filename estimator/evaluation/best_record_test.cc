#include "estimator/evaluation/best_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "estimator/evaluation/metric_value.h"

namespace tandem {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

EvalResult Result(double loss, double accuracy, int64_t step) {
  return EvalResult{{{"loss", loss}, {"accuracy", accuracy}, {"global_step", static_cast<double>(step)}}};
}

const KeepBest kByAccuracy = {.metric = "accuracy", .direction = MetricDirection::kMax};

TEST(BestRecords, GoByTheMetricAndItsDirection) {
  BestRecords best(kByAccuracy);
  EXPECT_TRUE(best.Update("", Result(1, 0.5, 10)));
  EXPECT_FALSE(best.Update("", Result(0.5, 0.5, 20)));
  EXPECT_FALSE(best.Update("", Result(0.5, NAN, 25)));
  EXPECT_TRUE(best.Update("", Result(NAN, 0.6, 30)));
  EXPECT_FALSE(best.Update("", Result(0.1, 0.4, 40)));
  // Another evaluation goes by its loss.
  EXPECT_TRUE(best.Update("train", Result(1, 0.5, 10)));
  EXPECT_FALSE(best.Update("train", Result(2, 0.9, 20)));
  EXPECT_TRUE(best.Update("train", Result(0.5, 0.1, 30)));
  EXPECT_EQ(best.records().at("").global_step, 30);
  EXPECT_EQ(best.records().at("").value, 0.6);

  BestRecords back(kByAccuracy);
  ASSERT_EQ(back.Restore(best.ToJson()), absl::OkStatus());
  EXPECT_EQ(back.records().at("").global_step, 30);
  EXPECT_EQ(back.records().at("").value, 0.6);
  EXPECT_EQ(back.records().at("").metric, "accuracy");
  EXPECT_TRUE(std::isnan(back.records().at("").loss));
  EXPECT_EQ(back.records().at("train").loss, 0.5);
  EXPECT_EQ(back.ToJson(), best.ToJson());
}

TEST(BestRecords, InfinitiesAreOrdered) {
  BestRecords best(kByAccuracy);
  EXPECT_TRUE(best.Update("", Result(INFINITY, -INFINITY, 10)));
  EXPECT_TRUE(best.Update("", Result(INFINITY, 0.5, 20)));
  EXPECT_TRUE(best.Update("", Result(INFINITY, INFINITY, 30)));
  EXPECT_FALSE(best.Update("", Result(1, 1e300, 40)));
  EXPECT_FALSE(best.Update("", Result(1, NAN, 50)));
  BestRecords back(kByAccuracy);
  ASSERT_EQ(back.Restore(best.ToJson()), absl::OkStatus());
  EXPECT_EQ(back.records().at("").value, INFINITY);
  EXPECT_EQ(back.records().at("").loss, INFINITY);
  EXPECT_FALSE(BestRecords::FromJson(R"({"": {"loss": "NaN", "global_step": 1}})").ok());
}

// Written before there were metrics.
TEST(BestRecords, OlderTextHasTheLossAlone) {
  const std::string text =
      R"({"": {"loss": 0.25, "global_step": 100}, "train": {"loss": 1, "global_step": 7, "steps": 3}})";
  BestRecords by_loss, by_accuracy(kByAccuracy);
  ASSERT_EQ(by_loss.Restore(text), absl::OkStatus());
  EXPECT_EQ(by_loss.records().at("").value, 0.25);
  EXPECT_EQ(by_loss.records().at("").metric, "loss");
  EXPECT_EQ(by_loss.records().at("train").steps, 3);
  EXPECT_EQ(by_loss.ToJson(), R"({"":{"loss":0.25,"global_step":100},"train":{"loss":1.0,"global_step":7,"steps":3}})");
  // A record by another metric says nothing.
  ASSERT_EQ(by_accuracy.Restore(text), absl::OkStatus());
  EXPECT_FALSE(by_accuracy.records().contains(""));
  EXPECT_TRUE(by_accuracy.records().contains("train"));
}

TEST(BestRecords, RefusesDamagedText) {
  BestRecords best;
  ASSERT_TRUE(best.Update("", Result(1, 0, 10)));
  for (const char* bad :
       {"[", R"({"": {"global_step": 1}})", R"({"": {"metric": "m", "global_step": 1, "direction": "min"}})",
        R"({"": {"metric": "m", "global_step": 1, "value": 1, "direction": "up"}})",
        R"({"": {"metric": 3, "global_step": 1, "value": 1, "direction": "min"}})"}) {
    EXPECT_EQ(best.Restore(bad).code(), absl::StatusCode::kDataLoss) << bad;
    EXPECT_EQ(best.records().at("").global_step, 10);
  }
}

TEST(BestRecords, TakeWhatTheLogsHave) {
  Env* env = Env::Default();
  const std::string dir = ::testing::TempDir() + "/best_from_logs";
  for (const EvalResult& r : {Result(3, 0.1, 10), Result(2, 0.3, 20), Result(1, 0.2, 30), Result(0.1, 0.9, 40)}) {
    ASSERT_TRUE(AppendEvalResult(env, dir + "/eval", r).ok());
  }
  ASSERT_TRUE(AppendEvalResult(env, dir + "/eval", Result(0, 1, 10), {.checkpoint = "/other"}).ok());
  ASSERT_TRUE(AppendEvalResult(env, dir + "/eval", Result(0, 1, 10), {.stopped = true}).ok());
  ASSERT_TRUE(AppendEvalResult(env, dir + "/eval_part", Result(5, 0.1, 10), {.steps = 2}).ok());
  BestRecords by_loss, by_accuracy(kByAccuracy);
  ASSERT_EQ(by_loss.AddFromLogs(env, dir, 30), absl::OkStatus());
  EXPECT_EQ(by_loss.records().at("").global_step, 30);  // 40 is of a later step
  // A part by hand does not count.
  EXPECT_FALSE(by_loss.records().contains("part"));
  ASSERT_TRUE(AppendEvalResult(env, dir + "/eval_part", Result(6, 0.1, 20), {.steps = 3, .job = true}).ok());
  ASSERT_EQ(by_loss.AddFromLogs(env, dir, 30), absl::OkStatus());
  EXPECT_EQ(by_loss.records().at("part").steps, 3);
  EXPECT_EQ(by_loss.records().at("part").loss, 6);
  ASSERT_EQ(by_accuracy.AddFromLogs(env, dir, 30), absl::OkStatus());
  EXPECT_EQ(by_accuracy.records().at("").global_step, 20);
}

TEST(EvalHistory, HasTheLastOfEachStepThatCoversTheSame) {
  Env* env = Env::Default();
  const std::string dir = ::testing::TempDir() + "/history/eval";
  EXPECT_THAT(ReadEvalHistory(env, dir)->results, IsEmpty());
  ASSERT_TRUE(AppendEvalResult(env, dir, Result(3, 0, 10), {.steps = 5}).ok());
  ASSERT_TRUE(AppendEvalResult(env, dir, Result(2, 0, 20), {.steps = 6}).ok());
  ASSERT_TRUE(AppendEvalResult(env, dir, Result(1, 0, 30), {.steps = 6}).ok());
  EvalHistory parts = *ReadEvalHistory(env, dir);
  EXPECT_EQ(parts.kind, (EvalKind{.steps = 6}));
  ASSERT_EQ(parts.results.size(), 2);
  EXPECT_EQ(parts.results.at(30)["loss"], 1);
  ASSERT_TRUE(AppendEvalResult(env, dir, Result(9, 0, 10)).ok());
  ASSERT_TRUE(AppendEvalResult(env, dir, Result(8, 0, 10)).ok());
  const EvalHistory whole = *ReadEvalHistory(env, dir);
  EXPECT_EQ(whole.kind, EvalKind());
  ASSERT_EQ(whole.results.size(), 1);
  EXPECT_EQ(whole.results.at(10)["loss"], 8);
}

TEST(EvalHistory, HasWhatTheJobComparesAndNoOtherKindByHand) {
  Env* env = Env::Default();
  const std::string dir = ::testing::TempDir() + "/kinds/eval";
  const auto add = [&](double loss, int64_t step, const EvalScope& scope) {
    ASSERT_TRUE(AppendEvalResult(env, dir, Result(loss, 0, step), scope).ok());
  };
  using Losses = std::map<int64_t, double>;
  const auto losses = [&] {
    Losses by_step;
    const EvalHistory history = *ReadEvalHistory(env, dir);
    for (const auto& [step, result] : history.results) by_step[step] = result["loss"];
    return by_step;
  };
  const auto counts = [&](const EvalScope& scope) { return *CountsBesideJob(env, dir, scope); };
  const EvalScope raw = {.raw_weights = true}, part = {.steps = 5}, job_part = {.steps = 6, .job = true};
  // By hand alone.
  add(5, 10, raw);
  EXPECT_EQ(losses(), (Losses{{10, 5}}));
  EXPECT_TRUE(ReadEvalHistory(env, dir)->kind.raw_weights);
  EXPECT_EQ(counts(raw), std::nullopt);
  add(4, 10, {});
  EXPECT_EQ(losses(), (Losses{{10, 4}}));
  EXPECT_EQ(counts(raw), false);
  EXPECT_EQ(counts({}), std::nullopt);
  // A job that evaluates a part, and then another one. What it makes of another kind than before begins anew.
  add(3, 10, job_part);
  add(1, 10, part);
  add(2, 10, {});
  EXPECT_EQ(losses(), (Losses{{10, 3}}));
  EXPECT_EQ(ReadEvalHistory(env, dir)->kind, job_part.kind());
  EXPECT_EQ(counts({.steps = 6}), true);
  EXPECT_EQ(counts(part), false);
  EXPECT_EQ(counts({}), false);
  add(2.5, 20, {.steps = 6});
  EXPECT_EQ(losses(), (Losses{{10, 3}, {20, 2.5}}));
  add(9, 30, {.raw_weights = true, .job = true});
  add(8, 40, {.stopped = true, .raw_weights = true, .job = true});
  add(8, 40, {});
  add(7, 50, raw);
  EXPECT_EQ(losses(), (Losses{{10, 5}, {30, 9}, {50, 7}}));
  EXPECT_TRUE(ReadEvalHistory(env, dir)->job);
}

TEST(BestSteps, AreTheBestOfThoseThatAreThere) {
  EvalHistory history;
  for (const EvalResult& r : {Result(3, 0.1, 10), Result(2, 0.3, 20), Result(1, 0.3, 30), Result(4, NAN, 40)}) {
    history.results[r.global_step()] = r;
  }
  const std::vector<int64_t> all = {0, 10, 20, 30, 40, 50};
  EXPECT_THAT(BestSteps(history, {}, all), ElementsAre(30));
  EXPECT_THAT(BestSteps(history, {.count = 2}, all), ElementsAre(20, 30));
  EXPECT_THAT(BestSteps(history, {.count = 2}, {10, 20, 40}), ElementsAre(10, 20));
  EXPECT_THAT(BestSteps(history, kByAccuracy, all), ElementsAre(20));  // the earlier of two
  EXPECT_THAT(BestSteps(history, {.metric = "accuracy", .direction = MetricDirection::kMax, .count = 9}, all),
              ElementsAre(10, 20, 30));
  EXPECT_THAT(BestSteps(history, {.metric = "f1"}, all), IsEmpty());
}

TEST(MetricOf, NamesWhatThereIs) {
  EvalResult result = Result(1, 0.5, 10);
  result.arrays["confusion"] = HostTensor::Zeros(DType::kFloat64, {2, 2});
  EXPECT_EQ(*MetricOf(result, "accuracy", "here"), 0.5);
  const auto unknown = MetricOf(result, "acuracy", "RunConfig.keep_best");
  EXPECT_EQ(unknown.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(unknown.status().message()),
              HasSubstr("RunConfig.keep_best: the evaluation has no metric \"acuracy\"; did you mean \"accuracy\"? It "
                        "has accuracy, loss"));
  EXPECT_THAT(std::string(MetricOf(result, "confusion", "here").status().message()),
              HasSubstr("is an array of shape [2,2]; name one that is a number"));
}

}  // namespace
}  // namespace tandem
