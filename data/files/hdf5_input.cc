#include "data/files/hdf5_input.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/printable.h"
#include "base/status_macros.h"

namespace tandem::hdf5 {
namespace {

// The budget is this many times the file's size. A well-formed file needs about twice its size: its structure is read
// once, and its strings are kept once more.
constexpr uint64_t kTimesSize = 4;
constexpr uint64_t kSlack = 1 << 16, kMost = kMaxReadFile;
// Each structure that is read costs this many bytes of the budget in addition, so that reading empty structures is not
// free.
constexpr uint64_t kEach = 8;

}  // namespace

Input::Input(std::shared_ptr<const RandomAccessFile> file)
    : file_(std::move(file)), budget_(std::min(size(), kMost / kTimesSize) * kTimesSize + kSlack) {}

absl::Status Input::CheckRange(uint64_t offset, uint64_t size, absl::string_view what) const {
  if (offset <= this->size() && size <= this->size() - offset) return absl::OkStatus();
  return Damaged(offset, absl::StrCat(what, " of ", size, " bytes lies outside of the file, which has ", this->size()));
}

absl::Status Input::Spend(uint64_t offset, uint64_t bytes) {
  if (bytes > budget_ || budget_ - bytes < kEach) {
    return Damaged(offset, "the file's structure leads over the same bytes too often");
  }
  budget_ -= bytes + kEach;
  return absl::OkStatus();
}

absl::StatusOr<std::string> Input::Take(uint64_t offset, uint64_t size, absl::string_view what) {
  TD_RETURN_IF_ERROR(CheckRange(offset, size, what));
  TD_RETURN_IF_ERROR(Spend(offset, size));
  std::string bytes(size, '\0');
  TD_RETURN_IF_ERROR(file_->ReadAt(static_cast<int64_t>(offset), size, bytes.data()));
  return bytes;
}

std::string Input::where() const { return absl::StrCat(file_->path(), ": ", PrintableLine(path_)); }

absl::Status Input::Damaged(uint64_t offset, absl::string_view what) const {
  return absl::DataLossError(absl::StrCat(file_->path(), ": offset ", offset, ": ", PrintableLine(path_), ": ", what,
                                          ": the file is damaged, or was not written to its end; take another copy"));
}

absl::Status Input::Refused(uint64_t offset, absl::string_view what, absl::string_view remedy) const {
  return absl::UnimplementedError(
      absl::StrCat(file_->path(), ": offset ", offset, ": ", PrintableLine(path_), ": ", what, "; ", remedy));
}

}  // namespace tandem::hdf5
