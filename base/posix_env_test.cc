// What the operating system and other users may do to Env::Default().
#include <errno.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdarg>
#include <functional>
#include <utility>

#include "absl/strings/match.h"
#include "base/env.h"
#include "base/exit_code.h"
#include "base/temporary_name.h"
#include "base/test_dir.h"

namespace {

// System calls left that a signal shall interrupt.
thread_local int interruptions = 0;

// What somebody else does between the opening of a file and its lock.
std::function<void()> before_flock;

bool Interrupted() {
  if (interruptions == 0) return false;
  --interruptions;
  errno = EINTR;
  return true;
}

}  // namespace

// In the place of the C library's.
extern "C" {
int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  return Interrupted() ? -1 : static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}
ssize_t pread(int fd, void* to, size_t n, off_t offset) {
  return Interrupted() ? -1 : syscall(SYS_pread64, fd, to, n, offset);
}
ssize_t write(int fd, const void* from, size_t n) { return Interrupted() ? -1 : syscall(SYS_write, fd, from, n); }
int fsync(int fd) { return Interrupted() ? -1 : static_cast<int>(syscall(SYS_fsync, fd)); }
int rename(const char* from, const char* to) noexcept {
  return Interrupted() ? -1 : static_cast<int>(syscall(SYS_rename, from, to));
}
int mkdir(const char* path, mode_t mode) noexcept {
  return Interrupted() ? -1 : static_cast<int>(syscall(SYS_mkdir, path, mode));
}
int unlink(const char* path) noexcept { return Interrupted() ? -1 : static_cast<int>(syscall(SYS_unlink, path)); }
int rmdir(const char* path) noexcept { return Interrupted() ? -1 : static_cast<int>(syscall(SYS_rmdir, path)); }
int flock(int fd, int operation) noexcept {
  if (const auto before = std::exchange(before_flock, nullptr)) before();
  return Interrupted() ? -1 : static_cast<int>(syscall(SYS_flock, fd, operation));
}
}

