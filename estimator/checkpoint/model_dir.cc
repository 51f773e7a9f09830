#include "estimator/checkpoint/model_dir.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <mutex>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "base/annotate.h"
#include "base/exit_code.h"
#include "base/logging.h"
#include "base/posix_error.h"
#include "base/status_macros.h"
#include "base/temporary_files.h"
#include "base/temporary_name.h"
#include "base/unsynced_files.h"

namespace tandem {
namespace {

constexpr char kLockName[] = ".lock";
// Retries, because a process that was killed holds its locks until the system has freed its memory.
constexpr int kLockAttempts = 9;
constexpr double kLockPauseSeconds = 0.1;

// Returns, for example, "process 1234 on host7".
std::string ThisProcess(Env* env) { return absl::StrCat("process ", env->ProcessId(), " on ", env->HostName()); }

absl::Status InUse(Env* env, const std::string& model_dir) {
  std::string holder;
  if (absl::StatusOr<std::string> text = env->ReadFile(JoinPath(model_dir, kLockName), 4096); text.ok()) holder = *text;
  if (holder.empty()) holder = "another process";
  const bool own = absl::StartsWith(holder, absl::StrCat(ThisProcess(env), " "));
  return absl::UnavailableError(absl::StrCat("model_dir \"", model_dir,
                                             "\" is in use: ", own ? "another Estimator of this " : "", holder,
                                             " trains in it; wait until it has ended, or ", own ? "" : "stop it, or ",
                                             "give this training a model_dir of its own"));
}

// The locks of this process, by owner and directory.
struct Held {
  std::mutex mutex;
  std::map<std::pair<const void*, std::string>, std::weak_ptr<FileLock>> locks;
};

Held& held() {
  static Held* h = new Held;
  return *h;
}

// Returns a message if a wrong umask, such as 0777, keeps this process from using `path`, which it has just made; "" if
// that is not the problem.
std::string UmaskMistake(const std::string& path, mode_t needed) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0 || info.st_uid != geteuid() || geteuid() == 0 ||
      (info.st_mode & needed) == needed) {
    return "";
  }
  return absl::StrFormat("%s has mode %04o, which takes its owner's rights away: run \"umask 022\" and \"chmod u+rwX\"",
                         path, info.st_mode & 07777);
}

}  // namespace

absl::StatusOr<std::string> MakeTemporaryModelDir() {
  std::error_code error;
  std::string parent = std::filesystem::temp_directory_path(error).string();
  if (error) parent = "/tmp";
  std::string dir = JoinPath(parent, "tandem-model-XXXXXX");
  if (mkdtemp(dir.data()) == nullptr) {
    return Annotate(PosixError(errno, "create a temporary model_dir", parent), "", "; give a model_dir");
  }
  TD_LOG(WARNING) << "Using temporary folder as model directory: " << dir;
  return dir;
}

absl::Status PrepareModelDir(Env* env, const std::string& model_dir) {
  absl::Status status = CreateDirsUnsynced(env, model_dir);
  if (status.ok()) {
    // Only creating a file shows whether one can be created: permissions, quotas and read-only mounts all count.
    const absl::StatusOr<TemporaryFile> probe = env->CreateTemporary(JoinPath(model_dir, "probe"));
    status = probe.status();
    if (status.ok()) {
      if (std::string mistake = UmaskMistake(probe->path, S_IRUSR | S_IWUSR); !mistake.empty()) {
        status = absl::PermissionDeniedError(mistake);
      }
      // If the file system has no locks, another training may be cleaning up here, and may have deleted the file
      // already.
      const absl::Status deleted = env->DeleteFile(probe->path);
      if (status.ok() && !absl::IsNotFound(deleted)) status = deleted;
    }
  }
  if (status.ok()) return status;
  if (std::string mistake = UmaskMistake(model_dir, S_IRWXU); absl::IsPermissionDenied(status) && !mistake.empty()) {
    status = absl::PermissionDeniedError(mistake);
  }
  return WithExitCode(Annotate(status, absl::StrCat("model_dir \"", model_dir, "\" cannot be written: "),
                               "; choose a directory that this user can write, on a disk that has space"),
                      kExitIo);
}

absl::StatusOr<std::shared_ptr<FileLock>> LockModelDir(Env* env, const std::string& model_dir, const void* owner) {
  Held& all = held();
  std::lock_guard<std::mutex> guard(all.mutex);
  std::erase_if(all.locks, [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<FileLock>& mine = all.locks[{owner, model_dir}];
  if (std::shared_ptr<FileLock> lock = mine.lock()) return lock;
  for (int attempt = 1;; ++attempt) {
    absl::StatusOr<std::unique_ptr<FileLock>> locked = env->TryLock(JoinPath(model_dir, kLockName));
    if (locked.ok()) {
      std::shared_ptr<FileLock> lock = *std::move(locked);
      const absl::Time now = absl::FromUnixMicros(static_cast<int64_t>(1e6 * env->NowSeconds()));
      // The text is only for people: if it cannot be written, the lock is held all the same.
      lock->SetContent(absl::StrCat(ThisProcess(env), " since ",
                                    absl::FormatTime("%Y-%m-%d %H:%M:%S UTC", now, absl::UTCTimeZone())))
          .IgnoreError();
      mine = lock;
      return lock;
    }
    if (absl::IsUnimplemented(locked.status())) {
      TD_LOG(WARNING) << "model_dir cannot be locked: " << locked.status().message()
                      << "; make sure that no other training uses it";
      return std::shared_ptr<FileLock>();
    }
    if (!absl::IsAlreadyExists(locked.status())) return locked.status();
    if (attempt == kLockAttempts) return InUse(env, model_dir);
    env->SleepSeconds(kLockPauseSeconds);
  }
}

absl::StatusOr<std::shared_ptr<FileLock>> LockIfModelDir(Env* env, const std::string& dir, const void* owner) {
  if (!env->Exists(JoinPath(dir, kLockName))) return std::shared_ptr<FileLock>();
  return LockModelDir(env, dir, owner);
}

void DeleteLeftovers(Env* env, const std::string& model_dir) {
  std::vector<std::string> dirs = {JoinPath(model_dir, "compiled"), JoinPath(model_dir, "compiled/kernels")};
  absl::StatusOr<std::vector<std::string>> names = env->ListDir(model_dir);
  absl::Status status = names.status();
  if (names.ok()) {
    for (const std::string& name : *names) {
      if (name == "eval" || absl::StartsWith(name, "eval_")) dirs.push_back(JoinPath(model_dir, name));
    }
  }
  for (const std::string& dir : dirs) {
    const absl::Status deleted = DeleteTemporaries(env, dir, [](absl::string_view) { return true; });
    if (status.ok()) status = deleted;
  }
  if (!status.ok()) TD_LOG(WARNING) << "Leftovers of earlier runs could not be deleted: " << status.message();
}

}  // namespace tandem
