#include "data/file_list.h"

#include <algorithm>
#include <memory>

#include "absl/strings/str_cat.h"
#include "base/env.h"
#include "base/fingerprint.h"
#include "base/status_macros.h"

namespace tandem::data_internal {
namespace {

// A fingerprint reads at most this many files, and at most this many bytes at each end of a file.
constexpr size_t kFingerprintFiles = 64;
constexpr int64_t kFingerprintBytes = 4096;

}  // namespace

absl::Status CheckFiles(const std::vector<std::string>& files, std::vector<int64_t>* sizes) {
  if (files.empty()) return absl::InvalidArgumentError("there is no file; give at least one");
  for (const std::string& file : files) {
    const absl::StatusOr<FileInfo> info = Env::Default()->Stat(file);
    if (absl::IsNotFound(info.status())) {
      return absl::NotFoundError(absl::StrCat(
          file, ": there is no such file; give the path of one that is there, absolute or from the working directory"));
    }
    TD_RETURN_IF_ERROR(info.status());
    if (!info->is_regular) {
      return absl::InvalidArgumentError(absl::StrCat(
          file, ": it is ", info->is_directory ? "a directory; give its files (ListFiles)" : "not a regular file"));
    }
    sizes->push_back(info->size);
  }
  return absl::OkStatus();
}

std::string FileListSignature(const std::vector<std::string>& files) {
  uint64_t names = 0;
  for (const std::string& file : files) names = Fingerprint64(BaseName(file), names);
  return absl::StrCat(files.size(), files.size() == 1 ? " file " : " files ", absl::Hex(names, absl::kZeroPad16));
}

std::string FileListFingerprint(const std::vector<std::string>& files) {
  uint64_t checksum = 0;
  for (size_t i = 0; i < files.size(); ++i) {
    if (i >= kFingerprintFiles) {
      absl::StatusOr<int64_t> size = Env::Default()->FileSize(files[i]);
      if (!size.ok()) return "";
      checksum = Fingerprint64(absl::StrCat(*size), checksum);
      continue;
    }
    absl::StatusOr<std::unique_ptr<RandomAccessFile>> file = Env::Default()->OpenForRead(files[i]);
    if (!file.ok()) return "";
    const int64_t size = (*file)->size(), piece = std::min(size, kFingerprintBytes);
    std::string bytes(2 * piece, '\0');
    if (!(*file)->ReadAt(0, piece, bytes.data()).ok() ||
        !(*file)->ReadAt(size - piece, piece, bytes.data() + piece).ok()) {
      return "";
    }
    checksum = Fingerprint64(bytes, Fingerprint64(absl::StrCat(size), checksum));
  }
  return absl::StrCat("checksum ", absl::Hex(checksum, absl::kZeroPad16));
}

}  // namespace tandem::data_internal
