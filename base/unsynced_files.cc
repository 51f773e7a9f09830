#include "base/unsynced_files.h"

#include <errno.h>

#include <memory>

#include "base/posix_error.h"
#include "base/status_macros.h"

namespace tandem {

absl::Status CreateDirsUnsynced(Env* env, const std::string& dir) {
  auto info = env->Stat(dir);
  if (info.ok()) return info->is_directory ? absl::OkStatus() : NotADirectoryError(dir);
  if (!absl::IsNotFound(info.status())) return info.status();
  const std::string parent = DirName(dir);
  if (parent != dir) TD_RETURN_IF_ERROR(CreateDirsUnsynced(env, parent));
  absl::Status status = env->CreateDir(dir);
  return absl::IsAlreadyExists(status) ? absl::OkStatus() : status;  // another process created it
}

absl::Status WriteFileUnsynced(Env* env, const std::string& path, absl::string_view bytes) {
  TD_ASSIGN_OR_RETURN(const TemporaryFile temporary, env->CreateTemporary(path));
  absl::Status status = bytes.empty() ? absl::OkStatus() : temporary.file->Append(bytes);
  if (status.ok()) status = env->Rename(temporary.path, path);
  if (!status.ok()) {
    env->DeleteFile(temporary.path).IgnoreError();
    return status;
  }
  // Network file systems may only now report that the disk is full.
  status = temporary.file->Close();
  if (!status.ok()) env->DeleteFile(path).IgnoreError();
  return status;
}

}  // namespace tandem
