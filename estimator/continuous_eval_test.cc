#include "estimator/continuous_eval.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <functional>

#include "absl/strings/str_cat.h"
#include "base/exit_code.h"
#include "base/fault_injecting_env.h"
#include "base/logging.h"
#include "base/status_macros.h"
#include "estimator/checkpoint/done_marker.h"
#include "estimator/evaluation/eval_log.h"
#include "estimator/internal/evaluator_task.h"
#include "estimator/test_models.h"

namespace tandem {
namespace {

using namespace test;  // NOLINT: this file's vocabulary
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Its time passes in sleeps, in which the test may do what another process would. `on_sleep` gets the time that has
// passed.
class SleepEnv : public FaultInjectingEnv {
 public:
  SleepEnv() : FaultInjectingEnv(Env::Default()) {}
  double MonotonicSeconds() override { return now; }
  void SleepSeconds(double seconds) override {
    now += seconds;
    ASSERT_LT(now, 1e5) << "waits for ever";
    if (on_sleep) on_sleep(now);
  }
  double now = 0;
  std::function<void(double)> on_sleep;
};

class ContinuousEvalTest : public ::testing::Test {
 protected:
  void SetUp() override {
    dir_ = ModelDir();
    config_ = Config(dir_);
    config_.env = &env_;
    RunConfig training = Config(dir_);
    training.save_checkpoints_steps = 10;
    trainer_ = std::make_unique<Estimator>(LineModel, training);
  }
  void TrainTo(int64_t step) { ASSERT_EQ(trainer_->Train(LineInput(), {.max_steps = step}), absl::OkStatus()); }
  void End(int64_t step, const std::string& reason = "max_steps") {
    ASSERT_TRUE(WriteDoneMarker(Env::Default(), dir_, {.final_step = step, .reason = reason}).ok());
  }
  EvalSpec Eval(double throttle_secs, double start_delay_secs = 0) {
    return {.input_fn = LineInput(64, 8, 1),
            .name = "all",
            .start_delay_secs = start_delay_secs,
            .throttle_secs = throttle_secs};
  }
  absl::StatusOr<EvalResult> Run(const EvalSpec& eval, const ContinuousEvalOptions& options = {}) {
    Estimator estimator(LineModel, config_);
    return ContinuousEval(estimator, eval, options);
  }
  absl::StatusOr<EvalResult> RunTask(const EvaluatorTask::Options& options) {
    Estimator estimator(LineModel, config_);
    const std::vector<EvalSpec> evals = {Eval(0)};
    TD_ASSIGN_OR_RETURN(const EvalResults results, EvaluatorTask(estimator, evals, options).Run());
    return results.begin()->second;
  }
  std::vector<int64_t> Evaluated() {
    std::vector<int64_t> steps;
    const auto history = ReadEvalHistory(Env::Default(), dir_ + "/eval_all");
    EXPECT_TRUE(history.ok()) << history.status();
    if (!history.ok()) return steps;
    for (const auto& entry : history->results) steps.push_back(entry.first);
    return steps;
  }
  SleepEnv env_;
  std::string dir_;
  RunConfig config_;
  std::unique_ptr<Estimator> trainer_;
};

TEST_F(ContinuousEvalTest, EvaluatesWhatComesUntilTrainingHasEnded) {
  int stage = 0;
  env_.on_sleep = [&](double now) {
    constexpr double kAt[] = {50, 100, 200, 1e9};
    if (now < kAt[stage]) return;
    ++stage;
    TrainTo(stage < 3 ? 10 * stage : 40);
    if (stage == 3) End(40);
  };
  const auto result = Run(Eval(0));
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->global_step(), 40);
  EXPECT_THAT(Evaluated(), ElementsAre(10, 20, 40));
}

// 10 s between checkpoints, and 25 s between evaluations.
TEST_F(ContinuousEvalTest, AtMostOneEvaluationInThrottleSecs) {
  int64_t trained = 0;
  env_.on_sleep = [&](double now) {
    if (trained < 100 && now >= static_cast<double>(trained) + 10) TrainTo(trained += 10);
    if (trained == 100) End(100);
  };
  const auto result = Run(Eval(25));
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_THAT(Evaluated(), ElementsAre(10, 30, 60, 80, 100));
}

TEST_F(ContinuousEvalTest, ADirectoryThatIsDoneIsEvaluatedAtOnce) {
  TrainTo(20);
  End(20, "early stopping: enough");
  const auto result = Run(Eval(600, /*start_delay_secs=*/120));
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_THAT(Evaluated(), ElementsAre(20));
  EXPECT_EQ(env_.now, 0);
}

TEST_F(ContinuousEvalTest, EndsAfterATimeWithoutNews) {
  TrainTo(10);
  const auto result = Run(Eval(5), {.timeout_secs = 60});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->global_step(), 10);
  EXPECT_GE(env_.now, 60);
  EXPECT_LT(env_.now, 70);
}

