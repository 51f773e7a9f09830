// An Env for tests that fails or "crashes" at a chosen operation, and can discard what was not synced.
#ifndef TANDEM_BASE_FAULT_INJECTING_ENV_H_
#define TANDEM_BASE_FAULT_INJECTING_ENV_H_

#include <limits>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/env.h"

namespace tandem {

// Operations that change something on the disk. Closing and locking files do not count.
enum class FileOp { kCreate, kWrite, kSync, kRename, kSyncDir, kCreateDir, kDelete };

// Wraps another Env. Operations are numbered from 1 in the order in which they are called. Thread-safe.
class FaultInjectingEnv : public Env {
 public:
  explicit FaultInjectingEnv(Env* base) : base_(base) {}

  // The n-th operation of this kind from now on fails with `error_number` (ENOSPC, EIO, EACCES, ...); every later one
  // of this kind too, when `sticky`. A failing write has written half of its bytes.
  void FailNth(FileOp op, int n, int error_number, bool sticky = false);
  // Makes every operation whose path contains `part` fail, also reads.
  void FailPath(const std::string& part, int error_number);
  // Makes the n-th operation from now on, and everything after it, fail as if the process had died. A write at this
  // point has written half of its bytes. With n = 0: everything from now on.
  void CrashAt(int n);
  bool crashed() const;
  // Number of operations so far, also failed ones.
  int operations() const;
  // The operations so far as "<operation> <base name>", with the operations "create", "write", "sync", "rename",
  // "sync-dir", "create-dir", "delete".
  std::vector<std::string> trace() const;

  // Simulates a power failure in the files of the wrapped Env: a file's bytes since its last sync are lost, and so are
  // creations and renames since the last sync of their directory.
  absl::Status DropUnsynced();

  absl::StatusOr<std::unique_ptr<RandomAccessFile>> OpenForRead(const std::string& path) override;
  absl::StatusOr<std::unique_ptr<WritableFile>> CreateFile(const std::string& path) override;
  absl::StatusOr<std::unique_ptr<WritableFile>> CreateNewFile(const std::string& path) override;
  absl::StatusOr<std::unique_ptr<WritableFile>> CreateLockedFile(const std::string& path) override;
  absl::Status Rename(const std::string& from, const std::string& to) override;
  absl::Status SyncDir(const std::string& dir) override;
  absl::Status CreateDir(const std::string& dir) override;
  absl::Status DeleteFile(const std::string& path) override;
  absl::Status DeleteDir(const std::string& dir) override;
  absl::StatusOr<std::vector<std::string>> ListDir(const std::string& dir) override;
  absl::StatusOr<FileInfo> Stat(const std::string& path) override;
  absl::StatusOr<std::unique_ptr<FileLock>> TryLock(const std::string& path) override;
  double NowSeconds() override { return base_->NowSeconds(); }
  double MonotonicSeconds() override { return base_->MonotonicSeconds(); }
  void SleepSeconds(double) override {}  // tests do not wait
  int ProcessId() override { return base_->ProcessId(); }
  std::string HostName() override { return base_->HostName(); }

 private:
  friend class FaultInjectingFile;
  struct Fault {
    FileOp op;
    int countdown;
    int error_number;
    bool sticky;
  };
  // Counts an operation; returns an error if it must fail.
  absl::Status Begin(FileOp op, const std::string& path);
  absl::Status BeginRead(const std::string& path);
  absl::Status CheckPath(const std::string& path);
  // Creates a file by calling `create`, one of the functions of `base_` that create files.
  absl::StatusOr<std::unique_ptr<WritableFile>> Create(
      const std::string& path, absl::StatusOr<std::unique_ptr<WritableFile>> (Env::*create)(const std::string&));
  // What is needed to undo an unsynced change of a directory.
  struct Undo {
    std::string dir;                      // the directory that changed
    std::string path;                     // the created path, or the new name
    std::string from = "";                // the old name; empty for a creation
    std::optional<std::string> replaced;  // the content of the file that a rename replaced
  };
  absl::Status Apply(const Undo& undo);
  void AddUndo(Undo undo);

  Env* const base_;
  mutable std::mutex mutex_;
  int operations_ = 0;
  std::vector<std::string> trace_;
  int crash_at_ = std::numeric_limits<int>::max();
  bool crashed_ = false;
  std::vector<Fault> faults_;
  std::vector<std::pair<std::string, int>> bad_paths_;
  std::set<std::string> unsynced_files_;
  std::vector<Undo> undo_;
};

}  // namespace tandem

#endif  // TANDEM_BASE_FAULT_INJECTING_ENV_H_
