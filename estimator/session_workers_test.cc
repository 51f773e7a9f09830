// Loops of their own on two workers, as real processes, against one process with two devices.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <iostream>
#include <string>

#include "absl/strings/match.h"
#include "base/logging.h"
#include "base/status_macros.h"
#include "estimator/monitored_training_session.h"
#include "estimator/test_models.h"
#include "estimator/test_workers.h"

namespace tandem {
namespace {

using namespace test;  // NOLINT: this file's vocabulary

using Session = MonitoredTrainingSession;

InputFn Input() { return LineInput(61, 4, /*epochs=*/3, /*shuffle=*/20); }

std::string Weights(const std::string& dir) {
  const auto latest = CheckpointManager(Env::Default(), dir).LatestCheckpoint();
  EXPECT_TRUE(latest.ok() && latest->has_value()) << latest.status();
  return BaseName(**latest) + *Env::Default()->ReadFile(**latest + "/variables.safetensors");
}

bool AsTwo(const std::string& dir, const std::function<absl::Status(int rank, Estimator&)>& work) {
  return AsWorkers(2, [&](int rank, RunConfig config) {
    SetMinLogSeverity(LogSeverity::kError);
    config.model_dir = dir;
    config.train_distribute->devices.resize(1);
    config.save_checkpoints_steps = 5;
    Estimator estimator(LineModel, config);
    const absl::Status status = work(rank, estimator);
    if (!status.ok()) std::cerr << status << "\n";
    return status.ok();
  });
}

TEST(SessionWorkers, AllLoopsEndAfterTheSameStep) {
  for (const int leaves : {-1, 0, 1}) {  // the worker that leaves its loop after seven steps
    const std::string dir = ModelDir("two"), one = ModelDir("one");
    EXPECT_TRUE(AsTwo(dir, [&](int rank, Estimator& estimator) -> absl::Status {
      TD_ASSIGN_OR_RETURN(auto session, Session::Start(estimator, Input()));
      while (!session->ShouldStop()) {
        TD_ASSIGN_OR_RETURN(const RunValues values, session->Run());
        if (values.examples > 8) return absl::InternalError("not the examples of both");
        if (rank == leaves && session->global_step() == 7) break;
      }
      TD_RETURN_IF_ERROR(session->Close());
      if (leaves >= 0 && estimator.last_train_result()->global_step != 7) return absl::InternalError("not after 7");
      return absl::OkStatus();
    }));
    RunConfig config = Config(one, 2);
    config.save_checkpoints_steps = 5;
    TrainOptions options;
    if (leaves >= 0) options.steps = 7;
    ASSERT_EQ(Estimator(LineModel, config).Train(Input(), options), absl::OkStatus());
    EXPECT_EQ(Weights(dir), Weights(one)) << leaves;
  }
}

// A loop that evaluates behind every third step, half of the times before that it has asked for the next one.
absl::StatusOr<std::string> TrainAndEvaluateByHand(RunConfig config) {
  SetMinLogSeverity(LogSeverity::kError);
  Estimator estimator(LineModel, config);
  TD_ASSIGN_OR_RETURN(auto session, Session::Start(estimator, Input(), {.steps = 9}));
  std::string text;
  while (!session->ShouldStop()) {
    TD_RETURN_IF_ERROR(session->Run().status());
    const int64_t step = session->global_step();
    if (step % 3 != 0) continue;
    if (step % 2 == 0) session->ShouldStop();
    TD_ASSIGN_OR_RETURN(const EvalResult result, estimator.Evaluate(LineInput(37, 4, /*epochs=*/1)));
    text += result.ToJson();
  }
  TD_RETURN_IF_ERROR(session->Close());
  TD_ASSIGN_OR_RETURN(const EvalResult result, estimator.Evaluate(LineInput(37, 4, /*epochs=*/1)));
  return text + result.ToJson();
}

TEST(SessionWorkers, AllEvaluateBetweenSteps) {
  const std::vector<std::string> two = ResultsOfWorkers(2, [](int, RunConfig config) {
    const absl::StatusOr<std::string> text = TrainAndEvaluateByHand(config);
    return text.ok() ? *text : text.status().ToString();
  });
  RunConfig config = Config(ModelDir("by_hand"), 2);
  config.save_checkpoints_steps = 0;
  const absl::StatusOr<std::string> one = TrainAndEvaluateByHand(config);
  ASSERT_TRUE(one.ok()) << one.status();
  EXPECT_EQ(two, std::vector<std::string>(2, *one));
}

TEST(SessionWorkers, OneThatEvaluatesAloneSaysSo) {
  EXPECT_TRUE(AsTwo(ModelDir(), [](int rank, Estimator& estimator) -> absl::Status {
    TD_ASSIGN_OR_RETURN(auto session, Session::Start(estimator, Input()));
    TD_RETURN_IF_ERROR(session->Run().status());
    absl::Status status = rank == 0 ? estimator.Evaluate(Input()).status() : absl::OkStatus();
    while (status.ok()) status = session->Run().status();
    return absl::StrContains(status.message(), "evaluates between two steps, and ")
               ? absl::OkStatus()
               : absl::InternalError(status.ToString());
  }));
}

// A worker whose others do not come. Without a training, a signal has its usual effect.
TEST(SessionWorkers, WhoWaitsForOthersCanBeStopped) {
  const std::string dir = ModelDir();
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    RunConfig config = Config(dir);
    config.train_distribute = MultiWorkerMirroredStrategy();
    config.cluster = Cluster{.source = "a test", .rank = 0, .world_size = 2, .coordinator = FreeAddress()};
    (void)Estimator(LineModel, config).Train(Input(), {.steps = 1});
    _exit(1);
  }
  usleep(700000);
  ASSERT_EQ(kill(child, SIGINT), 0);
  int status = 0;
  for (int i = 0; i < 100 && waitpid(child, &status, WNOHANG) == 0; ++i) usleep(100000);
  if (!WIFSIGNALED(status)) kill(child, SIGKILL);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT) << status;
}

TEST(SessionWorkers, AWorkerThatDropsItsSessionEndsAll) {
  EXPECT_TRUE(AsTwo(ModelDir(), [](int rank, Estimator& estimator) -> absl::Status {
    TD_ASSIGN_OR_RETURN(auto session, Session::Start(estimator, Input()));
    if (rank == 1) {
      for (int i = 0; i < 3; ++i) TD_RETURN_IF_ERROR(session->Run().status());
      session.reset();
      return absl::OkStatus();
    }
    absl::Status status;
    while (status.ok()) status = session->Run().status();
    return absl::StrContains(status.message(), "a MonitoredTrainingSession ended without Close")
               ? absl::OkStatus()
               : absl::InternalError(status.ToString());
  }));
}

}  // namespace
}  // namespace tandem
