#include "data/gzip_file.h"

#include <fcntl.h>
#include <isa-l/igzip_lib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/posix_error.h"
#include "base/status_macros.h"

namespace tandem {
namespace {

constexpr size_t kFileChunk = 1 << 18;      // stays in the second-level cache
constexpr int64_t kInflateChunk = 1 << 20;  // ISA-L counts in 32 bits
// Deflate cannot expand by more than 1032:1.
constexpr int64_t kMaxExpansion = 1032;

bool HasMagic(const uint8_t* bytes, size_t size) { return size >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b; }

const char* InflateError(int code) {
  switch (code) {
    case ISAL_INVALID_BLOCK:
      return "invalid block";
    case ISAL_INVALID_SYMBOL:
      return "invalid symbol";
    case ISAL_INVALID_LOOKBACK:
      return "invalid distance";
    case ISAL_INVALID_WRAPPER:
      return "invalid header";
    case ISAL_UNSUPPORTED_METHOD:
      return "unknown compression method";
    case ISAL_INCORRECT_CHECKSUM:
      return "incorrect checksum or length";
  }
  return "damaged data";
}

void StartMember(inflate_state* state) {
  isal_inflate_reset(state);
  state->crc_flag = ISAL_GZIP;  // header, checksum and length are ISA-L's to check
}

}  // namespace

GzipFile::GzipFile(std::string path) : path_(std::move(path)) {}

GzipFile::~GzipFile() {
  if (fd_ >= 0) close(fd_);
}

absl::Status GzipFile::Open() {
  fd_ = RetryInterrupted([&] { return open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK); });
  struct stat info;
  if (fd_ < 0 || fstat(fd_, &info) != 0) return PosixError(errno, "open", path_);
  if (!S_ISREG(info.st_mode)) {
    return absl::InvalidArgumentError(absl::StrCat(path_, ": cannot read: it is not a regular file"));
  }
  file_bytes_ = info.st_size;
  chunk_.resize(kFileChunk);
  TD_RETURN_IF_ERROR(Fill());
  if (HasMagic(chunk_.data(), end_)) {
    inflate_ = std::make_unique<inflate_state>();
    isal_inflate_init(inflate_.get());
    StartMember(inflate_.get());
  }
  return absl::OkStatus();
}

absl::Status GzipFile::Fill() {
  std::memmove(chunk_.data(), chunk_.data() + begin_, end_ - begin_);
  end_ -= std::exchange(begin_, 0);
  while (end_ < chunk_.size()) {
    const ssize_t n = read(fd_, chunk_.data() + end_, chunk_.size() - end_);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return PosixError(errno, "read", path_);
    if (n == 0) break;
    end_ += n;
  }
  return absl::OkStatus();
}

absl::StatusOr<int64_t> GzipFile::Read(void* to, int64_t bytes) {
  uint8_t* const out = static_cast<uint8_t*>(to);
  TD_ASSIGN_OR_RETURN(const int64_t done, compressed() ? ReadCompressed(out, bytes) : ReadPlain(out, bytes));
  offset_ += done;
  return done;
}

absl::StatusOr<int64_t> GzipFile::ReadPlain(uint8_t* to, int64_t bytes) {
  int64_t done = 0;
  while (done < bytes) {
    if (begin_ == end_) TD_RETURN_IF_ERROR(Fill());
    const int64_t n = std::min<int64_t>(bytes - done, end_ - begin_);
    if (n == 0) break;
    std::memcpy(to + done, chunk_.data() + begin_, n);
    begin_ += n;
    done += n;
  }
  return done;
}

absl::StatusOr<bool> GzipFile::NextMember() {
  if (end_ - begin_ < 2) TD_RETURN_IF_ERROR(Fill());
  if (!HasMagic(chunk_.data() + begin_, end_ - begin_)) return false;
  StartMember(inflate_.get());
  return true;
}

absl::StatusOr<int64_t> GzipFile::ReadCompressed(uint8_t* to, int64_t bytes) {
  inflate_state* const state = inflate_.get();
  int64_t done = 0;
  while (done < bytes) {
    if (state->block_state == ISAL_BLOCK_FINISH) {
      TD_ASSIGN_OR_RETURN(const bool more, NextMember());
      if (!more) break;
    }
    if (begin_ == end_) TD_RETURN_IF_ERROR(Fill());
    const uint32_t wanted = static_cast<uint32_t>(std::min(bytes - done, kInflateChunk));
    const size_t given = end_ - begin_;
    state->next_in = chunk_.data() + begin_;
    state->avail_in = static_cast<uint32_t>(given);
    state->next_out = to + done;
    state->avail_out = wanted;
    const int code = isal_inflate(state);
    begin_ = end_ - state->avail_in;
    done += wanted - state->avail_out;
    if (code < 0) return Damaged(done, absl::StrCat("gzip: ", InflateError(code)));
    if (given == 0 && state->avail_out == wanted && state->block_state != ISAL_BLOCK_FINISH) {
      return Damaged(done, "the compressed data ends too early");
    }
  }
  return done;
}

absl::Status GzipFile::Rewind() {
  if (lseek(fd_, 0, SEEK_SET) != 0) return PosixError(errno, "read", path_);
  offset_ = 0;
  begin_ = end_ = 0;
  if (compressed()) StartMember(inflate_.get());
  return absl::OkStatus();
}

absl::Status GzipFile::Damaged(int64_t ahead, absl::string_view what) const {
  return absl::DataLossError(absl::StrCat(path_, ": at byte ", offset_ + ahead, ": ", what));
}

int64_t GzipFile::max_bytes() const { return compressed() ? file_bytes_ * kMaxExpansion : file_bytes_; }

}  // namespace tandem
