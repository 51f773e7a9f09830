#include "base/env.h"

#include <errno.h>
#include <unistd.h>

#include <cstdlib>
#include <regex>
#include <thread>

#include "base/annotate.h"
#include "base/crc32c.h"
#include "base/exit_code.h"
#include "base/fault_injecting_env.h"
#include "base/logging.h"
#include "base/test_dir.h"
#include "base/unsynced_files.h"
#include "gtest/gtest.h"

namespace tandem {
namespace {

TEST(PathTest, Parts) {
  EXPECT_EQ(JoinPath("a", "b"), "a/b");
  EXPECT_EQ(JoinPath("a/", "b"), "a/b");
  EXPECT_EQ(JoinPath("", "b"), "b");
  EXPECT_EQ(JoinPath("a", "/b"), "/b");
  EXPECT_EQ(DirName("a/b/c"), "a/b");
  EXPECT_EQ(DirName("a/b/"), "a");
  EXPECT_EQ(DirName("c"), ".");
  EXPECT_EQ(DirName("/c"), "/");
  EXPECT_EQ(DirName("/"), "/");
  EXPECT_EQ(BaseName("a/b/c"), "c");
  EXPECT_EQ(BaseName("a/b/"), "b");
  EXPECT_EQ(BaseName("c"), "c");
  EXPECT_EQ(BaseName("/"), "/");
}

TEST(PosixEnvTest, FilesAndDirectories) {
  Env* env = Env::Default();
  std::string dir = TestDir("files");
  std::string file = JoinPath(dir, "a/b/file");
  EXPECT_TRUE(absl::IsNotFound(env->ReadFile(file).status()));
  ASSERT_TRUE(env->CreateDirs(DirName(file)).ok());
  ASSERT_TRUE(env->CreateDirs(DirName(file)).ok());
  ASSERT_TRUE(env->WriteFile(file, {"abc", "", "def"}).ok());
  EXPECT_EQ(*env->ReadFile(file), "abcdef");
  EXPECT_EQ(*env->FileSize(file), 6);
  ASSERT_TRUE(env->WriteFileAtomically(file, "new").ok());
  EXPECT_EQ(*env->ReadFile(file), "new");
  EXPECT_EQ(*env->ListDir(DirName(file)), std::vector<std::string>{"file"});

  auto open = env->OpenForRead(file);
  ASSERT_TRUE(open.ok());
  char buffer[4];
  ASSERT_TRUE((*open)->ReadAt(1, 2, buffer).ok());
  EXPECT_EQ(std::string(buffer, 2), "ew");
  absl::Status truncated = (*open)->ReadAt(1, 4, buffer);
  EXPECT_TRUE(absl::IsDataLoss(truncated));
  EXPECT_NE(truncated.message().find(file), absl::string_view::npos);

  EXPECT_TRUE(absl::IsAlreadyExists(env->DeleteDir(dir)));
  ASSERT_EQ(symlink("/", JoinPath(dir, "a/link").c_str()), 0);
  ASSERT_TRUE(env->DeleteRecursively(dir).ok());
  EXPECT_FALSE(env->Exists(dir));
  EXPECT_TRUE(env->Exists("/tmp"));
  EXPECT_TRUE(absl::IsNotFound(env->DeleteRecursively(dir)));
}

TEST(PosixEnvTest, ErrorsNameThePathAndCarryTheExitCode) {
  Env* env = Env::Default();
  std::string dir = TestDir("errors");
  ASSERT_TRUE(env->WriteFile(JoinPath(dir, "file"), {"x"}).ok());
  EXPECT_EQ(ExitCodeFor(env->ReadFile(JoinPath(dir, "absent")).status()), kExitMissingInput);
  EXPECT_EQ(ExitCodeFor(env->ReadFile(dir).status()), kExitUsage);
  absl::Status not_a_dir = env->CreateDirs(JoinPath(dir, "file/sub"));
  EXPECT_EQ(ExitCodeFor(not_a_dir), kExitUsage) << not_a_dir;
  EXPECT_NE(not_a_dir.message().find(JoinPath(dir, "file")), absl::string_view::npos);
  absl::Status full = env->WriteFile("/dev/full", {"x"});  // a real full disk
  EXPECT_TRUE(absl::IsResourceExhausted(full)) << full;
  EXPECT_EQ(ExitCodeFor(full), kExitIo);
  EXPECT_EQ(full.message(), "/dev/full: cannot write: No space left on device");
  EXPECT_TRUE(absl::IsNotFound(env->ListDir(JoinPath(dir, "absent")).status()));
}

TEST(PosixEnvTest, ClocksAndProcesses) {
  Env* env = Env::Default();
  EXPECT_GT(env->NowSeconds(), 1.6e9);
  double before = env->MonotonicSeconds();
  env->SleepSeconds(0.002);
  EXPECT_GE(env->MonotonicSeconds() - before, 0.002);
}

TEST(FaultInjectingEnvTest, FailsTheNthOperationOfAKind) {
  FaultInjectingEnv env(Env::Default());
  std::string dir = TestDir("nth");
  std::string file = JoinPath(dir, "f");
  ASSERT_TRUE(env.WriteFileAtomically(file, "old!").ok());
  int operations = env.operations();
  EXPECT_EQ(operations, 5);  // create, write, sync, rename, sync of the directory
  env.FailNth(FileOp::kWrite, 1, ENOSPC);
  EXPECT_TRUE(absl::IsResourceExhausted(env.WriteFileAtomically(file, "new!")));
  EXPECT_EQ(*env.ReadFile(file), "old!");
  EXPECT_EQ(env.ListDir(dir)->size(), 1u);  // the temporary file is gone
  EXPECT_TRUE(env.WriteFileAtomically(file, "new!").ok());
  env.FailNth(FileOp::kRename, 2, EIO, /*sticky=*/true);
  EXPECT_TRUE(env.WriteFileAtomically(file, "1").ok());
  EXPECT_EQ(ExitCodeFor(env.WriteFileAtomically(file, "2")), kExitIo);
  EXPECT_EQ(ExitCodeFor(env.WriteFileAtomically(file, "3")), kExitIo);
  EXPECT_EQ(*env.ReadFile(file), "1");
  env.FailPath("/f", EACCES);
  EXPECT_TRUE(absl::IsPermissionDenied(env.ReadFile(file).status()));
}

TEST(FaultInjectingEnvTest, AtomicWriteSurvivesACrashAtEveryOperation) {
  std::string dir = TestDir("crash");
  std::string file = JoinPath(dir, "f");
  for (bool power_failure : {false, true}) {
    for (int n = 1; n <= 6; ++n) {
      ASSERT_TRUE(Env::Default()->WriteFileAtomically(file, "old!").ok());
      FaultInjectingEnv env(Env::Default());
      env.CrashAt(n);
      absl::Status status = env.WriteFileAtomically(file, "new!");
      EXPECT_EQ(status.ok(), n == 6);
      EXPECT_EQ(env.crashed(), n < 6);
      if (power_failure) {
        ASSERT_TRUE(env.DropUnsynced().ok());
      }
      std::string content = *Env::Default()->ReadFile(file);
      bool may_be_old = n <= 4 || (n == 5 && power_failure);
      EXPECT_EQ(content, may_be_old ? "old!" : "new!") << n;
    }
  }
}

TEST(FaultInjectingEnvTest, WhatIsNotSyncedIsLost) {
  FaultInjectingEnv env(Env::Default());
  std::string dir = TestDir("lost");
  auto file = env.CreateFile(JoinPath(dir, "f"));
  ASSERT_TRUE(file.ok() && (*file)->Append("bytes").ok());
  ASSERT_TRUE(env.SyncDir(dir).ok());
  ASSERT_TRUE(env.CreateDir(JoinPath(dir, "d")).ok());
  ASSERT_TRUE(env.WriteFile(JoinPath(dir, "d/g"), {"g"}).ok());
  ASSERT_TRUE(env.Rename(JoinPath(dir, "d"), JoinPath(dir, "e")).ok());
  ASSERT_TRUE(env.SyncDir(dir).ok());
  ASSERT_TRUE(env.CreateDir(JoinPath(dir, "h")).ok());
  env.CrashAt(0);
  EXPECT_FALSE(env.ReadFile(JoinPath(dir, "f")).ok());
  ASSERT_TRUE(env.DropUnsynced().ok());
  Env* real = Env::Default();
  EXPECT_EQ(*real->ReadFile(JoinPath(dir, "f")), "");
  EXPECT_TRUE(real->Exists(JoinPath(dir, "e")));
  EXPECT_FALSE(real->Exists(JoinPath(dir, "e/g")));  // its directory was moved but never synced itself
  EXPECT_FALSE(real->Exists(JoinPath(dir, "h")));
}

TEST(UnsyncedFilesTest, ReplaceAtOnceWithoutWaitingForTheDisk) {
  FaultInjectingEnv env(Env::Default());
  const std::string dir = JoinPath(TestDir("unsynced"), "a/b"), file = JoinPath(dir, "f");
  ASSERT_TRUE(CreateDirsUnsynced(&env, dir).ok());
  EXPECT_TRUE(CreateDirsUnsynced(&env, dir).ok());
  for (const char* bytes : {"old", "new", ""}) {
    ASSERT_TRUE(WriteFileUnsynced(&env, file, bytes).ok());
    EXPECT_EQ(*env.ReadFile(file), bytes);
  }
  for (const std::string& operation : env.trace()) EXPECT_EQ(operation.find("sync"), std::string::npos) << operation;
  EXPECT_FALSE(CreateDirsUnsynced(&env, file).ok());
  EXPECT_FALSE(CreateDirsUnsynced(&env, JoinPath(file, "c")).ok());
}

TEST(UnsyncedFilesTest, AnErrorKeepsTheOldFileAndLeavesNothing) {
  const std::string dir = TestDir("unsynced_error"), file = JoinPath(dir, "f");
  for (FileOp op : {FileOp::kCreate, FileOp::kWrite, FileOp::kRename}) {
    ASSERT_TRUE(WriteFileUnsynced(Env::Default(), file, "old").ok());
    FaultInjectingEnv env(Env::Default());
    env.FailNth(op, 1, ENOSPC);
    EXPECT_TRUE(absl::IsResourceExhausted(WriteFileUnsynced(&env, file, "new")));
    EXPECT_EQ(*env.ReadFile(file), "old");
    EXPECT_EQ(env.ListDir(dir)->size(), 1u);
  }
}

TEST(Crc32cTest, KnownValues) {
  EXPECT_EQ(Crc32c(""), 0u);
  EXPECT_EQ(Crc32c("123456789"), 0xE3069283u);  // RFC 3720 and the field's usual check value
  EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8A9136AAu);
  EXPECT_EQ(Crc32c(std::string(32, '\xff')), 0x62A8AB43u);
  EXPECT_EQ(ExtendCrc32c(Crc32c("1234"), "56789"), 0xE3069283u);
}

TEST(ExitCodeTest, DefaultsAndMarks) {
  EXPECT_EQ(ExitCodeFor(absl::OkStatus()), 0);
  EXPECT_EQ(ExitCodeFor(absl::InternalError("")), 1);
  EXPECT_EQ(ExitCodeFor(absl::UnknownError("")), 1);
  EXPECT_EQ(ExitCodeFor(absl::InvalidArgumentError("")), 2);
  EXPECT_EQ(ExitCodeFor(absl::FailedPreconditionError("")), 2);
  EXPECT_EQ(ExitCodeFor(absl::DataLossError("")), 65);
  EXPECT_EQ(ExitCodeFor(absl::NotFoundError("")), 66);
  EXPECT_EQ(ExitCodeFor(absl::PermissionDeniedError("")), 74);
  EXPECT_EQ(ExitCodeFor(absl::UnavailableError("")), 75);
  EXPECT_EQ(ExitCodeFor(absl::CancelledError("")), 130);
  absl::Status marked = WithExitCode(absl::InvalidArgumentError("message"), kExitCompileError);
  EXPECT_EQ(ExitCodeFor(marked), 70);
  absl::Status annotated = Annotate(marked, "before: ", ", after");
  EXPECT_EQ(ExitCodeFor(annotated), 70);
  EXPECT_EQ(annotated.message(), "before: message, after");
  EXPECT_TRUE(WithExitCode(absl::OkStatus(), 1).ok());
  EXPECT_TRUE(Annotate(absl::OkStatus(), "x").ok());
}

TEST(LoggingTest, CapturesAndFilters) {
  LogCapture capture;
  SetLogTag("[worker 2] ");
  TD_LOG(INFO) << "loss = " << 2.5;
  SetLogTag("");
  SetMinLogSeverity(LogSeverity::kWarning);
  TD_LOG(INFO) << "dropped";
  TD_LOG(WARNING) << "kept";
  SetMinLogSeverity(LogSeverity::kInfo);
  {
    LogCapture inner;
    TD_LOG(ERROR) << "inner";
    EXPECT_TRUE(inner.Contains("inner"));
  }
  EXPECT_EQ(capture.Text(), "[worker 2] loss = 2.5\nkept\n");
  EXPECT_EQ(capture.Text(LogSeverity::kWarning), "kept\n");
}

TEST(LoggingTest, ScopesAreOfTheirThread) {
  LogCapture capture;
  {
    const ScopedMinLogSeverity quiet(LogSeverity::kWarning);
    TD_LOG(INFO) << "dropped";
    TD_LOG(WARNING) << "kept";
    std::thread([] { TD_LOG(INFO) << "of another thread"; }).join();
    {
      const ScopedMinLogSeverity loud(LogSeverity::kInfo);
      TD_LOG(INFO) << "inner";
    }
    TD_LOG(INFO) << "dropped again";
  }
  TD_LOG(INFO) << "behind it";
  EXPECT_EQ(capture.Text(), "kept\nof another thread\ninner\nbehind it\n");
}

TEST(LoggingTest, LinesHaveGlogsForm) {
  testing::internal::CaptureStderr();
  TD_LOG(WARNING) << "a message";
  std::string line = testing::internal::GetCapturedStderr();
  EXPECT_TRUE(std::regex_match(
      line, std::regex("W\\d{4} \\d\\d:\\d\\d:\\d\\d\\.\\d{6} +\\d+ env_test\\.cc:\\d+\\] a message\n")))
      << line;
}

}  // namespace
}  // namespace tandem
