// Leftovers: temporary files and directories (temporary_name.h) that no process is writing any more.
//
// The writer of a temporary file holds a lock on it: Env::CreateTemporary locks a file while it is open, and a
// directory has a locked file beside it. Locks end with their process, and work between containers and hosts, where
// process ids mean nothing. A name is never used again, so a process that has seen a leftover may delete what has its
// name at any later time.
#ifndef TANDEM_BASE_TEMPORARY_FILES_H_
#define TANDEM_BASE_TEMPORARY_FILES_H_

#include <memory>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/env.h"

namespace tandem {

// A directory that gets its final name when it is complete.
class TemporaryDir {
 public:
  // Creates an empty temporary directory beside `path`.
  static absl::StatusOr<TemporaryDir> Create(Env* env, const std::string& path);
  // Deletes the directory, unless it was renamed.
  ~TemporaryDir();
  TemporaryDir(TemporaryDir&& other);

  const std::string& path() const { return path_; }
  // Renames the directory, as Env::Rename does. After an error the call can be repeated.
  absl::Status Rename(const std::string& to);

 private:
  TemporaryDir(Env* env, std::string path, std::unique_ptr<WritableFile> lock)
      : env_(env), path_(std::move(path)), lock_(std::move(lock)) {}

  Env* const env_;
  const std::string path_;
  std::unique_ptr<WritableFile> lock_;  // null if this object was moved from
  bool renamed_ = false;
};

// Deletes a directory such that a reader finds all of it or nothing. If the process is killed, a temporary directory
// with the target "delete-<name>" remains. NotFound when `path` is absent.
absl::Status DeleteAside(Env* env, const std::string& path);

// Deletes from `dir` the leftovers whose target name `ours` accepts. Returns the first error, if any. If the file
// system has no locks, files written within the last day stay. OK when there is no such directory.
absl::Status DeleteTemporaries(Env* env, const std::string& dir,
                               absl::FunctionRef<bool(absl::string_view target)> ours);

}  // namespace tandem

#endif  // TANDEM_BASE_TEMPORARY_FILES_H_
