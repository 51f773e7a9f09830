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

constexpr absl::string_view kLockSuffix = ".lock";  // of the file beside a directory
constexpr double kOldSeconds = 24 * 3600;

std::string LockOf(const std::string& dir) { return absl::StrCat(dir, kLockSuffix); }

// Holds the lock of a leftover, so that the process that has just made this file sees that it is lost
// (Env::CreateLockedFile).
class Leftover {
 public:
  // Checks whether `path` is a leftover.
  Leftover(Env* env, const std::string& path) {
    // Opening a FIFO or a device that an attacker has put there would block. A shared lock needs no right to write,
    // also on NFS.
    fd_ = RetryInterrupted([&] { return open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK); });
    if (fd_ < 0) {
      is_leftover_ = errno == ELOOP || errno == ENXIO || errno == ENOENT;  // links and sockets are not files of Tandem
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
  if (!renamed_) env_->DeleteRecursively(path_).IgnoreError();  // to free space on a full disk
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
  return absl::IsNotFound(status) ? absl::OkStatus() : status;  // another process has taken it for a leftover
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
    if (!absl::IsNotFound(status)) first.Update(status);  // it has its name now, or another process deletes it too
  }
  return first;
}

}  // namespace tandem
