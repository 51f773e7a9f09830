#include "estimator/evaluation/eval_log.h"

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <thread>

#include "base/fault_injecting_env.h"
#include "estimator/evaluation/best_record.h"

namespace tandem {
namespace {

EvalResult Result(double loss, int64_t step) {
  return EvalResult{{{"loss", loss}, {"global_step", static_cast<double>(step)}}};
}

TEST(EvalLog, NamedEvaluationsHaveTheirOwnFolder) {
  EXPECT_EQ(EvalDir("/m", ""), "/m/eval");
  EXPECT_EQ(EvalDir("/m", "train"), "/m/eval_train");
}

TEST(EvalLog, FindsTheLastResultOfAStep) {
  Env* env = Env::Default();
  const std::string dir = ::testing::TempDir() + "/log/eval";
  EXPECT_FALSE((*FindEvalResult(env, dir, 10)).has_value());
  for (const EvalResult& r : {Result(3, 10), Result(2, 20), Result(1, 10)}) {
    ASSERT_TRUE(AppendEvalResult(env, dir, r).ok());
  }
  EXPECT_EQ((**FindEvalResult(env, dir, 10))["loss"], 1);
  EXPECT_EQ((**FindEvalResult(env, dir, 20))["loss"], 2);
  EXPECT_FALSE((*FindEvalResult(env, dir, 30)).has_value());
  ASSERT_TRUE(env->WriteFile(dir + "/metrics.jsonl", {"garbage\n{\"loss\":4,\"global_step\":30}\n"}).ok());
  EXPECT_EQ((**FindEvalResult(env, dir, 30))["loss"], 4);
}

// A value that nests so deeply ends a program that copies it.
TEST(EvalLog, PassesOverALineThatNestsDeeply) {
  Env* env = Env::Default();
  const std::string dir = ::testing::TempDir() + "/deep/eval";
  ASSERT_TRUE(env->CreateDirs(dir).ok());
  const std::string deep = std::string(200000, '[') + std::string(200000, ']');
  for (const std::string& line :
       {"{\"global_step\":30,\"a\":" + deep + "}", "{\"evaluation_of\":" + deep + "}", deep}) {
    ASSERT_TRUE(env->WriteFile(dir + "/metrics.jsonl", {line, "\n{\"loss\":4,\"global_step\":30}\n"}).ok());
    EXPECT_EQ((**FindEvalResult(env, dir, 30))["loss"], 4);
    EXPECT_EQ(ReadEvalHistory(env, dir)->results.size(), 1);
  }
}

TEST(EvalLog, LinesAddedAtOnceAreAllThere) {
  Env* env = Env::Default();
  const std::string dir = ::testing::TempDir() + "/at_once/eval";
  constexpr int kWriters = 6, kLines = 20;
  const auto append = [&](int writer) {
    absl::Status status;
    for (int i = 0; i < kLines; ++i) status.Update(AppendEvalResult(env, dir, Result(0.5, writer * kLines + i)));
    return status;
  };
  std::vector<pid_t> processes;
  for (int writer = 0; writer < kWriters / 2; ++writer) {
    const pid_t process = fork();
    if (process == 0) _exit(append(writer).ok() ? 0 : 1);
    processes.push_back(process);
  }
  std::vector<std::thread> threads;
  for (int writer = kWriters / 2; writer < kWriters; ++writer) {
    threads.emplace_back([&, writer] { EXPECT_EQ(append(writer), absl::OkStatus()); });
  }
  for (std::thread& thread : threads) thread.join();
  for (pid_t process : processes) {
    int status = 0;
    ASSERT_EQ(waitpid(process, &status, 0), process);
    EXPECT_EQ(status, 0);
  }
  for (int step = 0; step < kWriters * kLines; ++step) {
    EXPECT_TRUE(FindEvalResult(env, dir, step)->has_value()) << step;
  }
}

TEST(EvalLog, ALockThatIsNotGivenBackIsAnError) {
  FaultInjectingEnv env(Env::Default());  // does not sleep
  const std::string dir = ::testing::TempDir() + "/held/eval";
  ASSERT_TRUE(env.CreateDirs(dir).ok());
  const auto lock = env.TryLock(dir + "/.lock");
  const absl::Status status = AppendEvalResult(&env, dir, Result(1, 1));
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_NE(status.message().find("/held/eval/.lock: is locked for more than 20 seconds"), std::string::npos);
}

TEST(EvalLog, TellsWhatAnEvaluationWasOf) {
  Env* env = Env::Default();
  const std::string dir = ::testing::TempDir() + "/scopes/eval";
  const EvalScope part{.steps = 3}, other{.checkpoint = "/other/model.ckpt-10"}, stopped{.steps = 3, .stopped = true};
  ASSERT_TRUE(AppendEvalResult(env, dir, Result(5, 10)).ok());
  ASSERT_TRUE(AppendEvalResult(env, dir, Result(4, 10), part).ok());
  ASSERT_TRUE(AppendEvalResult(env, dir, Result(3, 10), other).ok());
  ASSERT_TRUE(AppendEvalResult(env, dir, Result(2, 10), stopped).ok());
  EXPECT_EQ((**FindEvalResult(env, dir, 10))["loss"], 5);
  EXPECT_EQ((**FindEvalResult(env, dir, 10, part))["loss"], 4);
  EXPECT_EQ((**FindEvalResult(env, dir, 10, other))["loss"], 3);
  EXPECT_EQ((**FindEvalResult(env, dir, 10, stopped))["loss"], 2);
  EXPECT_FALSE((*FindEvalResult(env, dir, 10, {.steps = 4})).has_value());
  const std::string lines = *env->ReadFile(dir + "/metrics.jsonl");
  EXPECT_EQ(lines.substr(0, lines.find('\n')), R"({"global_step":10,"loss":5.0})");
  EXPECT_NE(lines.find(R"({"global_step":10,"loss":3.0,"evaluation_of":{"checkpoint":"/other/model.ckpt-10"}})"),
            std::string::npos)
      << lines;
}

TEST(EvalLog, TellsTheDataOfAJobFromOthers) {
  Env* env = Env::Default();
  const std::string dir = ::testing::TempDir() + "/data/eval", test = "0123", train = "4567";
  const auto losses = [&] {
    std::map<int64_t, double> by_step;
    const EvalHistory history = *ReadEvalHistory(env, dir);
    for (const auto& [step, result] : history.results) by_step[step] = result["loss"];
    return by_step;
  };
  using Losses = std::map<int64_t, double>;
  // A line of before, which does not know its data, and one by hand. Without a job all count.
  ASSERT_TRUE(AppendEvalResult(env, dir, Result(9, 5)).ok());
  ASSERT_TRUE(AppendEvalResult(env, dir, Result(1, 10), {.data = train}).ok());
  EXPECT_EQ(losses(), (Losses{{5, 9}, {10, 1}}));
  EXPECT_EQ(*CountsBesideJob(env, dir, {.data = test}), std::nullopt);
  ASSERT_TRUE(AppendEvalResult(env, dir, Result(3, 10), {.data = test, .job = true}).ok());
  ASSERT_TRUE(AppendEvalResult(env, dir, Result(0.5, 10), {.data = train}).ok());
  ASSERT_TRUE(AppendEvalResult(env, dir, Result(0.5, 20), {.data = train}).ok());
  EXPECT_EQ(losses(), (Losses{{5, 9}, {10, 3}}));
  ASSERT_TRUE(AppendEvalResult(env, dir, Result(2, 20), {.data = test}).ok());
  ASSERT_TRUE(AppendEvalResult(env, dir, Result(2.5, 30), {}).ok());  // of data that cannot tell
  EXPECT_EQ(losses(), (Losses{{5, 9}, {10, 3}, {20, 2}, {30, 2.5}}));
  EXPECT_EQ(*CountsBesideJob(env, dir, {.data = test}), true);
  EXPECT_EQ(*CountsBesideJob(env, dir, {}), true);
  EXPECT_EQ(*CountsBesideJob(env, dir, {.data = train}), false);
  // A job that makes its data anew.
  ASSERT_TRUE(AppendEvalResult(env, dir, Result(1.5, 40), {.data = "89ab", .job = true}).ok());
  EXPECT_EQ(losses(), (Losses{{5, 9}, {10, 3}, {20, 2}, {30, 2.5}, {40, 1.5}}));

  EXPECT_EQ((**FindEvalResult(env, dir, 10))["loss"], 3);  // the job's own first
  EXPECT_EQ((**FindEvalResult(env, dir, 10, {}, test))["loss"], 3);
  EXPECT_EQ((**FindEvalResult(env, dir, 10, {}, train))["loss"], 0.5);
  EXPECT_FALSE((*FindEvalResult(env, dir, 10, {}, "")).has_value());
  EXPECT_EQ((**FindEvalResult(env, dir, 5, {}, test))["loss"], 9);
  const std::string lines = *env->ReadFile(dir + "/metrics.jsonl");
  EXPECT_NE(lines.find("\"loss\":3.0,\"evaluation_of\":{\"data\":\"" + test + "\",\"job\":true}}"), std::string::npos)
      << lines;
}

TEST(BestRecords, ComparesWhatCoversTheSame) {
  BestRecords best;
  EXPECT_TRUE(best.Update("", Result(1, 10), {.steps = 5}));
  EXPECT_FALSE(best.Update("", Result(2, 20), {.steps = 5}));
  EXPECT_TRUE(best.Update("", Result(2, 20), {.steps = 6}));
  EXPECT_TRUE(best.Update("", Result(3, 30)));
  EXPECT_FALSE(best.Update("", Result(1, 40), {.steps = 6}));
  EXPECT_TRUE(best.Update("", Result(2.5, 40)));
  // Weights as trained and averages are not compared.
  EXPECT_TRUE(best.Update("", Result(9, 50), {.raw_weights = true}));
  EXPECT_FALSE(best.Update("", Result(10, 60), {.raw_weights = true}));
  EXPECT_TRUE(BestRecords::FromJson(best.ToJson())->records().at("").raw_weights);
  EXPECT_TRUE(best.Update("", Result(12, 70)));
  ASSERT_TRUE(best.Update("part", Result(1, 10), {.steps = 5}));
  const auto back = BestRecords::FromJson(best.ToJson());
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back->records().at("").steps, 0);
  EXPECT_EQ(back->records().at("part").steps, 5);
}

TEST(EvalLog, InfinitiesComeBack) {
  const std::string dir = testing::TempDir() + "/InfinitiesComeBack";
  for (const auto& [step, loss] : {std::pair(1, double{INFINITY}), std::pair(2, double{-INFINITY})}) {
    ASSERT_EQ(AppendEvalResult(Env::Default(), dir, Result(loss, step)), absl::OkStatus());
    EXPECT_EQ((**FindEvalResult(Env::Default(), dir, step))["loss"], loss);
  }
  BestRecords best;
  const EvalHistory history = *ReadEvalHistory(Env::Default(), dir);
  for (const auto& [step, result] : history.results) EXPECT_TRUE(best.Update("", result)) << step;
  EXPECT_EQ(best.records().at("").loss, -INFINITY);
  BestRecords back;
  ASSERT_EQ(back.Restore(best.ToJson()), absl::OkStatus());
  EXPECT_EQ(back.records().at("").loss, -INFINITY);
  EXPECT_FALSE(back.Update("", Result(-1e300, 3)));
  EXPECT_EQ(BestSteps(history, {.count = 1}, {1, 2}), std::set<int64_t>{2});
}

TEST(BestRecords, KeepsTheSmallestLossPerEvaluationAndNoNaN) {
  BestRecords best;
  EXPECT_FALSE(best.Update("", Result(NAN, 5)));
  EXPECT_TRUE(best.Update("", Result(2, 10)));
  EXPECT_FALSE(best.Update("", Result(2, 20)));
  EXPECT_FALSE(best.Update("", Result(NAN, 25)));
  EXPECT_TRUE(best.Update("", Result(1.5, 30)));
  EXPECT_TRUE(best.Update("train", Result(9, 30)));
  auto back = BestRecords::FromJson(best.ToJson());
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back->records().at("").global_step, 30);
  EXPECT_EQ(back->records().at("").loss, 1.5);
  EXPECT_EQ(back->records().at("train").loss, 9);
  EXPECT_TRUE(BestRecords::FromJson("")->records().empty());
  for (const char* bad : {"[", "[]", "{\"\": 3}", "{\"\": {\"loss\": 1}}"}) {
    EXPECT_FALSE(BestRecords::FromJson(bad).ok()) << bad;
  }
}

}  // namespace
}  // namespace tandem
