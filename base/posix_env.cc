// Env::Default(): POSIX files.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "base/env.h"
#include "base/posix_error.h"
#include "base/status_macros.h"

namespace tandem {
namespace {

// One call of read(2) or write(2) moves at most this much: large calls cannot be interrupted.
constexpr size_t kMaxTransfer = size_t{1} << 30;

int OpenRetrying(const std::string& path, int flags) {
  int fd;
  do {
    fd = open(path.c_str(), flags | O_CLOEXEC, 0666);
  } while (fd < 0 && errno == EINTR);
  return fd;
}

class PosixRandomAccessFile : public RandomAccessFile {
 public:
  PosixRandomAccessFile(std::string path, int fd, int64_t size) : path_(std::move(path)), fd_(fd), size_(size) {}
  ~PosixRandomAccessFile() override { close(fd_); }

  const std::string& path() const override { return path_; }
  int64_t size() const override { return size_; }

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
    return fsync(fd_) == 0 ? absl::OkStatus() : PosixError(errno, "write to disk (fsync)", path_);
  }

  absl::Status Close() override {
    int fd = std::exchange(fd_, -1);
    // After EINTR Linux has closed the descriptor all the same.
    if (close(fd) != 0 && errno != EINTR) return PosixError(errno, "close", path_);
    return absl::OkStatus();
  }

 private:
  const std::string path_;
  int fd_;
};

class PosixEnv : public Env {
 public:
  absl::StatusOr<std::unique_ptr<RandomAccessFile>> OpenForRead(const std::string& path) override {
    int fd = OpenRetrying(path, O_RDONLY);
    if (fd < 0) return PosixError(errno, "open", path);
    struct stat info;
    if (fstat(fd, &info) != 0 || S_ISDIR(info.st_mode)) {
      absl::Status status = PosixError(S_ISDIR(info.st_mode) ? EISDIR : errno, "read", path);
      close(fd);
      return status;
    }
    return std::make_unique<PosixRandomAccessFile>(path, fd, info.st_size);
  }

  absl::StatusOr<std::unique_ptr<WritableFile>> CreateFile(const std::string& path) override {
    int fd = OpenRetrying(path, O_WRONLY | O_CREAT | O_TRUNC);
    if (fd < 0) return PosixError(errno, "create", path);
    return std::make_unique<PosixWritableFile>(path, fd);
  }

  absl::Status Rename(const std::string& from, const std::string& to) override {
    if (rename(from.c_str(), to.c_str()) == 0) return absl::OkStatus();
    return PosixError(errno, absl::StrCat("rename to ", to), from);
  }

  absl::Status SyncDir(const std::string& dir) override {
    int fd = OpenRetrying(dir, O_RDONLY | O_DIRECTORY);
    if (fd < 0) return PosixError(errno, "open the directory", dir);
    absl::Status status;
    // Some network file systems have no fsync for directories: EINVAL.
    if (fsync(fd) != 0 && errno != EINVAL) status = PosixError(errno, "write the directory to disk (fsync)", dir);
    close(fd);
    return status;
  }

  absl::Status CreateDir(const std::string& dir) override {
    return mkdir(dir.c_str(), 0777) == 0 ? absl::OkStatus() : PosixError(errno, "create the directory", dir);
  }

  absl::Status DeleteFile(const std::string& path) override {
    return unlink(path.c_str()) == 0 ? absl::OkStatus() : PosixError(errno, "delete", path);
  }

  absl::Status DeleteDir(const std::string& dir) override {
    return rmdir(dir.c_str()) == 0 ? absl::OkStatus() : PosixError(errno, "delete the directory", dir);
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
    if (stat(path.c_str(), &info) != 0) return PosixError(errno, "look at", path);
    return FileInfo{.is_directory = S_ISDIR(info.st_mode), .is_regular = S_ISREG(info.st_mode), .size = info.st_size};
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
  bool ProcessIsAlive(int process_id) override {
    return process_id > 0 && (kill(process_id, 0) == 0 || errno == EPERM);
  }

 private:
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
