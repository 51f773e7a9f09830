#include "base/unsynced_files.h"

#include <errno.h>

#include <atomic>
#include <memory>

#include "absl/strings/str_cat.h"
#include "base/posix_error.h"
#include "base/status_macros.h"

namespace tandem {

absl::Status CreateDirsUnsynced(Env* env, const std::string& dir) {
  auto info = env->Stat(dir);
  if (info.ok()) return info->is_directory ? absl::OkStatus() : PosixError(ENOTDIR, "use as a directory", dir);
  if (!absl::IsNotFound(info.status())) return info.status();
  const std::string parent = DirName(dir);
  if (parent != dir) TD_RETURN_IF_ERROR(CreateDirsUnsynced(env, parent));
  absl::Status status = env->CreateDir(dir);
  return absl::IsAlreadyExists(status) ? absl::OkStatus() : status;  // another process was faster
}

absl::Status WriteFileUnsynced(Env* env, const std::string& path, absl::string_view bytes) {
  // Two threads may write the same file.
  static std::atomic<int> count{0};
  const std::string temporary =
      JoinPath(DirName(path), absl::StrCat(".tmp-", BaseName(path), "-", env->ProcessId(), "-", count++));
  absl::StatusOr<std::unique_ptr<WritableFile>> created = env->CreateNewFile(temporary);
  if (absl::IsAlreadyExists(created.status())) {  // of a dead process that had the same id
    TD_RETURN_IF_ERROR(env->DeleteFile(temporary));
    created = env->CreateNewFile(temporary);
  }
  TD_ASSIGN_OR_RETURN(std::unique_ptr<WritableFile> file, std::move(created));
  absl::Status status = bytes.empty() ? absl::OkStatus() : file->Append(bytes);
  if (status.ok()) status = file->Close();
  if (status.ok()) status = env->Rename(temporary, path);
  if (!status.ok()) env->DeleteFile(temporary).IgnoreError();
  return status;
}

}  // namespace tandem
