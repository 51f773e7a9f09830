// Every single operation of a Save fails once, or is the last before a crash: what was saved must stay restorable, and
// the directory usable.
#include <errno.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/exit_code.h"
#include "base/fault_injecting_env.h"
#include "base/logging.h"
#include "base/temporary_name.h"
#include "estimator/checkpoint/checkpoint_manager.h"
#include "estimator/checkpoint/test_util.h"
#include "gtest/gtest.h"

namespace tandem {
namespace {

enum class Situation { kFirstSave, kWithOlderOnes, kReplacesTheSameStep };

constexpr int kKeep = 2;

// What the directory holds before the Save that is disturbed; returns its newest step, -1 for none.
int64_t Prepare(Situation situation, const std::string& dir) {
  Env::Default()->DeleteRecursively(dir).IgnoreError();
  if (situation == Situation::kFirstSave) return -1;
  FaultInjectingEnv fast(Env::Default());  // no real fsync
  CheckpointManager manager(&fast, dir, kKeep);
  EXPECT_TRUE(manager.Save(TestData(10)).ok());
  EXPECT_TRUE(manager.Save(TestData(20)).ok());
  return 20;
}

CheckpointData NextData(Situation situation) {
  CheckpointData data = TestData(situation == Situation::kReplacesTheSameStep ? 20 : 30);
  data.extra["next"] = "yes";
  return data;
}

bool IsNext(const CheckpointData& data) { return data.extra.count("next") > 0; }

// After the disturbance: a new process starts, goes on from the old or the new checkpoint, and saves another.
void ExpectUsable(const std::string& dir, int64_t before, Situation situation, bool must_be_next) {
  FaultInjectingEnv fast(Env::Default());
  CheckpointManager manager(&fast, dir, kKeep);
  auto recovered = manager.Recover();
  ASSERT_TRUE(recovered.ok()) << recovered.status();
  auto data = manager.RestoreLatest();
  ASSERT_TRUE(data.ok()) << data.status();
  EXPECT_EQ(recovered->has_value(), data->has_value());
  if (!data->has_value()) {
    EXPECT_EQ(before, -1);
    EXPECT_FALSE(must_be_next);
  } else if (IsNext(**data)) {
    ExpectEqual(**data, NextData(situation));
  } else {
    EXPECT_FALSE(must_be_next);
    ASSERT_EQ((*data)->global_step, before);
    ExpectEqual(**data, TestData(before));
  }
  auto saved = manager.Save(TestData(40));
  ASSERT_TRUE(saved.ok()) << saved.status();
  ExpectEqual(**manager.RestoreLatest(), TestData(40));
  EXPECT_LE(manager.ListCheckpoints()->size(), static_cast<size_t>(kKeep));
  int temporary = 0;
  for (const std::string& name : NamesIn(dir)) temporary += absl::StartsWith(name, ".tmp-");
  EXPECT_LE(temporary, 1);  // one unfinished checkpoint may be kept for a look
}

TEST(CheckpointCrashTest, ACrashAfterEveryOperation) {
  LogCapture log;
  std::string dir = FreshPath("crash");
  for (Situation situation : {Situation::kFirstSave, Situation::kWithOlderOnes, Situation::kReplacesTheSameStep}) {
    for (bool power_failure : {false, true}) {
      int crashes = 0;
      for (int n = 1;; ++n) {
        SCOPED_TRACE(absl::StrCat("situation ", static_cast<int>(situation), ", crash at operation ", n,
                                  power_failure ? ", unsynced data lost" : ""));
        int64_t before = Prepare(situation, dir);
        FaultInjectingEnv env(Env::Default());
        env.CrashAt(n);
        auto saved = CheckpointManager(&env, dir, kKeep).Save(NextData(situation));
        if (power_failure) {
          ASSERT_TRUE(env.DropUnsynced().ok());
        }
        ExpectUsable(dir, before, situation, /*must_be_next=*/saved.ok());
        if (HasFailure()) return;
        if (!env.crashed()) break;
        ++crashes;
      }
      EXPECT_GE(crashes, 20);  // 5 files of 3 or more operations each, directories, the pointer
    }
  }
}

// What the crashes above cannot tell: a file system may make two changes of a directory durable in either order, unless
// it is synced between them.
TEST(CheckpointCrashTest, OperationsComeInTheSafeOrder) {
  LogCapture log;
  std::string dir = FreshPath("order");
  Prepare(Situation::kWithOlderOnes, dir);
  FaultInjectingEnv env(Env::Default());
  ASSERT_TRUE(CheckpointManager(&env, dir, kKeep).Save(NextData(Situation::kWithOlderOnes)).ok());
  const std::string temporary = ".tmp-model.ckpt-30", pointer = ".tmp-checkpoint", doomed = ".tmp-delete-model.ckpt-10";
  std::vector<std::string> important;  // without the writes to each file and the single deletions
  for (std::string operation : env.trace()) {
    if (const size_t begin = operation.find(".tmp-"); begin != std::string::npos) {
      operation = absl::StrCat(operation.substr(0, begin), ".tmp-", TargetOfTemporary(operation.substr(begin)));
    }
    if (absl::StartsWith(operation, "write ") || absl::StartsWith(operation, "create ")) continue;
    if (absl::StartsWith(operation, "delete ") && operation != "delete " + doomed) continue;
    important.push_back(operation);
  }
  EXPECT_EQ(important, (std::vector<std::string>{
                           "create-dir " + temporary, "sync variables.safetensors", "sync slots.safetensors",
                           "sync state.json", "sync iterator.state", "sync manifest.json", "sync-dir " + temporary,
                           "rename " + temporary, "sync-dir order", "sync " + pointer, "rename " + pointer,
                           "sync-dir order", "rename model.ckpt-10", "delete " + doomed, "delete " + doomed}));
}

// The model directory may have been created before, by whoever looked whether it can be.
TEST(CheckpointCrashTest, TheFirstSaveMakesTheDirectoriesDurable) {
  const std::string parent = FreshPath("durable"), dir = JoinPath(parent, "a/b");
  FaultInjectingEnv env(Env::Default());
  ASSERT_TRUE(Env::Default()->CreateDirs(parent).ok());
  CheckpointManager manager(&env, dir, kKeep);
  ASSERT_TRUE(env.CreateDir(JoinPath(parent, "a")).ok() && env.CreateDir(dir).ok());
  ASSERT_TRUE(manager.Save(TestData(1)).ok());
  env.CrashAt(0);
  ASSERT_TRUE(env.DropUnsynced().ok());
  ExpectEqual(**CheckpointManager(Env::Default(), dir, kKeep).RestoreLatest(), TestData(1));
}

TEST(CheckpointCrashTest, EveryOperationFailsOnce) {
  LogCapture log;
  std::string dir = FreshPath("fail");
  for (Situation situation : {Situation::kFirstSave, Situation::kWithOlderOnes, Situation::kReplacesTheSameStep}) {
    for (FileOp op : {FileOp::kCreate, FileOp::kWrite, FileOp::kSync, FileOp::kRename, FileOp::kSyncDir,
                      FileOp::kCreateDir, FileOp::kDelete}) {
      for (int n = 1;; ++n) {
        SCOPED_TRACE(absl::StrCat("situation ", static_cast<int>(situation), ", kind ", static_cast<int>(op), ", ", n));
        int64_t before = Prepare(situation, dir);
        FaultInjectingEnv env(Env::Default());
        CheckpointManager manager(&env, dir, kKeep);
        env.FailNth(op, n, EIO);
        int operations = env.operations();
        auto saved = manager.Save(NextData(situation));
        if (!saved.ok()) {
          EXPECT_EQ(ExitCodeFor(saved.status()), kExitIo) << saved.status();
          EXPECT_TRUE(absl::StrContains(saved.status().message(), "injected fault")) << saved.status();
        }
        ExpectUsable(dir, before, situation, /*must_be_next=*/saved.ok());
        if (HasFailure()) return;
        if (n > env.operations() - operations) break;
      }
    }
  }
}

TEST(CheckpointCrashTest, FullDisk) {
  LogCapture log;
  std::string dir = FreshPath("full");
  for (int n = 1; n <= 8; ++n) {
    int64_t before = Prepare(Situation::kWithOlderOnes, dir);
    FaultInjectingEnv env(Env::Default());
    env.FailNth(FileOp::kWrite, n, ENOSPC, /*sticky=*/true);
    auto saved = CheckpointManager(&env, dir, kKeep).Save(NextData(Situation::kWithOlderOnes));
    ASSERT_FALSE(saved.ok());
    EXPECT_EQ(ExitCodeFor(saved.status()), kExitIo);
    for (const char* part : {"model.ckpt-30 was not saved", dir.c_str(), "No space left", "free some space"}) {
      EXPECT_TRUE(absl::StrContains(saved.status().message(), part)) << part << ": " << saved.status();
    }
    for (const std::string& name : NamesIn(dir)) {
      EXPECT_FALSE(absl::StartsWith(name, ".tmp-")) << name;  // the half-written files gave their space back
    }
    ExpectUsable(dir, before, Situation::kWithOlderOnes, /*must_be_next=*/false);
  }
}

TEST(CheckpointCrashTest, DirectoryNotWritable) {
  LogCapture log;
  std::string dir = FreshPath("not_writable");
  int64_t before = Prepare(Situation::kWithOlderOnes, dir);
  FaultInjectingEnv env(Env::Default());
  env.FailNth(FileOp::kCreateDir, 1, EACCES, /*sticky=*/true);
  env.FailNth(FileOp::kCreate, 1, EACCES, /*sticky=*/true);
  auto saved = CheckpointManager(&env, dir, kKeep).Save(NextData(Situation::kWithOlderOnes));
  ASSERT_TRUE(absl::IsPermissionDenied(saved.status())) << saved.status();
  EXPECT_EQ(ExitCodeFor(saved.status()), kExitIo);
  EXPECT_TRUE(absl::StrContains(saved.status().message(), "make the directory writable")) << saved.status();
  ExpectUsable(dir, before, Situation::kWithOlderOnes, /*must_be_next=*/false);

  Overwrite(dir + "/file", "");
  auto in_a_file = CheckpointManager(Env::Default(), dir + "/file").Save(TestData(1));
  EXPECT_EQ(ExitCodeFor(in_a_file.status()), kExitUsage) << in_a_file.status();
}

TEST(CheckpointCrashTest, AnOldCheckpointThatCannotBeDeletedIsAWarning) {
  LogCapture log;
  std::string dir = FreshPath("undeletable");
  Prepare(Situation::kWithOlderOnes, dir);
  FaultInjectingEnv env(Env::Default());
  // Saving tries to delete an earlier temporary directory first, which is not there.
  env.FailPath("/model.ckpt-10", EACCES);
  auto saved = CheckpointManager(&env, dir, kKeep).Save(NextData(Situation::kWithOlderOnes));
  EXPECT_TRUE(saved.ok()) << saved.status();
  EXPECT_TRUE(log.Contains("Could not delete old checkpoints")) << log.Text();
}

}  // namespace
}  // namespace tandem
