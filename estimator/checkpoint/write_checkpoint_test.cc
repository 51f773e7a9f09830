// A checkpoint under a name of the user's is whole or not there, whatever fails.
#include "estimator/checkpoint/write_checkpoint.h"

#include <errno.h>

#include "absl/strings/str_cat.h"
#include "base/exit_code.h"
#include "base/fault_injecting_env.h"
#include "estimator/checkpoint/checkpoint_manager.h"
#include "estimator/checkpoint/test_util.h"
#include "gtest/gtest.h"

namespace tandem {
namespace {

TEST(WriteCheckpointTest, IsReadAndFound) {
  const std::string dir = FreshPath("written") + "/new";
  Env* env = Env::Default();
  for (const std::string& name : {std::string("average"), std::string("model.ckpt-7")}) {
    ASSERT_EQ(WriteNewCheckpoint(env, JoinPath(dir, name), TestData(7)), absl::OkStatus());
    auto read = ReadCheckpoint(env, JoinPath(dir, name));
    ASSERT_TRUE(read.ok()) << read.status();
    ExpectEqual(*read, TestData(7));
  }
  EXPECT_EQ(*CheckpointManager(env, dir).LatestCheckpoint(), JoinPath(dir, "model.ckpt-7"));
  EXPECT_EQ(NamesIn(dir), (std::vector<std::string>{"average", "model.ckpt-7"}));
}

TEST(WriteCheckpointTest, NothingIsReplaced) {
  const std::string dir = FreshPath("kept");
  ASSERT_EQ(WriteNewCheckpoint(Env::Default(), dir, TestData(7)), absl::OkStatus());
  const absl::Status status = WriteNewCheckpoint(Env::Default(), dir, TestData(8));
  EXPECT_EQ(ExitCodeFor(status), kExitUsage);
  EXPECT_EQ(status.message(), dir + ": is there already; delete it, or choose another name");
  EXPECT_EQ(ReadCheckpoint(Env::Default(), dir)->global_step, 7);
}

TEST(WriteCheckpointTest, ANameOfAnotherStepIsAnError) {
  const std::string path = FreshPath("model.ckpt-8");
  const absl::Status status = WriteNewCheckpoint(Env::Default(), path, TestData(7));
  EXPECT_EQ(ExitCodeFor(status), kExitUsage);
  EXPECT_EQ(status.message(),
            path + ": the checkpoint is of step 7; call it model.ckpt-7, or by a name without a step");
}

TEST(WriteCheckpointTest, WhenAnOperationFailsThereIsNothing) {
  const std::string dir = FreshPath("full");
  ASSERT_EQ(Env::Default()->CreateDirs(dir), absl::OkStatus());
  const std::string path = JoinPath(dir, "average");
  for (FileOp op : {FileOp::kCreate, FileOp::kWrite, FileOp::kSync, FileOp::kRename, FileOp::kCreateDir}) {
    for (int n = 1;; ++n) {
      FaultInjectingEnv env(Env::Default());
      env.FailNth(op, n, ENOSPC);
      const absl::Status status = WriteNewCheckpoint(&env, path, TestData(7));
      if (status.ok()) break;
      EXPECT_EQ(ExitCodeFor(status), kExitIo) << status;
      EXPECT_TRUE(NamesIn(dir).empty()) << static_cast<int>(op) << " " << n << ": " << NamesIn(dir)[0];
    }
    ASSERT_EQ(Env::Default()->DeleteRecursively(path), absl::OkStatus());
  }
}

TEST(WriteCheckpointTest, AfterACrashItIsWholeOrNotThere) {
  const std::string dir = FreshPath("crash");
  const std::string path = JoinPath(dir, "average");
  for (int n = 1;; ++n) {
    Env::Default()->DeleteRecursively(dir).IgnoreError();
    ASSERT_EQ(Env::Default()->CreateDirs(dir), absl::OkStatus());
    FaultInjectingEnv env(Env::Default());
    env.CrashAt(n);
    const bool done = WriteNewCheckpoint(&env, path, TestData(7)).ok();
    ASSERT_EQ(env.DropUnsynced(), absl::OkStatus());
    if (done || Env::Default()->Exists(path)) {
      auto read = ReadCheckpoint(Env::Default(), path);
      ASSERT_TRUE(read.ok()) << n << ": " << read.status();
    }
    if (done) break;
  }
}

}  // namespace
}  // namespace tandem
