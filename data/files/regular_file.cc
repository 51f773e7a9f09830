#include "data/files/regular_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/posix_error.h"

namespace tandem {

RegularFile::RegularFile(std::string path) : path_(std::move(path)) {}

RegularFile::~RegularFile() {
  if (fd_ >= 0) close(fd_);
}

absl::Status RegularFile::Open() {
  // With O_NONBLOCK, opening a FIFO without a writer does not block; it is rejected below.
  fd_ = RetryInterrupted([&] { return open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK); });
  struct stat info;
  if (fd_ < 0 || fstat(fd_, &info) != 0) return PosixError(errno, "open", path_);
  if (!S_ISREG(info.st_mode)) {
    return absl::InvalidArgumentError(absl::StrCat(path_, ": cannot read: it is not a regular file"));
  }
  size_ = info.st_size;
  return absl::OkStatus();
}

absl::StatusOr<int64_t> RegularFile::ReadAt(int64_t offset, void* to, int64_t bytes) const {
  int64_t done = 0;
  while (done < bytes) {
    const ssize_t n =
        RetryInterrupted([&] { return pread(fd_, static_cast<uint8_t*>(to) + done, bytes - done, offset + done); });
    if (n < 0) return PosixError(errno, "read", path_);
    if (n == 0) break;
    done += n;
  }
  return done;
}

}  // namespace tandem
