#include "data/gzip_file.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace tandem {

GzipFile::GzipFile(std::string path) : file_(std::move(path)) {}

absl::Status GzipFile::Open() {
  TD_RETURN_IF_ERROR(file_.Open());
  uint8_t magic[2];
  TD_ASSIGN_OR_RETURN(const int64_t n, file_.ReadAt(0, magic, sizeof magic));
  if (HasGzipMagic(magic, n)) {
    inflate_ = std::make_unique<InflateStream>(&file_, Compression::kGzip, BehindCompressed::kAnything);
  }
  return absl::OkStatus();
}

absl::StatusOr<int64_t> GzipFile::Read(void* to, int64_t bytes) {
  TD_ASSIGN_OR_RETURN(const int64_t done, compressed() ? inflate_->Read(to, bytes) : file_.ReadAt(offset_, to, bytes));
  if (compressed() && !inflate_->damage().empty()) return Damaged(done, inflate_->damage());
  offset_ += done;
  return done;
}

void GzipFile::Rewind() {
  offset_ = 0;
  if (compressed()) inflate_->Rewind();
}

absl::Status GzipFile::Damaged(int64_t ahead, absl::string_view what) const {
  return absl::DataLossError(absl::StrCat(file_.path(), ": at byte ", offset_ + ahead, ": ", what));
}

int64_t GzipFile::max_bytes() const { return compressed() ? MaxInflatedBytes(file_.size()) : file_.size(); }

}  // namespace tandem
