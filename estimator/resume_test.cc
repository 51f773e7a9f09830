// A run that is killed and started again ends in the same bits as one that was not.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <random>

#include "base/logging.h"
#include "estimator/test_models.h"

namespace tandem {
namespace {

using namespace test;  // NOLINT: this file's vocabulary

constexpr int64_t kMaxSteps = 30;

// A shuffled run over several epochs whose batches do not divide the data.
absl::Status TrainOnce(const std::string& dir, int replicas, HookList hooks = {}) {
  SetMinLogSeverity(LogSeverity::kWarning);
  RunConfig config = Config(dir, replicas);
  config.save_checkpoints_steps = 3;
  Estimator estimator(LineModel, config);
  return estimator.Train(LineInput(50, 4, -1, /*shuffle=*/16), {.max_steps = kMaxSteps, .hooks = std::move(hooks)});
}

// The bytes of the last checkpoint's tensors.
std::string Weights(const std::string& dir) {
  std::string bytes;
  const std::string checkpoint = dir + "/model.ckpt-" + std::to_string(kMaxSteps);
  // Not iterator.state: the same position has several forms, depending on how much was prefetched.
  for (const char* file : {"/variables.safetensors", "/slots.safetensors"}) {
    auto content = Env::Default()->ReadFile(checkpoint + file);
    EXPECT_TRUE(content.ok()) << content.status();
    if (content.ok()) bytes += *content;
  }
  return bytes;
}

class ResumeTest : public ::testing::TestWithParam<int> {};

TEST_P(ResumeTest, InSeveralCallsAndProcesses) {
  const int replicas = GetParam();
  const std::string whole = ModelDir("whole"), parts = ModelDir("parts");
  ASSERT_EQ(TrainOnce(whole, replicas), absl::OkStatus());
  for (int64_t stop : {7, 8, 20}) {
    auto hook = std::make_shared<StepHook>([stop](RunContext& context, const RunValues&) {
      if (context.global_step() == stop) context.RequestStop();
    });
    ASSERT_EQ(TrainOnce(parts, replicas, {hook}), absl::OkStatus());
  }
  ASSERT_EQ(TrainOnce(parts, replicas), absl::OkStatus());
  EXPECT_EQ(Weights(whole), Weights(parts));
}

TEST_P(ResumeTest, AfterKills) {
  const int replicas = GetParam();
  const std::string whole = ModelDir("whole"), killed = ModelDir("killed");
  // Each run is a process of its own, forked before this one has any threads.
  auto run = [replicas](const std::string& dir, int64_t kill_after) {
    const pid_t child = fork();
    if (child == 0) {
      int64_t steps = 0;
      auto hook = std::make_shared<StepHook>([&](RunContext&, const RunValues&) {
        if (++steps == kill_after) raise(SIGKILL);
      });
      _exit(TrainOnce(dir, replicas, {hook}).ok() ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return status;
  };
  ASSERT_EQ(run(whole, -1), 0);
  std::mt19937 random(replicas);
  int kills = 0;
  for (int attempt = 0; attempt < 10; ++attempt) {
    const int status = run(killed, 1 + random() % 6);
    if (WIFEXITED(status)) {
      ASSERT_EQ(WEXITSTATUS(status), 0);
      break;
    }
    ASSERT_EQ(WTERMSIG(status), SIGKILL);
    ++kills;
  }
  EXPECT_GE(kills, 5);
  ASSERT_EQ(run(killed, -1), 0);
  EXPECT_EQ(Weights(whole), Weights(killed));
}

INSTANTIATE_TEST_SUITE_P(Replicas, ResumeTest, ::testing::Values(1, 2));

}  // namespace
}  // namespace tandem
