// Creates a model_dir, locks it while a training runs in it, and deletes what dead runs have left in it.
#ifndef TANDEM_ESTIMATOR_CHECKPOINT_MODEL_DIR_H_
#define TANDEM_ESTIMATOR_CHECKPOINT_MODEL_DIR_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/env.h"

namespace tandem {

// Makes a new directory with a random name in $TMPDIR or /tmp. Only this user can access it.
absl::StatusOr<std::string> MakeTemporaryModelDir();

// Creates `model_dir` with its parents and checks that files can be created in it and read back. An error names the
// directory and carries exit code 74.
absl::Status PrepareModelDir(Env* env, const std::string& model_dir);

// Locks `model_dir` for a training, for as long as the result or a copy of it lives. One training holds the lock at a
// time, in this process or any other that can lock files of the same file system; an `owner` that holds it already gets
// it again. The file `.lock` says who holds it. The lock is released when the process ends, however it ends.
//
// Unavailable (exit code 75: starting again may help), after about a second, if somebody else holds it; the message has
// process, host, since when, and what to do. Null, with a warning, if the file system has no locks.
absl::StatusOr<std::shared_ptr<FileLock>> LockModelDir(Env* env, const std::string& model_dir, const void* owner);

// Locks `dir` like LockModelDir, for a program that writes other files into it than a training's. Returns null if
// nobody has ever trained there.
absl::StatusOr<std::shared_ptr<FileLock>> LockIfModelDir(Env* env, const std::string& dir, const void* owner);

// Deletes temporary files that dead processes left beside evaluations and compiled programs; call it only while holding
// the lock. CheckpointManager::Recover deletes those beside the checkpoints. Warns about files that cannot be deleted.
void DeleteLeftovers(Env* env, const std::string& model_dir);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_CHECKPOINT_MODEL_DIR_H_
