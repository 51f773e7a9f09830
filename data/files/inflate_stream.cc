#include "data/files/inflate_stream.h"

#include <isa-l/igzip_lib.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace tandem {
namespace {

constexpr size_t kFileChunk = 1 << 18;  // small enough for the second-level cache of a core
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
      return "invalid header";
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

int64_t MaxInflatedBytes(int64_t bytes) {
  return bytes > INT64_MAX / kMaxExpansion ? INT64_MAX : bytes * kMaxExpansion;
}

bool HasGzipMagic(const uint8_t* bytes, int64_t size) { return size >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b; }

InflateStream::InflateStream(const RegularFile* file, Compression format, BehindCompressed behind)
    : file_(file),
      format_(format),
      behind_(behind),
      chunk_(kFileChunk),
      state_(std::make_unique<inflate_state>()),
      block_(kBlockBytes) {
  isal_inflate_init(state_.get());
  StartMember();
}

InflateStream::~InflateStream() = default;

void InflateStream::StartMember() {
  isal_inflate_reset(state_.get());
  // With these flags ISA-L itself checks the header, the checksum and the length.
  state_->crc_flag = format_ == Compression::kGzip ? ISAL_GZIP : ISAL_ZLIB;
}

void InflateStream::Rewind() {
  file_offset_ = 0;
  begin_ = end_ = 0;
  ready_ = {};
  damage_.clear();
  is_other_format_ = false;
  StartMember();
}

absl::Status InflateStream::Fill() {
  std::memmove(chunk_.data(), chunk_.data() + begin_, end_ - begin_);
  end_ -= std::exchange(begin_, 0);
  TD_ASSIGN_OR_RETURN(const int64_t n, file_->ReadAt(file_offset_, chunk_.data() + end_, chunk_.size() - end_));
  end_ += n;
  file_offset_ += n;
  return absl::OkStatus();
}

absl::StatusOr<bool> InflateStream::NextMember() {
  // The whole header of a member must be in chunk_, because ISA-L 2.30 loses its place if the input ends within a
  // header.
  if (end_ - begin_ < chunk_.size() / 4) TD_RETURN_IF_ERROR(Fill());
  if (format_ == Compression::kGzip && HasGzipMagic(chunk_.data() + begin_, end_ - begin_)) {
    StartMember();
    return true;
  }
  while (behind_ == BehindCompressed::kZeros && begin_ < end_) {
    if (std::any_of(chunk_.begin() + begin_, chunk_.begin() + end_, [](uint8_t b) { return b != 0; })) {
      damage_ = absl::StrCat("behind the compressed data there is something that is not ", Name(format_));
      return false;
    }
    begin_ = end_;
    TD_RETURN_IF_ERROR(Fill());
  }
  return false;
}

int64_t InflateStream::Inflate(uint8_t* to, int64_t bytes) {
  const size_t given = end_ - begin_;
  state_->next_in = chunk_.data() + begin_;
  state_->avail_in = static_cast<uint32_t>(given);
  state_->next_out = to;
  state_->avail_out = static_cast<uint32_t>(bytes);
  const int code = isal_inflate(state_.get());
  begin_ = end_ - state_->avail_in;
  const int64_t made = bytes - state_->avail_out;
  if (code != ISAL_DECOMP_OK && code != ISAL_END_INPUT) {
    damage_ = absl::StrCat(Name(format_), ": ", InflateError(code));
    is_other_format_ = code == ISAL_INVALID_WRAPPER;
  } else if (given == 0 && made == 0 && state_->block_state != ISAL_BLOCK_FINISH) {
    damage_ = "the compressed data ends too early";
  }
  return made;
}

absl::StatusOr<int64_t> InflateStream::NextBlock(uint8_t* to) {
  int64_t done = 0;
  while (done < kBlockBytes && damage_.empty()) {
    if (state_->block_state == ISAL_BLOCK_FINISH) {
      TD_ASSIGN_OR_RETURN(const bool more, NextMember());
      if (!more) break;
    }
    if (begin_ == end_) TD_RETURN_IF_ERROR(Fill());
    done += Inflate(to + done, kBlockBytes - done);
  }
  return done;
}

absl::StatusOr<int64_t> InflateStream::Read(void* to, int64_t bytes) {
  uint8_t* const out = static_cast<uint8_t*>(to);
  int64_t done = 0;
  while (done < bytes) {
    const bool in_place = ready_.empty() && bytes - done >= kBlockBytes;
    if (ready_.empty()) {
      TD_ASSIGN_OR_RETURN(const int64_t n, NextBlock(in_place ? out + done : block_.data()));
      if (n == 0) break;
      if (in_place) {
        done += n;
        continue;
      }
      ready_ = absl::MakeConstSpan(block_.data(), n);
    }
    const size_t n = std::min<size_t>(bytes - done, ready_.size());
    std::memcpy(out + done, ready_.data(), n);
    ready_.remove_prefix(n);
    done += n;
  }
  return done;
}

}  // namespace tandem
