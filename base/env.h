// Access to files and clocks. Everything durable goes through an Env, so that tests can make any single operation fail
// (fault_injecting_env.h).
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
#include "tandem/base/api.h"

namespace TANDEM_API tandem {

// Returns "dir/name"; an absolute `name` stays as it is.
std::string JoinPath(absl::string_view dir, absl::string_view name);
// Returns "a/b" for "a/b/c", "." for "c", "/" for "/c". Trailing slashes do not count.
std::string DirName(absl::string_view path);
// Returns "c" for "a/b/c" and for "a/b/c/".
std::string BaseName(absl::string_view path);

// A file open for reading. Thread-safe.
class RandomAccessFile {
 public:
  virtual ~RandomAccessFile() = default;
  // The path that it was opened by.
  virtual const std::string& path() const = 0;
  // Size in bytes when it was opened.
  virtual int64_t size() const = 0;
  // Reads exactly `n` bytes from `offset`; DataLoss when the file ends before.
  virtual absl::Status ReadAt(int64_t offset, size_t n, char* out) const = 0;
  // For files that contain code: PermissionDenied (exit code 74) unless this user or root owns the file, and nobody
  // else may write it, not even its group.
  virtual absl::Status CheckTrusted() const = 0;
};

// A file open for writing at its end.
class WritableFile {
 public:
  virtual ~WritableFile() = default;  // closes without syncing
  // Writes at the end; the bytes may be lost until Sync.
  virtual absl::Status Append(absl::string_view bytes) = 0;
  // Returns when the content is on the disk (fsync).
  virtual absl::Status Sync() = 0;
  // Closes without syncing; an error that was noticed late is returned here.
  virtual absl::Status Close() = 0;
};

// An advisory lock on a file. It is released by the destructor, or at the end of the process, however that ends.
class FileLock {
 public:
  virtual ~FileLock() = default;
  // Replaces the content of the locked file: tells other processes who holds the lock.
  virtual absl::Status SetContent(absl::string_view text) = 0;
};

// Default for the most bytes that ReadFile reads into memory.
inline constexpr int64_t kMaxReadFile = int64_t{1} << 30;

// What Env::Stat says of a path.
struct FileInfo {
  bool is_directory = false;
  bool is_regular = false;
  int64_t size = 0;  // of the file, in bytes
};

// A file that Env::CreateTemporary has created: its path, and the open file.
struct TemporaryFile {
  std::string path;
  std::unique_ptr<WritableFile> file;
};

// Files, clocks and the identity of this process.
class Env {
 public:
  virtual ~Env() = default;

  // The operating system's files and clock. Lives forever.
  static Env* Default();

  // FailedPrecondition for anything but a regular file (a directory, a FIFO, a device); never waits for a FIFO's
  // writer.
  virtual absl::StatusOr<std::unique_ptr<RandomAccessFile>> OpenForRead(const std::string& path) = 0;
  // Creates an empty file under a user's name; an existing one, also one that a link points to, is truncated.
  virtual absl::StatusOr<std::unique_ptr<WritableFile>> CreateFile(const std::string& path) = 0;
  // Creates a new empty file, which only this user may write. AlreadyExists when anything has this name, even a link to
  // nothing. For directories in which other users could create a file or a link with this name first.
  virtual absl::StatusOr<std::unique_ptr<WritableFile>> CreateNewFile(const std::string& path) = 0;
  // Like CreateNewFile, and also locks the file while it is open. The lock shows that the file is not a leftover
  // (temporary_files.h). Aborted if another process took the file for a leftover before it was locked. That process
  // deletes whatever has this name, so the caller must use another name.
  virtual absl::StatusOr<std::unique_ptr<WritableFile>> CreateLockedFile(const std::string& path) = 0;
  // Replaces a file `to`; a directory `to` must be empty or absent.
  virtual absl::Status Rename(const std::string& from, const std::string& to) = 0;
  // Makes creations, renames and deletions in `dir` durable on the disk.
  virtual absl::Status SyncDir(const std::string& dir) = 0;
  // AlreadyExists if `dir` exists.
  virtual absl::Status CreateDir(const std::string& dir) = 0;
  // Deletes a file or a link; NotFound if it does not exist.
  virtual absl::Status DeleteFile(const std::string& path) = 0;
  // The directory must be empty.
  virtual absl::Status DeleteDir(const std::string& dir) = 0;
  // Names in `dir` without "." and "..", sorted.
  virtual absl::StatusOr<std::vector<std::string>> ListDir(const std::string& dir) = 0;
  // Follows symbolic links.
  virtual absl::StatusOr<FileInfo> Stat(const std::string& path) = 0;
  // Locks the file without waiting; creates it if it does not exist. AlreadyExists when another process, or another
  // lock of this process, holds it; Unimplemented if the file system has no locks.
  virtual absl::StatusOr<std::unique_ptr<FileLock>> TryLock(const std::string& path) = 0;

  // Seconds since 1970.
  virtual double NowSeconds() = 0;
  // Seconds since some fixed point; never goes back.
  virtual double MonotonicSeconds() = 0;

  virtual void SleepSeconds(double seconds) = 0;

  virtual int ProcessId() = 0;
  virtual std::string HostName() = 0;

  // True if `path` exists. A path in an unreadable folder counts as absent: if that matters, use Stat.
  bool Exists(const std::string& path) { return Stat(path).ok(); }
  // The size in bytes.
  absl::StatusOr<int64_t> FileSize(const std::string& path);
  // Returns the content of a file. DataLoss, before any memory is allocated, if the file is larger than `max_bytes`.
  absl::StatusOr<std::string> ReadFile(const std::string& path, int64_t max_bytes = kMaxReadFile);
  // Writes `pieces` one after another to a file (CreateFile) and syncs it.
  absl::Status WriteFile(const std::string& path, absl::Span<const absl::string_view> pieces);
  // Like WriteFile, but creates the file with CreateNewFile.
  absl::Status WriteNewFile(const std::string& path, absl::Span<const absl::string_view> pieces);
  // Creates a new file under a unique name beside `path` (TemporaryPath), ending with `suffix`, locked while it is
  // open. Rename or delete it before it is closed.
  absl::StatusOr<TemporaryFile> CreateTemporary(const std::string& path, absl::string_view suffix = "");
  // Replaces `path` atomically: a reader, also after a crash, sees either the old or the new content. Writes a
  // temporary file, syncs it, renames it and syncs the directory. A link at `path` is replaced. Any number of threads
  // and processes may do this at the same time.
  absl::Status WriteFileAtomically(const std::string& path, absl::string_view bytes);
  // Creates `dir` and its parents where they do not exist.
  absl::Status CreateDirs(const std::string& dir);
  // Deletes a file or a directory with all its content. Does not follow symbolic links. NotFound when absent.
  absl::Status DeleteRecursively(const std::string& path);
};

// Returns a name beside `path` that no other call returns: neither in this process nor in another one with the same id,
// such as the first processes of two containers. ".tmp-<name>-<process>-<16 random hexadecimal digits>-<count>"; a long
// name is shortened to its beginning.
std::string TemporaryPath(Env* env, absl::string_view path);

// To be called before memory is allocated for data of `bytes` bytes. `what` names the data in the error, for example by
// a path. DataLoss if the data has more than `max_bytes` bytes, or more than this machine's memory.
absl::Status CheckSize(absl::string_view what, int64_t bytes, int64_t max_bytes);

}  // namespace tandem

#endif  // TANDEM_BASE_ENV_H_
