#include "estimator/checkpoint/model_dir.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <string>
#include <vector>

#include "base/exit_code.h"
#include "base/fault_injecting_env.h"
#include "base/logging.h"
#include "base/temporary_name.h"

namespace tandem {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

bool HasUmask(const absl::Status& status) {
  return std::string(status.message()).find("run \"umask 022\"") != std::string::npos;
}

// A path that does not exist.
std::string TempPath(const std::string& name) {
  const std::string path = JoinPath(::testing::TempDir(), name);
  Env::Default()->DeleteRecursively(path).IgnoreError();
  return path;
}

std::string NewDir(const std::string& name) {
  const std::string dir = TempPath(name);
  EXPECT_TRUE(Env::Default()->CreateDirs(dir).ok());
  return dir;
}

// The exit code of a process that does this and ends.
int ExitCodeOf(const std::function<int()>& work) {
  const pid_t child = fork();
  if (child == 0) _exit(work());
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

TEST(MakeTemporaryModelDir, IsPrivateAndCannotBeGuessed) {
  LogCapture log;
  const mode_t old_umask = umask(0);
  const auto one = MakeTemporaryModelDir(), two = MakeTemporaryModelDir();
  umask(old_umask);
  ASSERT_TRUE(one.ok() && two.ok()) << one.status() << two.status();
  EXPECT_NE(*one, *two);
  EXPECT_EQ(one->find(std::to_string(getpid())), std::string::npos) << *one;
  struct stat info;
  ASSERT_EQ(stat(one->c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0700);
  EXPECT_TRUE(log.Contains("Using temporary folder as model directory: " + *one));
  for (const std::string& dir : {*one, *two}) EXPECT_TRUE(Env::Default()->DeleteDir(dir).ok());
}

TEST(PrepareModelDir, CreatesParentsAndLeavesNothingBehind) {
  const std::string dir = TempPath("a/b/c");
  ASSERT_TRUE(PrepareModelDir(Env::Default(), dir).ok());
  EXPECT_TRUE(Env::Default()->ListDir(dir)->empty());
}

TEST(PrepareModelDir, UnwritableIsAnIoError) {
  // A file in the way is an obstacle for root too, unlike permissions.
  const std::string file = TempPath("file");
  ASSERT_TRUE(Env::Default()->WriteFile(file, {"x"}).ok());
  const absl::Status status = PrepareModelDir(Env::Default(), file + "/model");
  EXPECT_EQ(ExitCodeFor(status), kExitIo);
  EXPECT_THAT(std::string(status.message()), HasSubstr("model_dir \"" + file + "/model\" cannot be written"));
}

// Files of mode 0 stop everybody but root.
TEST(PrepareModelDir, AUmaskThatTakesTheOwnersRightsIsNamed) {
  const std::string dir = *MakeTemporaryModelDir();  // where other users can get to
  ASSERT_EQ(chmod(dir.c_str(), 0777), 0);
  for (const std::string& name : {std::string(""), std::string("/new")}) {
    EXPECT_EQ(ExitCodeOf([&] {
                if (geteuid() == 0 && seteuid(12345) != 0) return 1;
                umask(0777);
                const absl::Status status = PrepareModelDir(Env::Default(), dir + name);
                return ExitCodeFor(status) == kExitIo && HasUmask(status) ? 0 : 2;
              }),
              0)
        << name;
  }
  EXPECT_TRUE(Env::Default()->DeleteRecursively(dir).ok());
}

TEST(LockModelDir, RefusesASecondOwnerWithProcessHostAndTime) {
  const std::string dir = NewDir("lock");
  FaultInjectingEnv env(Env::Default());  // does not sleep
  int one, two;                           // owners
  auto lock = LockModelDir(&env, dir, &one);
  ASSERT_TRUE(lock.ok() && *lock != nullptr) << lock.status();
  auto again = LockModelDir(&env, dir, &one);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(*again, *lock);

  const absl::Status inside = LockModelDir(&env, dir, &two).status();
  EXPECT_EQ(ExitCodeFor(inside), kExitTemporary);
  char host[256] = "";
  gethostname(host, sizeof host);
  const std::string holder = "process " + std::to_string(getpid()) + " on " + host + " since ";
  EXPECT_THAT(std::string(inside.message()),
              HasSubstr("model_dir \"" + dir + "\" is in use: another Estimator of this " + holder));
  EXPECT_THAT(
      std::string(inside.message()),
      ContainsRegex("since 20[0-9][0-9]-[01][0-9]-[0-3][0-9] [0-2][0-9]:[0-5][0-9]:[0-6][0-9] UTC trains in it; "
                    "wait until it has ended, or give this training a model_dir of its own"));
  EXPECT_EQ(ExitCodeOf([&] {
              const absl::Status outside = LockModelDir(&env, dir, &two).status();
              return std::string(outside.message()).find("is in use: " + holder) != std::string::npos ? 0 : 1;
            }),
            0);

  lock->reset();
  EXPECT_FALSE(LockModelDir(&env, dir, &two).ok());
  again->reset();
  EXPECT_TRUE(LockModelDir(&env, dir, &two).ok());
  EXPECT_TRUE(LockModelDir(&env, dir, &one).ok());
}

TEST(LockModelDir, TheLockOfADeadProcessIsTakenOver) {
  const std::string dir = NewDir("dead");
  int owner;
  EXPECT_EQ(ExitCodeOf([&] {
              auto lock = LockModelDir(Env::Default(), dir, &owner);
              return lock.ok() ? kill(getpid(), SIGKILL) : 1;
            }),
            128 + SIGKILL);
  EXPECT_THAT(*Env::Default()->ReadFile(dir + "/.lock"), HasSubstr("process "));
  EXPECT_TRUE(LockModelDir(Env::Default(), dir, &owner).ok());
}

class EnvWithoutLocks : public FaultInjectingEnv {
 public:
  EnvWithoutLocks() : FaultInjectingEnv(Env::Default()) {}
  absl::StatusOr<std::unique_ptr<FileLock>> TryLock(const std::string& path) override {
    return absl::UnimplementedError(path + ": cannot lock: Function not implemented");
  }
};

TEST(LockModelDir, AFileSystemWithoutLocksIsAWarning) {
  LogCapture log;
  EnvWithoutLocks env;
  int owner;
  const auto lock = LockModelDir(&env, NewDir("no_locks"), &owner);
  ASSERT_TRUE(lock.ok()) << lock.status();
  EXPECT_EQ(*lock, nullptr);
  EXPECT_TRUE(log.Contains("model_dir cannot be locked: "));
}

TEST(DeleteLeftovers, InEvalAndCompiled) {
  Env* env = Env::Default();
  const std::string dir = NewDir("leftovers");
  const auto temporary = [&](const char* path) { return TemporaryPath(env, path); };
  const std::vector<std::string> gone = {temporary("eval/metrics.jsonl"), temporary("eval_mid/metrics.jsonl"),
                                         temporary("compiled/train-0123456789abcdef.tdx"),
                                         temporary("compiled/kernels/0123.tdk")};
  const std::vector<std::string> kept = {"eval/metrics.jsonl", "eval/.tmp-mine", temporary("other/file"),
                                         "compiled/train-0123456789abcdef.tdx"};
  for (const auto& files : {gone, kept}) {
    for (const std::string& file : files) {
      ASSERT_TRUE(env->CreateDirs(DirName(JoinPath(dir, file))).ok());
      ASSERT_TRUE(env->WriteFile(JoinPath(dir, file), {"x"}).ok());
    }
  }
  // Evaluations, which need no lock of the directory, may be at work.
  const std::string written = JoinPath(dir, temporary("eval/metrics.jsonl"));
  auto writer = env->CreateLockedFile(written);
  ASSERT_TRUE(writer.ok()) << writer.status();
  LogCapture log;
  DeleteLeftovers(env, dir);
  EXPECT_EQ(log.Text(), "");
  EXPECT_TRUE(env->Exists(written));
  for (const std::string& file : gone) EXPECT_FALSE(env->Exists(JoinPath(dir, file))) << file;
  for (const std::string& file : kept) EXPECT_TRUE(env->Exists(JoinPath(dir, file))) << file;
  DeleteLeftovers(env, NewDir("nothing"));
  EXPECT_EQ(log.Text(), "");
}

}  // namespace
}  // namespace tandem