namespace tandem {
namespace {

using ::testing::HasSubstr;

// The exit code of a process that does this and ends.
int ExitCodeOf(const std::function<int()>& work) {
  const pid_t child = fork();
  if (child == 0) _exit(work());
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

TEST(PosixEnvTest, AnInterruptedOperationIsDoneAgain) {
  Env* env = Env::Default();
  const std::string dir = TestDir("interrupted"), file = JoinPath(dir, "file"), other = JoinPath(dir, "other");
  auto expect_ok = [](const char* what, const std::function<absl::Status()>& operation) {
    interruptions = 2;
    const absl::Status status = operation();
    EXPECT_EQ(interruptions, 0) << what;
    interruptions = 0;
    EXPECT_TRUE(status.ok()) << what << ": " << status;
  };
  std::unique_ptr<WritableFile> writable;
  std::unique_ptr<RandomAccessFile> readable;
  char byte;
  expect_ok("create", [&] {
    auto created = env->CreateNewFile(file);
    if (created.ok()) writable = *std::move(created);
    return created.status();
  });
  ASSERT_NE(writable, nullptr);
  expect_ok("write", [&] { return writable->Append("x"); });
  expect_ok("fsync", [&] { return writable->Sync(); });
  expect_ok("open", [&] {
    auto opened = env->OpenForRead(file);
    if (opened.ok()) readable = *std::move(opened);
    return opened.status();
  });
  ASSERT_NE(readable, nullptr);
  expect_ok("read", [&] { return readable->ReadAt(0, 1, &byte); });
  expect_ok("fsync of a directory", [&] { return env->SyncDir(dir); });
  expect_ok("rename", [&] { return env->Rename(file, other); });
  expect_ok("unlink", [&] { return env->DeleteFile(other); });
  expect_ok("mkdir", [&] { return env->CreateDir(file); });
  expect_ok("rmdir", [&] { return env->DeleteDir(file); });
  expect_ok("flock", [&] { return env->TryLock(file).status(); });
}

TEST(PosixEnvTest, SpecialFilesAreRefusedWithoutWaiting) {
  const std::string fifo = JoinPath(TestDir("special"), "fifo");
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  alarm(60);  // where it waits for a writer, it waits for ever
  for (const std::string& path : {fifo, std::string("/dev/zero")}) {
    const absl::Status status = Env::Default()->ReadFile(path).status();
    EXPECT_EQ(ExitCodeFor(status), kExitUsage);
    EXPECT_THAT(std::string(status.message()), HasSubstr(path + ": cannot read: it is a "));
    EXPECT_THAT(std::string(status.message()), HasSubstr("not a regular file"));
  }
  alarm(0);
}

TEST(PosixEnvTest, AHugeFileIsAnErrorBeforeMemoryIsTaken) {
  const std::string path = JoinPath(TestDir("huge"), "sparse");
  ASSERT_TRUE(Env::Default()->WriteFile(path, {"x"}).ok());
  ASSERT_EQ(truncate(path.c_str(), off_t{8} << 40), 0);
  const absl::Status status = Env::Default()->ReadFile(path).status();
  EXPECT_EQ(ExitCodeFor(status), kExitBadData) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr(path + ": has 8796093022208 bytes, and at most "));
  // More than the machine has is refused whatever the limit.
  EXPECT_EQ(ExitCodeFor(Env::Default()->ReadFile(path, INT64_MAX).status()), kExitBadData);
  ASSERT_EQ(truncate(path.c_str(), 5), 0);
  EXPECT_EQ(Env::Default()->ReadFile(path, 5)->size(), 5u);
  EXPECT_EQ(ExitCodeFor(Env::Default()->ReadFile(path, 4).status()), kExitBadData);
}

TEST(PosixEnvTest, NoFileTakesTheNumberOfAStandardDescriptor) {
  const std::string dir = TestDir("descriptors"), file = JoinPath(dir, "file");
  ASSERT_TRUE(Env::Default()->WriteFile(JoinPath(dir, "read"), {"x"}).ok());
  EXPECT_EQ(ExitCodeOf([&] {
              for (int fd : {0, 1, 2}) close(fd);
              auto written = Env::Default()->CreateFile(file);
              auto created = Env::Default()->CreateNewFile(file + "2");
              auto read = Env::Default()->OpenForRead(JoinPath(dir, "read"));
              auto lock = Env::Default()->TryLock(JoinPath(dir, "lock"));
              if (!written.ok() || !created.ok() || !read.ok() || !lock.ok()) return 1;
              for (int fd : {0, 1, 2}) {
                if (write(fd, "log line", 8) >= 0 || errno != EBADF) return 2;
              }
              return (*written)->Append("content").ok() ? 0 : 3;
            }),
            0);
  EXPECT_EQ(*Env::Default()->ReadFile(file), "content");
}

TEST(PosixEnvTest, APlantedLinkIsNotFollowed) {
  Env* env = Env::Default();
  const std::string dir = TestDir("planted"), victim = JoinPath(dir, "victim"), file = JoinPath(dir, "file");
  ASSERT_TRUE(env->WriteFile(victim, {"precious"}).ok());
  const std::string temporary = TemporaryPath(env, file);
  ASSERT_EQ(symlink(victim.c_str(), temporary.c_str()), 0);
  EXPECT_TRUE(absl::IsAlreadyExists(env->CreateNewFile(temporary).status()));
  EXPECT_EQ(*env->ReadFile(victim), "precious");
  // Nobody who has seen one name knows the next one.
  EXPECT_NE(temporary.substr(0, temporary.rfind('-')), [&] {
    const std::string next = TemporaryPath(env, file);
    return next.substr(0, next.rfind('-'));
  }());
  // A link in the place of the lock, to a file or from one.
  const std::string lock = JoinPath(dir, "lock");
  ASSERT_EQ(symlink(victim.c_str(), lock.c_str()), 0);
  EXPECT_FALSE(env->TryLock(lock).ok());
  ASSERT_TRUE(env->DeleteFile(lock).ok());
  ASSERT_EQ(link(victim.c_str(), lock.c_str()), 0);
  EXPECT_FALSE(env->TryLock(lock).ok());
  EXPECT_EQ(*env->ReadFile(victim), "precious");
}

// Somebody who looks for leftovers may have seen a file before it has its lock, and deletes its name at any later time.
TEST(PosixEnvTest, ATemporaryThatIsTakenForALeftoverIsMadeAgainUnderAnotherName) {
  Env* env = Env::Default();
  const std::string dir = TestDir("leftover");
  for (bool deleted : {true, false}) {
    std::string taken;
    int fd = -1;
    before_flock = [&] {
      taken = JoinPath(dir, env->ListDir(dir)->at(0));
      fd = open(taken.c_str(), O_RDONLY);
      ASSERT_EQ(syscall(SYS_flock, fd, LOCK_SH | LOCK_NB), 0);
      if (deleted) {
        ASSERT_EQ(unlink(taken.c_str()), 0);
        close(fd);
      }
    };
    auto made = env->CreateTemporary(JoinPath(dir, "file"), ".suffix");
    ASSERT_TRUE(made.ok()) << made.status();
    EXPECT_NE(made->path, taken);
    EXPECT_TRUE(absl::EndsWith(made->path, ".suffix"));
    EXPECT_TRUE(absl::IsNotFound(env->DeleteFile(taken)));
    if (!deleted) close(fd);
    EXPECT_TRUE(made->file->Append("x").ok());
    EXPECT_TRUE(absl::IsAlreadyExists(env->TryLock(made->path).status())) << "the new one is locked";
    EXPECT_TRUE(made->file->Close().ok());
    EXPECT_EQ(*env->ReadFile(made->path), "x");
    ASSERT_TRUE(env->DeleteFile(made->path).ok());
  }
  // Others read it while it is written, on file systems whose locks stop readers too.
  const auto events = env->CreateNewFile(JoinPath(dir, "events"));
  EXPECT_TRUE(env->TryLock(JoinPath(dir, "events")).ok()) << "no temporary";
}

TEST(PosixEnvTest, CodeThatOthersCanWriteIsNotTrusted) {
  Env* env = Env::Default();
  const std::string file = JoinPath(TestDir("trust"), "code");
  const mode_t old_umask = umask(0002);
  ASSERT_TRUE(env->WriteNewFile(file, {"x"}).ok());
  umask(old_umask);
  auto trusted = [&] { return (*env->OpenForRead(file))->CheckTrusted(); };
  EXPECT_TRUE(trusted().ok()) << "what Tandem writes, it trusts, also with umask 0002";
  for (mode_t mode : {0664, 0646}) {
    ASSERT_EQ(chmod(file.c_str(), mode), 0);
    EXPECT_EQ(ExitCodeFor(trusted()), kExitIo);
    EXPECT_THAT(std::string(trusted().message()), HasSubstr(file + ": holds code that would run as this user"));
    EXPECT_THAT(std::string(trusted().message()), HasSubstr("chmod go-w"));
  }
  ASSERT_EQ(chmod(file.c_str(), 0755), 0);
  EXPECT_TRUE(trusted().ok());
  if (geteuid() != 0) return;  // only root gives files away
  ASSERT_EQ(chown(file.c_str(), 12345, 12345), 0);
  EXPECT_THAT(std::string(trusted().message()), HasSubstr("belongs to another user (12345; this is 0)"));
}

TEST(PosixEnvTest, ALockHasOneHolderAndDiesWithIt) {
  Env* env = Env::Default();
  const std::string path = JoinPath(TestDir("lock"), "lock");
  {
    auto lock = env->TryLock(path);
    ASSERT_TRUE(lock.ok()) << lock.status();
    ASSERT_TRUE((*lock)->SetContent("a longer text").ok());
    ASSERT_TRUE((*lock)->SetContent("text").ok());
    EXPECT_EQ(*env->ReadFile(path), "text");
    EXPECT_TRUE(absl::IsAlreadyExists(env->TryLock(path).status()));
    EXPECT_EQ(ExitCodeOf([&] { return absl::IsAlreadyExists(env->TryLock(path).status()) ? 0 : 1; }), 0);
  }
  EXPECT_EQ(*env->ReadFile(path), "");
  EXPECT_EQ(ExitCodeOf([&] {
              auto lock = env->TryLock(path);
              if (!lock.ok() || !(*lock)->SetContent("dead").ok()) return 1;
              return kill(getpid(), SIGKILL);
            }),
            128 + SIGKILL);
  EXPECT_EQ(*env->ReadFile(path), "dead");
  EXPECT_TRUE(env->TryLock(path).ok());
}

}  // namespace
}  // namespace tandem
