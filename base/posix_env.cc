// Env::Default(): POSIX files.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/env.h"
#include "base/exit_code.h"
#include "base/posix_error.h"
#include "base/standard_descriptors.h"
#include "base/status_macros.h"

namespace tandem {
namespace {

// The most bytes for one call of read(2) or write(2): large calls cannot be interrupted.
constexpr size_t kMaxTransfer = size_t{1} << 30;

int Open(const std::string& path, int flags, mode_t mode = 0666) {
  return AboveStandardDescriptors(RetryInterrupted([&] { return open(path.c_str(), flags | O_CLOEXEC, mode); }));
}

absl::string_view KindOf(mode_t mode) {
  return S_ISFIFO(mode)   ? "a FIFO"
         : S_ISSOCK(mode) ? "a socket"
         : S_ISCHR(mode)  ? "a device"
         : S_ISBLK(mode)  ? "a block device"
                          : "something else";
}

class PosixRandomAccessFile : public RandomAccessFile {
 public:
  PosixRandomAccessFile(std::string path, int fd, const struct stat& info)
      : path_(std::move(path)), fd_(fd), size_(info.st_size), owner_(info.st_uid), mode_(info.st_mode) {}
  ~PosixRandomAccessFile() override { close(fd_); }

  const std::string& path() const override { return path_; }
  int64_t size() const override { return size_; }

  absl::Status CheckTrusted() const override {
    std::string why;
    if (owner_ != geteuid() && owner_ != 0) {
      why = absl::StrCat("it belongs to another user (", owner_, "; this is ", geteuid(), ")");
    } else if ((mode_ & (S_IWGRP | S_IWOTH)) != 0) {
      why = absl::StrFormat("others may write it (its mode is %04o; chmod go-w changes that)", mode_ & 07777);
    } else {
      return absl::OkStatus();
    }
    return WithExitCode(
        absl::PermissionDeniedError(absl::StrCat(path_, ": holds code that would run as this user, and ", why)),
        kExitIo);
  }

  absl::Status ReadAt(int64_t offset, size_t n, char* out) const override {
    while (n > 0) {
      ssize_t got = pread(fd_, out, std::min(n, kMaxTransfer), offset);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return PosixError(errno, "read", path_);
      if (got == 0) {
        return absl::DataLossError(absl::StrCat(path_, ": the file ends at byte ", offset, ", ", n,
                                                " more bytes are needed: it is truncated"));
      }
      offset += got;
      out += got;
      n -= got;
    }
    return absl::OkStatus();
  }

 private:
  const std::string path_;
  const int fd_;
  const int64_t size_;
  const uid_t owner_;
  const mode_t mode_;
};

class PosixWritableFile : public WritableFile {
 public:
  PosixWritableFile(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}
  ~PosixWritableFile() override {
    if (fd_ >= 0) close(fd_);
  }

  absl::Status Append(absl::string_view bytes) override {
    while (!bytes.empty()) {
      ssize_t n = write(fd_, bytes.data(), std::min(bytes.size(), kMaxTransfer));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return PosixError(errno, "write", path_);
      bytes.remove_prefix(n);
    }
    return absl::OkStatus();
  }

  absl::Status Sync() override {
    if (RetryInterrupted([&] { return fsync(fd_); }) == 0) return absl::OkStatus();
    return PosixError(errno, "write to disk (fsync)", path_);
  }

  absl::Status Close() override {
    int fd = std::exchange(fd_, -1);
    // After EINTR, Linux has closed the descriptor nevertheless.
    if (close(fd) != 0 && errno != EINTR) return PosixError(errno, "close", path_);
    return absl::OkStatus();
  }

 private:
  const std::string path_;
  int fd_;
};

class PosixFileLock : public FileLock {
 public:
  PosixFileLock(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}
  ~PosixFileLock() override {
    // Deletes the content, which names the holder of the lock (SetContent). Closing the file releases the lock.
    static_cast<void>(ftruncate(fd_, 0) == 0);
    close(fd_);
  }

