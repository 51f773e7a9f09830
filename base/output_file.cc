#include "base/output_file.h"

#include "absl/strings/str_cat.h"
#include "base/annotate.h"
#include "base/exit_code.h"
#include "base/status_macros.h"
#include "base/temporary_files.h"
#include "base/temporary_name.h"

namespace tandem {

absl::Status CheckOutputFile(Env* env, absl::string_view what, const std::string& path) {
  const std::string dir = DirName(path);
  const auto wrong = [&](absl::string_view problem) {
    return absl::InvalidArgumentError(absl::StrCat(what, " ", path, ": ", problem));
  };
  const absl::StatusOr<FileInfo> folder = env->Stat(dir);
  if (!folder.ok() || !folder->is_directory) {
    return wrong(absl::StrCat("there is no folder ", dir, "; make it, or choose another path"));
  }
  if (const absl::StatusOr<FileInfo> file = env->Stat(path); file.ok() && !file->is_regular) {
    return file->is_directory ? wrong("this is a folder; add the name of a file") : absl::OkStatus();
  }
  // Whether a file can be created depends on permissions, quotas and read-only mounts, so only creating one shows it.
  const std::string name = absl::StrCat("probe-", BaseName(path));
  const absl::StatusOr<TemporaryFile> probe = env->CreateTemporary(JoinPath(dir, name));
  absl::Status status = probe.ok() ? env->DeleteFile(probe->path) : probe.status();
  // Deletes probe files of processes that were killed before they could delete them.
  DeleteTemporaries(env, dir, [&](absl::string_view target) { return target == name; }).IgnoreError();
  if (status.ok()) return status;
  return WithExitCode(Annotate(status, absl::StrCat(what, " ", path, " cannot be written: ")), kExitIo);
}

absl::Status WriteOutputFile(Env* env, absl::string_view what, const std::string& path, absl::string_view bytes) {
  return OutputError(what, [&]() -> absl::Status {
    const absl::StatusOr<FileInfo> there = env->Stat(path);
    if (!there.ok() || there->is_regular) return env->WriteFileAtomically(path, bytes);
    TD_ASSIGN_OR_RETURN(const std::unique_ptr<WritableFile> file, env->CreateFile(path));
    TD_RETURN_IF_ERROR(file->Append(bytes));  // There is no Sync, because devices and pipes cannot be synced.
    return file->Close();
  }());
}

absl::Status OutputError(absl::string_view what, const absl::Status& status) {
  return WithExitCode(Annotate(status, absl::StrCat(what, ": "), "; choose another file"), kExitIo);
}

}  // namespace tandem
