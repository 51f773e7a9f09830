#include "estimator/checkpoint/file_checksum.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/crc32c.h"
#include "base/status_macros.h"

namespace tandem {
namespace {

// Returns the file's checksum; reads in pieces, so a large file takes no memory.
absl::StatusOr<uint32_t> FileCrc32c(const RandomAccessFile& file) {
  std::string buffer(std::min<int64_t>(file.size(), 1 << 20), '\0');
  uint32_t crc = 0;
  for (int64_t offset = 0; offset < file.size();) {
    size_t n = std::min<int64_t>(buffer.size(), file.size() - offset);
    TD_RETURN_IF_ERROR(file.ReadAt(offset, n, buffer.data()));
    crc = ExtendCrc32c(crc, {buffer.data(), n});
    offset += n;
  }
  return crc;
}

}  // namespace

std::string HexCrc32c(uint32_t crc) { return absl::StrFormat("%08x", crc); }

Manifest::File ChecksumOf(absl::Span<const absl::string_view> pieces) {
  Manifest::File file;
  for (absl::string_view piece : pieces) {
    file.size += piece.size();
    file.crc32c = ExtendCrc32c(file.crc32c, piece);
  }
  return file;
}

absl::StatusOr<std::unique_ptr<RandomAccessFile>> OpenListedFile(Env* env, const std::string& path) {
  auto file = env->OpenForRead(path);
  if (absl::IsFailedPrecondition(file.status())) return absl::DataLossError(file.status().message());
  return file;
}

absl::Status VerifyFile(Env* env, const std::string& path, const Manifest::File& expected, absl::string_view list) {
  TD_ASSIGN_OR_RETURN(std::unique_ptr<RandomAccessFile> file, OpenListedFile(env, path));
  if (file->size() != expected.size) {
    return absl::DataLossError(absl::StrCat(path, ": has ", file->size(), " bytes, ", list, " says ", expected.size));
  }
  TD_ASSIGN_OR_RETURN(uint32_t crc, FileCrc32c(*file));
  if (crc == expected.crc32c) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat(path, ": its bytes have changed: their CRC-32C is ", HexCrc32c(crc), ", ",
                                          list, " says ", HexCrc32c(expected.crc32c)));
}

}  // namespace tandem
