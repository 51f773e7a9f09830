// model_dir as a directory: made, locked while a training runs in it, and cleared of what dead runs have left.
#ifndef TANDEM_ESTIMATOR_MODEL_DIR_H_
#define TANDEM_ESTIMATOR_MODEL_DIR_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/env.h"

namespace tandem {

// A new directory under a name that nobody can guess, in $TMPDIR or /tmp. Only this user can look into it.
absl::StatusOr<std::string> MakeTemporaryModelDir();

// Creates `model_dir` with its parents and makes sure that files can be created in it, and read back.
// An error names the directory and carries exit code 74.
absl::Status PrepareModelDir(Env* env, const std::string& model_dir);

// The right to train in `model_dir`, for as long as the result or a copy of it lives. One training has it at a time, in
// this process or any other that can lock files of the same file system; an `owner` who has it already gets it again.
// The file `.lock` says who has it. The end of a process, however it comes, gives it back.
//
// Unavailable (exit code 75: starting again may help) within a second when somebody else has it: process, host, since
// when, and what to do. Null, with a warning, where the file system has no locks.
absl::StatusOr<std::shared_ptr<FileLock>> LockModelDir(Env* env, const std::string& model_dir, const void* owner);

// The same for who writes something else there; null where nobody has ever trained.
absl::StatusOr<std::shared_ptr<FileLock>> LockIfModelDir(Env* env, const std::string& dir, const void* owner);

// To be called by the holder of the lock: deletes temporary files that dead processes left beside evaluations and
// compiled programs. Those beside the checkpoints are CheckpointManager::Recover's. What cannot be deleted is a
// warning.
void DeleteLeftovers(Env* env, const std::string& model_dir);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_MODEL_DIR_H_