TEST_F(ContinuousEvalTest, ATimeoutWithoutAnyCheckpointIsAnError) {
  const auto result = Run(Eval(5), {.timeout_secs = 60});
  EXPECT_EQ(result.status().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(std::string(result.status().message()),
              HasSubstr(absl::StrCat("no new checkpoint in ", dir_, " for 60")));
}

TEST_F(ContinuousEvalTest, EndsAfterSoManyEvaluations) {
  int64_t trained = 0;
  env_.on_sleep = [&](double) { TrainTo(trained += 10); };
  const auto result = Run(Eval(0), {.max_evaluations = 2});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(Evaluated().size(), 2);
}

TEST_F(ContinuousEvalTest, ASignalEndsIt) {
  env_.on_sleep = [](double now) {
    if (now >= 3) std::raise(SIGTERM);
  };
  EXPECT_EQ(ExitCodeFor(Run(Eval(0)).status()), kExitTerminated);
}

TEST_F(ContinuousEvalTest, ASignalBehindTheLastEvaluationIsNotForgotten) {
  class RaisingExporter : public Exporter {
   public:
    std::string name() const override { return "raising"; }
    absl::StatusOr<std::string> Export(Estimator&, const ExportRequest&) override {
      std::raise(SIGTERM);
      return std::string();
    }
  };
  TrainTo(10);
  EvalSpec spec = Eval(0);
  spec.exporters = {std::make_shared<RaisingExporter>()};
  EXPECT_EQ(ExitCodeFor(Run(spec, {.max_evaluations = 1}).status()), kExitTerminated);
  EXPECT_THAT(Evaluated(), ElementsAre(10));
}

// The marker of a job that ended otherwise than by max_steps, and goes on now: the evaluator is there first.
TEST_F(ContinuousEvalTest, AnEvaluatorDoesNotTakeAnOldMarkerForTheEnd) {
  TrainTo(10);
  End(10, "stop requested");
  int stage = 0;
  env_.on_sleep = [&](double now) {
    if (stage == 0 && now >= 20) {
      ++stage;
      ASSERT_TRUE(RemoveDoneMarker(Env::Default(), dir_).ok());
    } else if (stage == 1 && now >= 100) {
      ++stage;
      TrainTo(30);
      End(30, "stop requested");
    }
  };
  const auto result = RunTask({.max_steps = 100, .distrust_done_secs = 30});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_THAT(Evaluated(), ElementsAre(10, 30));
}

// Nobody trains any more.
TEST_F(ContinuousEvalTest, AnEvaluatorBelievesAMarkerThatStays) {
  TrainTo(10);
  End(10, "stop requested");
  const auto result = RunTask({.max_steps = 100, .distrust_done_secs = 30});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->global_step(), 10);
  EXPECT_GE(env_.now, 30);
  EXPECT_LT(env_.now, 32);
}

TEST_F(ContinuousEvalTest, AnEvaluatorEndsAtOnceWhereThereIsNothingToTrain) {
  TrainTo(20);
  End(20);
  const auto result = RunTask({.max_steps = 20, .distrust_done_secs = 30});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(env_.now, 0);
}

TEST_F(ContinuousEvalTest, RefusesNonsense) {
  TrainTo(10);
  EvalSpec by_steps = Eval(0);
  by_steps.every_steps = 10;
  EXPECT_THAT(std::string(Run(by_steps).status().message()), HasSubstr("ContinuousEval evaluates checkpoints"));
  EXPECT_EQ(ExitCodeFor(Run(Eval(-1)).status()), kExitUsage);
  for (const ContinuousEvalOptions& bad :
       {ContinuousEvalOptions{.timeout_secs = -1}, ContinuousEvalOptions{.max_evaluations = -1}}) {
    EXPECT_EQ(ExitCodeFor(Run(Eval(0), bad).status()), kExitUsage);
  }
}

}  // namespace
}  // namespace tandem