  absl::Status SetContent(absl::string_view text) override {
    if (ftruncate(fd_, 0) != 0 || pwrite(fd_, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) {
      return PosixError(errno, "write", path_);
    }
    return absl::OkStatus();
  }

 private:
  const std::string path_;
  const int fd_;
};

class PosixEnv : public Env {
 public:
  absl::StatusOr<std::unique_ptr<RandomAccessFile>> OpenForRead(const std::string& path) override {
    // Opening a FIFO without a writer would block.
    const int fd = Open(path, O_RDONLY | O_NONBLOCK);
    if (fd < 0 && errno == ENXIO) return NotRegular(path, "a socket");
    if (fd < 0) return PosixError(errno, "open", path);
    struct stat info;
    absl::Status status;
    if (fstat(fd, &info) != 0) {
      status = PosixError(errno, "read", path);
    } else if (S_ISDIR(info.st_mode)) {
      status = PosixError(EISDIR, "read", path);
    } else if (!S_ISREG(info.st_mode)) {
      status = NotRegular(path, KindOf(info.st_mode));
    } else {
      return std::make_unique<PosixRandomAccessFile>(path, fd, info);
    }
    close(fd);
    return status;
  }

  absl::StatusOr<std::unique_ptr<WritableFile>> CreateFile(const std::string& path) override {
    const int fd = Open(path, O_WRONLY | O_CREAT | O_TRUNC);
    if (fd < 0) return PosixError(errno, "create", path);
    return std::make_unique<PosixWritableFile>(path, fd);
  }

  // Mode 0644: only this user may write the file, whatever the umask, because CheckTrusted refuses code that others may
  // write.
  absl::StatusOr<std::unique_ptr<WritableFile>> CreateNewFile(const std::string& path) override {
    const int fd = Open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0644);
    if (fd < 0) return PosixError(errno, "create", path);
    return std::make_unique<PosixWritableFile>(path, fd);
  }

  absl::StatusOr<std::unique_ptr<WritableFile>> CreateLockedFile(const std::string& path) override {
    const int fd = Open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0644);
    if (fd < 0) return PosixError(errno, "create", path);
    if (LockNew(path, fd)) return std::make_unique<PosixWritableFile>(path, fd);
    close(fd);
    return absl::AbortedError(absl::StrCat(path, ": cannot lock: somebody took it for a leftover and deletes it"));
  }

  absl::Status Rename(const std::string& from, const std::string& to) override {
    if (RetryInterrupted([&] { return rename(from.c_str(), to.c_str()); }) == 0) return absl::OkStatus();
    return PosixError(errno, absl::StrCat("rename to ", to), from);
  }

  absl::Status SyncDir(const std::string& dir) override {
    const int fd = Open(dir, O_RDONLY | O_DIRECTORY);
    if (fd < 0) return PosixError(errno, "open the directory", dir);
    absl::Status status;
    // Some network file systems do not support fsync for directories: EINVAL.
    if (RetryInterrupted([&] { return fsync(fd); }) != 0 && errno != EINVAL) {
      status = PosixError(errno, "write the directory to disk (fsync)", dir);
    }
    close(fd);
    return status;
  }

  absl::Status CreateDir(const std::string& dir) override {
    if (RetryInterrupted([&] { return mkdir(dir.c_str(), 0777); }) == 0) return absl::OkStatus();
    return PosixError(errno, "create the directory", dir);
  }

  absl::Status DeleteFile(const std::string& path) override {
    if (RetryInterrupted([&] { return unlink(path.c_str()); }) == 0) return absl::OkStatus();
    return PosixError(errno, "delete", path);
  }

  absl::Status DeleteDir(const std::string& dir) override {
    if (RetryInterrupted([&] { return rmdir(dir.c_str()); }) == 0) return absl::OkStatus();
    return PosixError(errno, "delete the directory", dir);
  }

