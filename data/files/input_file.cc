#include "data/files/input_file.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace tandem {
namespace {

constexpr int64_t kSkipBytes = 1 << 18;

}  // namespace

InputFile::InputFile(std::string path, Compression compression) : file_(std::move(path)), compression_(compression) {}

absl::Status InputFile::Open() {
  TD_RETURN_IF_ERROR(file_.Open());
  if (compression_ != Compression::kNone) {
    inflate_ = std::make_unique<InflateStream>(&file_, compression_, BehindCompressed::kZeros);
  }
  return absl::OkStatus();
}

absl::StatusOr<int64_t> InputFile::Read(void* to, int64_t bytes) {
  TD_ASSIGN_OR_RETURN(const int64_t done, inflate_ ? inflate_->Read(to, bytes) : file_.ReadAt(offset_, to, bytes));
  if (done == 0 && inflate_ && !inflate_->damage().empty()) {
    return Damaged(offset_, absl::StrCat(inflate_->damage(),
                                         inflate_->is_other_format() ? ": the file is not compressed so" : ""));
  }
  offset_ += done;
  return done;
}

absl::Status InputFile::Seek(int64_t offset) {
  if (offset < 0) return absl::InvalidArgumentError(absl::StrCat(path(), ": cannot go to byte ", offset));
  if (!inflate_) {
    if (offset > file_.size()) return Damaged(offset, absl::StrCat("the file has only ", file_.size(), " bytes"));
    offset_ = offset;
    return absl::OkStatus();
  }
  if (offset < offset_) {
    offset_ = 0;
    inflate_->Rewind();
  }
  std::vector<uint8_t> skipped(std::min(offset - offset_, kSkipBytes));
  while (offset_ < offset) {
    TD_ASSIGN_OR_RETURN(const int64_t n, Read(skipped.data(), std::min<int64_t>(offset - offset_, skipped.size())));
    if (n == 0) return Damaged(offset, absl::StrCat("the data has only ", offset_, " bytes"));
  }
  return absl::OkStatus();
}

absl::Status InputFile::Damaged(int64_t offset, absl::string_view what) const {
  return absl::DataLossError(absl::StrCat(
      path(), ": at byte ", offset, compression_ != Compression::kNone ? " of the uncompressed data: " : ": ", what));
}

int64_t InputFile::max_remaining() const {
  return std::max<int64_t>((inflate_ ? MaxInflatedBytes(file_.size()) : file_.size()) - offset_, 0);
}

}  // namespace tandem
