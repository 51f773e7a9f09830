#include "base/env.h"

#include <errno.h>
#include <unistd.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/posix_error.h"
#include "base/status_macros.h"

namespace tandem {

namespace {

// How often CreateTemporary tries: an attempt fails if another process takes the new file for a leftover and deletes
// it.
constexpr int kCreateAttempts = 10;

absl::string_view WithoutTrailingSlashes(absl::string_view path) {
  while (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
  return path;
}

absl::Status AppendAndSync(WritableFile& file, absl::Span<const absl::string_view> pieces) {
  for (absl::string_view piece : pieces) {
    if (!piece.empty()) TD_RETURN_IF_ERROR(file.Append(piece));
  }
  return file.Sync();
}

}  // namespace

std::string JoinPath(absl::string_view dir, absl::string_view name) {
  if (dir.empty() || (!name.empty() && name.front() == '/')) return std::string(name);
  return absl::StrCat(dir, dir.back() == '/' ? "" : "/", name);
}

std::string DirName(absl::string_view path) {
  path = WithoutTrailingSlashes(path);
  size_t slash = path.rfind('/');
  if (slash == absl::string_view::npos) return ".";
  return std::string(WithoutTrailingSlashes(path.substr(0, slash == 0 ? 1 : slash)));
}

std::string BaseName(absl::string_view path) {
  path = WithoutTrailingSlashes(path);
  size_t slash = path.rfind('/');
  return std::string(slash == absl::string_view::npos || path.size() == 1 ? path : path.substr(slash + 1));
}

absl::StatusOr<int64_t> Env::FileSize(const std::string& path) {
  TD_ASSIGN_OR_RETURN(FileInfo info, Stat(path));
  return info.size;
}

absl::Status CheckSize(absl::string_view what, int64_t bytes, int64_t max_bytes) {
  const int64_t memory = static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  if (memory > 0) max_bytes = std::min(max_bytes, memory);
  if (bytes <= max_bytes) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat(what, ": has ", bytes, " bytes, and at most ", max_bytes,
                                          " can be read into memory: it is damaged, or something else"));
}

absl::StatusOr<std::string> Env::ReadFile(const std::string& path, int64_t max_bytes) {
  TD_ASSIGN_OR_RETURN(std::unique_ptr<RandomAccessFile> file, OpenForRead(path));
  TD_RETURN_IF_ERROR(CheckSize(path, file->size(), max_bytes));
  std::string content(file->size(), '\0');
  TD_RETURN_IF_ERROR(file->ReadAt(0, content.size(), content.data()));
  return content;
}

absl::Status Env::WriteFile(const std::string& path, absl::Span<const absl::string_view> pieces) {
  TD_ASSIGN_OR_RETURN(std::unique_ptr<WritableFile> file, CreateFile(path));
  TD_RETURN_IF_ERROR(AppendAndSync(*file, pieces));
  return file->Close();
}

absl::Status Env::WriteNewFile(const std::string& path, absl::Span<const absl::string_view> pieces) {
  TD_ASSIGN_OR_RETURN(std::unique_ptr<WritableFile> file, CreateNewFile(path));
  TD_RETURN_IF_ERROR(AppendAndSync(*file, pieces));
  return file->Close();
}

absl::StatusOr<TemporaryFile> Env::CreateTemporary(const std::string& path, absl::string_view suffix) {
  for (int attempt = 1;; ++attempt) {
    const std::string temporary = absl::StrCat(TemporaryPath(this, path), suffix);
    absl::StatusOr<std::unique_ptr<WritableFile>> file = CreateLockedFile(temporary);
    if (file.ok()) return TemporaryFile{.path = temporary, .file = *std::move(file)};
    if (!absl::IsAborted(file.status()) || attempt == kCreateAttempts) return file.status();
  }
}

absl::Status Env::WriteFileAtomically(const std::string& path, absl::string_view bytes) {
  TD_ASSIGN_OR_RETURN(const TemporaryFile temporary, CreateTemporary(path));
  absl::Status status = AppendAndSync(*temporary.file, {bytes});
  if (status.ok()) status = Rename(temporary.path, path);
  if (!status.ok()) {
    DeleteFile(temporary.path).IgnoreError();
    return status;
  }
  return SyncDir(DirName(path));
}

absl::Status Env::CreateDirs(const std::string& dir) {
  auto info = Stat(dir);
  if (info.ok()) return info->is_directory ? absl::OkStatus() : NotADirectoryError(dir);
  if (!absl::IsNotFound(info.status())) return info.status();
  std::string parent = DirName(dir);
  if (parent != dir) TD_RETURN_IF_ERROR(CreateDirs(parent));
  absl::Status status = CreateDir(dir);
  if (absl::IsAlreadyExists(status)) return absl::OkStatus();  // another process created it
  TD_RETURN_IF_ERROR(status);
  return SyncDir(parent);
}

absl::Status Env::DeleteRecursively(const std::string& path) {
  absl::Status status = DeleteFile(path);
  if (!absl::IsFailedPrecondition(status) && !absl::IsPermissionDenied(status)) return status;
  // `path` may be a directory, for which unlink fails with EISDIR (Linux) or EPERM (POSIX).
  auto names = ListDir(path);
  if (!names.ok()) return absl::IsFailedPrecondition(names.status()) ? status : names.status();
  for (const std::string& name : *names) {
    status = DeleteRecursively(JoinPath(path, name));
    if (!absl::IsNotFound(status)) TD_RETURN_IF_ERROR(status);  // NotFound: another process has deleted the file
  }
  return DeleteDir(path);
}

}  // namespace tandem