  absl::StatusOr<std::vector<std::string>> ListDir(const std::string& dir) override {
    DIR* stream = opendir(dir.c_str());
    if (stream == nullptr) return PosixError(errno, "list", dir);
    std::vector<std::string> names;
    errno = 0;
    while (dirent* entry = readdir(stream)) {
      std::string name = entry->d_name;
      if (name != "." && name != "..") names.push_back(std::move(name));
      errno = 0;
    }
    int error_number = errno;
    closedir(stream);
    if (error_number != 0) return PosixError(error_number, "list", dir);
    std::sort(names.begin(), names.end());
    return names;
  }

  absl::StatusOr<FileInfo> Stat(const std::string& path) override {
    struct stat info;
    if (RetryInterrupted([&] { return stat(path.c_str(), &info); }) != 0) return PosixError(errno, "look at", path);
    return FileInfo{.is_directory = S_ISDIR(info.st_mode), .is_regular = S_ISREG(info.st_mode), .size = info.st_size};
  }

  absl::StatusOr<std::unique_ptr<FileLock>> TryLock(const std::string& path) override {
    int fd = Open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK);
    // A lock file in a shared directory may belong to another user and not be writable. A descriptor for reading can
    // lock it.
    if (fd < 0 && errno == EACCES) fd = Open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) return PosixError(errno, "open", path);
    struct stat info;
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) || info.st_nlink != 1) {
      close(fd);
      return absl::FailedPreconditionError(absl::StrCat(path, ": cannot lock: it is not a file of its own; delete it"));
    }
    if (RetryInterrupted([&] { return flock(fd, LOCK_EX | LOCK_NB); }) == 0) {
      return std::make_unique<PosixFileLock>(path, fd);
    }
    const int error_number = errno;
    close(fd);
    if (error_number == EWOULDBLOCK) return absl::AlreadyExistsError(absl::StrCat(path, ": is locked"));
    if (error_number == ENOLCK || error_number == ENOSYS || error_number == EOPNOTSUPP || error_number == EINVAL) {
      return absl::UnimplementedError(PosixError(error_number, "lock", path).message());
    }
    return PosixError(error_number, "lock", path);
  }

  double NowSeconds() override { return Clock(CLOCK_REALTIME); }
  double MonotonicSeconds() override { return Clock(CLOCK_MONOTONIC); }

  void SleepSeconds(double seconds) override {
    if (seconds <= 0) return;
    timespec rest{static_cast<time_t>(seconds), static_cast<long>((seconds - static_cast<time_t>(seconds)) * 1e9)};
    while (nanosleep(&rest, &rest) != 0 && errno == EINTR) {
    }
  }

  int ProcessId() override { return getpid(); }
  std::string HostName() override {
    char name[256] = "";
    return gethostname(name, sizeof name - 1) == 0 && name[0] != '\0' ? name : "an unknown host";
  }

 private:
  static absl::Status NotRegular(const std::string& path, absl::string_view kind) {
    return absl::FailedPreconditionError(absl::StrCat(path, ": cannot read: it is ", kind, ", not a regular file"));
  }

  // Locks a new file. Returns false if another process has already taken the file for a leftover; the file is deleted
  // then.
  static bool LockNew(const std::string& path, int fd) {
    if (RetryInterrupted([&] { return flock(fd, LOCK_EX | LOCK_NB); }) != 0) {
      if (errno != EWOULDBLOCK) return true;  // the file system has no locks
      unlink(path.c_str());
      return false;
    }
    struct stat info;
    return fstat(fd, &info) != 0 || info.st_nlink > 0;
  }

  static double Clock(clockid_t id) {
    timespec now;
    clock_gettime(id, &now);
    return now.tv_sec + now.tv_nsec * 1e-9;
  }
};

}  // namespace

Env* Env::Default() {
  static Env* env = new PosixEnv;
  return env;
}

}  // namespace tandem
