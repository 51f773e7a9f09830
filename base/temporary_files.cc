#include "base/temporary_files.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/posix_error.h"
#include "base/status_macros.h"
#include "base/temporary_name.h"

namespace tandem {
namespace {

constexpr absl::string_view kLockSuffix = ".lock";  // ends the name of the locked file beside a temporary directory
constexpr double kOldSeconds = 24 * 3600;

std::string LockOf(const std::string& dir) { return absl::StrCat(dir, kLockSuffix); }

// Decides whether a temporary file was left behind by a process that has ended: nobody holds its lock, or it cannot be
// locked and is old. Holds the lock, if it got it, until destruction. A process that has created the file and not
// locked it yet then gets Aborted from Env::CreateLockedFile.
class Leftover {
 public:
  // Checks whether `path` is a leftover.
  Leftover(Env* env, const std::string& path) {
    // Opening a FIFO or a device that an attacker has put there would block. A shared lock needs no right to write,
    // also on NFS.
    fd_ = RetryInterrupted([&] { return open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK); });
    if (fd_ < 0) {
      // Nobody can hold a lock on a file that is absent, nor on a link or a socket, which Tandem does not create.
      is_leftover_ = errno == ELOOP || errno == ENXIO || errno == ENOENT;
    } else if (RetryInterrupted([&] { return flock(fd_, LOCK_SH | LOCK_NB); }) == 0) {
      is_leftover_ = true;
    } else if (errno != EWOULDBLOCK) {
      struct stat info;
      is_leftover_ = fstat(fd_, &info) == 0 && env->NowSeconds() - info.st_mtim.tv_sec > kOldSeconds;
    }
  }
  ~Leftover() {
    if (fd_ >= 0) close(fd_);
  }
  Leftover(const Leftover&) = delete;
  Leftover& operator=(const Leftover&) = delete;

  bool is_leftover() const { return is_leftover_; }

 private:
  int fd_;
  bool is_leftover_ = false;
};

}  // namespace

absl::StatusOr<TemporaryDir> TemporaryDir::Create(Env* env, const std::string& path) {
  TD_ASSIGN_OR_RETURN(TemporaryFile lock, env->CreateTemporary(path, kLockSuffix));
  TemporaryDir dir(env, std::string(absl::StripSuffix(lock.path, kLockSuffix)), std::move(lock.file));
  TD_RETURN_IF_ERROR(env->CreateDir(dir.path()));
  return dir;
}

TemporaryDir::TemporaryDir(TemporaryDir&& other)
    : env_(other.env_), path_(other.path_), lock_(std::move(other.lock_)), renamed_(other.renamed_) {}

TemporaryDir::~TemporaryDir() {
  if (lock_ == nullptr) return;
  // Deleting the incomplete directory frees space, in case the disk is full.
  if (!renamed_) env_->DeleteRecursively(path_).IgnoreError();
  env_->DeleteFile(LockOf(path_)).IgnoreError();
}

absl::Status TemporaryDir::Rename(const std::string& to) {
  TD_RETURN_IF_ERROR(env_->Rename(path_, to));
  renamed_ = true;
  return absl::OkStatus();
}

absl::Status DeleteAside(Env* env, const std::string& path) {
  const std::string doomed = TemporaryPath(env, JoinPath(DirName(path), absl::StrCat("delete-", BaseName(path))));
  TD_RETURN_IF_ERROR(env->Rename(path, doomed));
  const absl::Status status = env->DeleteRecursively(doomed);
  // NotFound: another process has deleted it as a leftover
  return absl::IsNotFound(status) ? absl::OkStatus() : status;
}

absl::Status DeleteTemporaries(Env* env, const std::string& dir,
                               absl::FunctionRef<bool(absl::string_view target)> ours) {
  const absl::StatusOr<std::vector<std::string>> names = env->ListDir(dir);
  if (absl::IsNotFound(names.status())) return absl::OkStatus();
  TD_RETURN_IF_ERROR(names.status());
  absl::Status first;
  for (const std::string& name : *names) {
    const absl::string_view target = TargetOfTemporary(absl::StripSuffix(name, kLockSuffix));
    if (target.empty() || !ours(target)) continue;
    const std::string path = JoinPath(dir, name);
    const absl::StatusOr<FileInfo> info = env->Stat(path);
    const Leftover leftover(env, info.ok() && info->is_directory ? LockOf(path) : path);
    if (!leftover.is_leftover()) continue;
    const absl::Status status = env->DeleteRecursively(path);
    // NotFound: the file has been renamed since, or another process has deleted it
    if (!absl::IsNotFound(status)) first.Update(status);
  }
  return first;
}

}  // namespace tandem
