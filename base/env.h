// The door to files and clocks. Everything durable goes through an Env, so that tests can make each single operation
// fail (fault_injecting_env.h).
//
// Errors of all file operations: see posix_error.h. Messages begin with the path.
#ifndef TANDEM_BASE_ENV_H_
#define TANDEM_BASE_ENV_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace tandem {

// "dir/name"; an absolute `name` stays as it is.
std::string JoinPath(absl::string_view dir, absl::string_view name);
// "a/b" of "a/b/c", "." of "c", "/" of "/c". Trailing slashes do not count.
std::string DirName(absl::string_view path);
// "c" of "a/b/c" and of "a/b/c/".
std::string BaseName(absl::string_view path);

// A file open for reading. Thread-safe.
class RandomAccessFile {
 public:
  virtual ~RandomAccessFile() = default;
  virtual const std::string& path() const = 0;
  // Size in bytes when it was opened.
  virtual int64_t size() const = 0;
  // Reads exactly `n` bytes from `offset`; DataLoss when the file ends before.
  virtual absl::Status ReadAt(int64_t offset, size_t n, char* out) const = 0;
};

// A new file open for writing at its end.
class WritableFile {
 public:
  virtual ~WritableFile() = default;  // closes without syncing
  virtual absl::Status Append(absl::string_view bytes) = 0;
  // Returns when the content is on the disk (fsync).
  virtual absl::Status Sync() = 0;
  virtual absl::Status Close() = 0;
};

struct FileInfo {
  bool is_directory = false;
  bool is_regular = false;
  int64_t size = 0;  // in bytes
};

class Env {
 public:
  virtual ~Env() = default;

  // The operating system's files and clock. Lives for ever.
  static Env* Default();

  virtual absl::StatusOr<std::unique_ptr<RandomAccessFile>> OpenForRead(const std::string& path) = 0;
  // A new empty file; an existing one is truncated.
  virtual absl::StatusOr<std::unique_ptr<WritableFile>> CreateFile(const std::string& path) = 0;
  // Replaces a file `to`; a directory `to` must be empty or absent.
  virtual absl::Status Rename(const std::string& from, const std::string& to) = 0;
  // Makes creations, renames and deletions in `dir` durable.
  virtual absl::Status SyncDir(const std::string& dir) = 0;
  // AlreadyExists when it is there.
  virtual absl::Status CreateDir(const std::string& dir) = 0;
  virtual absl::Status DeleteFile(const std::string& path) = 0;
  // The directory must be empty.
  virtual absl::Status DeleteDir(const std::string& dir) = 0;
  // Names in `dir` without "." and "..", sorted.
  virtual absl::StatusOr<std::vector<std::string>> ListDir(const std::string& dir) = 0;
  // Follows symbolic links.
  virtual absl::StatusOr<FileInfo> Stat(const std::string& path) = 0;

  // Seconds since 1970.
  virtual double NowSeconds() = 0;
  // Seconds since some fixed point; never goes back.
  virtual double MonotonicSeconds() = 0;
  virtual void SleepSeconds(double seconds) = 0;
  virtual int ProcessId() = 0;
  // Whether a process with this id runs on this machine.
  virtual bool ProcessIsAlive(int process_id) = 0;

  // Whether `path` can be seen. An unreadable parent counts as absent: where that matters, use Stat.
  bool Exists(const std::string& path) { return Stat(path).ok(); }
  absl::StatusOr<int64_t> FileSize(const std::string& path);
  absl::StatusOr<std::string> ReadFile(const std::string& path);
  // Writes `pieces` one after another to a new file and syncs it.
  absl::Status WriteFile(const std::string& path, absl::Span<const absl::string_view> pieces);
  // Replaces `path` so that a reader, or a start after a crash, sees the old or the new content and nothing else: a
  // temporary file ".tmp-<name>-<process>", fsync, rename, fsync of the directory.
  absl::Status WriteFileAtomically(const std::string& path, absl::string_view bytes);
  // Creates `dir` and its parents where they do not exist.
  absl::Status CreateDirs(const std::string& dir);
  // Deletes a file or a directory with all that is in it. Does not follow symbolic links. NotFound when absent.
  absl::Status DeleteRecursively(const std::string& path);
};

}  // namespace tandem

#endif  // TANDEM_BASE_ENV_H_
