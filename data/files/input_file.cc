#include "data/files/input_file.h"

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

const char* InflateError(int code) {
  switch (code) {
    case ISAL_INVALID_BLOCK:
      return "invalid block";
    case ISAL_INVALID_SYMBOL:
      return "invalid symbol";
    case ISAL_INVALID_LOOKBACK:
      return "invalid distance";
    case ISAL_INVALID_WRAPPER:
      return "invalid header: the file is not compressed so";
    case ISAL_UNSUPPORTED_METHOD:
      return "unknown compression method";
    case ISAL_INCORRECT_CHECKSUM:
      return "incorrect checksum or length";
    case ISAL_NEED_DICT:
      return "it needs a dictionary";
  }
  return "damaged data";
}

}  // namespace

InputFile::InputFile(std::string path, Compression compression) : path_(std::move(path)), compression_(compression) {}

InputFile::~InputFile() {
  if (fd_ >= 0) close(fd_);
}

absl::Status InputFile::Open() {
  // O_NONBLOCK: a FIFO without a writer is refused rather than waited for.
  fd_ = RetryInterrupted([&] { return open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK); });
  struct stat info;
  if (fd_ < 0 || fstat(fd_, &info) != 0) return PosixError(errno, "open", path_);
  if (!S_ISREG(info.st_mode)) {
    return absl::InvalidArgumentError(absl::StrCat(path_, ": cannot read: it is not a regular file"));
  }
  file_bytes_ = info.st_size;
  if (compression_ == Compression::kNone) return absl::OkStatus();
  chunk_.resize(kFileChunk);
  inflate_ = std::make_unique<inflate_state>();
  isal_inflate_init(inflate_.get());
  StartMember();
  return absl::OkStatus();
}

void InputFile::StartMember() {
  isal_inflate_reset(inflate_.get());
  // Header, checksum and length are ISA-L's to check.
  inflate_->crc_flag = compression_ == Compression::kGzip ? ISAL_GZIP : ISAL_ZLIB;
}

absl::StatusOr<int64_t> InputFile::Read(void* to, int64_t bytes) {
  uint8_t* const out = static_cast<uint8_t*>(to);
  TD_ASSIGN_OR_RETURN(const int64_t done, inflate_ ? ReadCompressed(out, bytes) : ReadPlain(out, bytes));
  offset_ += done;
  return done;
}

absl::StatusOr<int64_t> InputFile::ReadPlain(uint8_t* to, int64_t bytes) {
  int64_t done = 0;
  while (done < bytes) {
    const ssize_t n = pread(fd_, to + done, bytes - done, offset_ + done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return PosixError(errno, "read", path_);
    if (n == 0) break;
    done += n;
  }
  return done;
}

absl::Status InputFile::Fill() {
  std::memmove(chunk_.data(), chunk_.data() + begin_, end_ - begin_);
  end_ -= std::exchange(begin_, 0);
  while (end_ < chunk_.size()) {
    const ssize_t n = pread(fd_, chunk_.data() + end_, chunk_.size() - end_, file_offset_);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return PosixError(errno, "read", path_);
    if (n == 0) break;
    end_ += n;
    file_offset_ += n;
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> InputFile::NextMember() {
  if (end_ - begin_ < 2) TD_RETURN_IF_ERROR(Fill());
  const uint8_t* next = chunk_.data() + begin_;
  if (compression_ == Compression::kGzip && end_ - begin_ >= 2 && next[0] == 0x1f && next[1] == 0x8b) {
    StartMember();
    return true;
  }
  while (begin_ < end_) {
    if (std::any_of(chunk_.begin() + begin_, chunk_.begin() + end_, [](uint8_t b) { return b != 0; })) {
      return Damaged(offset_,
                     absl::StrCat("behind the compressed data there is something that is not ", Name(compression_)));
    }
    begin_ = end_;
    TD_RETURN_IF_ERROR(Fill());
  }
  return false;
}

absl::StatusOr<int64_t> InputFile::ReadCompressed(uint8_t* to, int64_t bytes) {
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
    if (code != ISAL_DECOMP_OK && code != ISAL_END_INPUT) {
      return Damaged(offset_ + done, absl::StrCat(Name(compression_), ": ", InflateError(code)));
    }
    if (given == 0 && state->avail_out == wanted && state->block_state != ISAL_BLOCK_FINISH) {
      return Damaged(offset_ + done, "the compressed data ends too early");
    }
  }
  return done;
}

absl::Status InputFile::Seek(int64_t offset) {
  if (!inflate_) {
    if (offset > file_bytes_) return Damaged(offset, absl::StrCat("the file has only ", file_bytes_, " bytes"));
    offset_ = offset;
    return absl::OkStatus();
  }
  if (offset < offset_) {
    offset_ = file_offset_ = 0;
    begin_ = end_ = 0;
    StartMember();
  }
  std::vector<uint8_t> skipped(std::min<int64_t>(offset - offset_, kFileChunk));
  while (offset_ < offset) {
    TD_ASSIGN_OR_RETURN(const int64_t n, Read(skipped.data(), std::min<int64_t>(offset - offset_, skipped.size())));
    if (n == 0) return Damaged(offset, absl::StrCat("the data has only ", offset_, " bytes"));
  }
  return absl::OkStatus();
}

absl::Status InputFile::Damaged(int64_t offset, absl::string_view what) const {
  return absl::DataLossError(absl::StrCat(
      path_, ": at byte ", offset, compression_ != Compression::kNone ? " of the uncompressed data: " : ": ", what));
}

int64_t InputFile::max_remaining() const {
  if (!inflate_) return std::max<int64_t>(file_bytes_ - offset_, 0);
  if (file_bytes_ > INT64_MAX / kMaxExpansion) return INT64_MAX;
  return std::max<int64_t>(file_bytes_ * kMaxExpansion - offset_, 0);
}

}  // namespace tandem
