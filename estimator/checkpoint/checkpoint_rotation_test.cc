// Which checkpoints rotation leaves besides the newest ones.
#include <gtest/gtest.h>

#include "base/fault_injecting_env.h"
#include "base/logging.h"
#include "estimator/checkpoint/checkpoint_manager.h"
#include "estimator/checkpoint/test_util.h"

namespace tandem {
namespace {

using Steps = std::vector<int64_t>;

// With a clock that the test sets.
class ClockEnv : public FaultInjectingEnv {
 public:
  ClockEnv() : FaultInjectingEnv(Env::Default()) {}
  double NowSeconds() override { return now; }
  double now = 1e9;
};

Steps StepsIn(const std::string& dir) {
  Steps steps;
  const std::vector<std::string> paths = *CheckpointManager(Env::Default(), dir).ListCheckpoints();
  for (const std::string& path : paths) {
    steps.push_back(*CheckpointStep(BaseName(path)));
  }
  return steps;
}

void Save(CheckpointManager& manager, const Steps& steps) {
  for (int64_t step : steps) {
    auto saved = manager.Save(TestData(step));
    ASSERT_TRUE(saved.ok()) << saved.status();
  }
}

TEST(CheckpointRotation, LeavesWhatIsProtectedBesidesTheNewest) {
  const std::string dir = FreshPath("protected");
  CheckpointManager manager(Env::Default(), dir, 2);
  std::set<int64_t> best = {20};
  std::vector<Steps> asked;
  manager.set_protected([&](const Steps& steps) -> absl::StatusOr<std::set<int64_t>> {
    asked.push_back(steps);
    return best;
  });
  Save(manager, {10, 20, 30, 40, 50});
  EXPECT_EQ(StepsIn(dir), (Steps{20, 40, 50}));
  EXPECT_EQ(asked.back(), (Steps{20, 30, 40, 50}));
  const std::string pointer = FilesOf(dir).at("checkpoint");
  EXPECT_EQ(pointer.substr(0, pointer.find('#')),
            "model_checkpoint_path: \"model.ckpt-50\"\nall_model_checkpoint_paths: \"model.ckpt-20\"\n"
            "all_model_checkpoint_paths: \"model.ckpt-40\"\nall_model_checkpoint_paths: \"model.ckpt-50\"\n");
  best = {50};  // which is among the newest two when 60 comes, and then besides them
  Save(manager, {60});
  EXPECT_EQ(StepsIn(dir), (Steps{50, 60}));
  Save(manager, {70});
  EXPECT_EQ(StepsIn(dir), (Steps{50, 60, 70}));
}

TEST(CheckpointRotation, DeletesNothingWhileNobodyKnowsWhatIsProtected) {
  const std::string dir = FreshPath("unknown");
  CheckpointManager manager(Env::Default(), dir, 1);
  bool broken = true;
  manager.set_protected([&](const Steps&) -> absl::StatusOr<std::set<int64_t>> {
    if (broken) return absl::InternalError("no idea");
    return std::set<int64_t>{10};
  });
  LogCapture log;
  Save(manager, {10, 20, 30});
  EXPECT_EQ(StepsIn(dir), (Steps{10, 20, 30}));
  EXPECT_TRUE(log.Contains("Could not delete old checkpoints: no idea"));
  broken = false;
  Save(manager, {40});
  EXPECT_EQ(StepsIn(dir), (Steps{10, 40}));
}

// Half an hour between checkpoints, and one of every hour stays: the first one an hour after the one before.
TEST(CheckpointRotation, KeepsOneOfEveryNHours) {
  const std::string dir = FreshPath("hours");
  ClockEnv env;
  CheckpointManager manager(&env, dir, 2);
  manager.set_keep_every_n_hours(1);
  for (int64_t step = 10; step <= 80; step += 10, env.now += 1800) Save(manager, {step});
  EXPECT_EQ(StepsIn(dir), (Steps{30, 50, 70, 80}));

  // In another process, and in a copy of the directory, whose files have the time of the copy.
  const std::string moved = FreshPath("hours_moved");
  ASSERT_TRUE(Env::Default()->Rename(dir, moved).ok());
  CheckpointManager next(&env, moved, 2);
  next.set_keep_every_n_hours(1);
  EXPECT_EQ(*next.Recover(), moved + "/model.ckpt-80");
  for (int64_t step = 90; step <= 120; step += 10, env.now += 1800) Save(next, {step});
  EXPECT_EQ(StepsIn(moved), (Steps{30, 50, 70, 90, 110, 120}));

  // Without the option nothing is added, and what was kept stays.
  CheckpointManager without(&env, moved, 1);
  for (int64_t step = 130; step <= 160; step += 10, env.now += 1800) Save(without, {step});
  EXPECT_EQ(StepsIn(moved), (Steps{30, 50, 70, 90, 110, 160}));
}

TEST(CheckpointRotation, AClockThatWasPutBackDoesNotStopIt) {
  const std::string dir = FreshPath("back");
  ClockEnv env;
  CheckpointManager manager(&env, dir, 1);
  manager.set_keep_every_n_hours(1);
  Save(manager, {10});
  env.now -= 1e6;
  Save(manager, {20});
  env.now += 3600;
  Save(manager, {30, 40, 50});
  EXPECT_EQ(StepsIn(dir), (Steps{30, 50}));
}

TEST(CheckpointRotation, ADamagedListOfKeptOnesDeletesNothing) {
  const std::string dir = FreshPath("damaged_list");
  CheckpointManager manager(Env::Default(), dir, 1);
  manager.set_keep_every_n_hours(1);
  Save(manager, {10});
  ASSERT_TRUE(Env::Default()->WriteFile(dir + "/kept_checkpoints.json", {"{\"since\": 3"}).ok());
  LogCapture log;
  Save(manager, {20, 30});
  EXPECT_EQ(StepsIn(dir), (Steps{10, 20, 30}));
  EXPECT_TRUE(log.Contains("kept_checkpoints.json: not a list of kept checkpoints; delete it to keep none of them"));
}

}  // namespace
}  // namespace tandem
