// Reads files that may be compressed with gzip, from front to back.
#ifndef TANDEM_DATA_GZIP_FILE_H_
#define TANDEM_DATA_GZIP_FILE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "data/files/inflate_stream.h"
#include "data/files/regular_file.h"

namespace tandem {

// A regular file, inflated if it begins with the magic bytes of gzip, otherwise read as it is. Members of a gzip file
// are joined; bytes after the last one are ignored, as zlib does. Thread-compatible.
class GzipFile {
 public:
  explicit GzipFile(std::string path);

  // Errors of the system are those of PosixError; input/output errors such as EIO carry the process's exit code 74.
  // InvalidArgument when it is not a regular file.
  absl::Status Open();

  // Reads up to `bytes`; less only at the end of the data. DataLoss with path and offset when the compressed data is
  // damaged or cut short; a member's checksum is compared when a read reaches beyond its last byte.
  absl::StatusOr<int64_t> Read(void* to, int64_t bytes);
  // Moves back to the first byte.
  void Rewind();

  // Returns DataLoss for damage `ahead` bytes after the last byte that Read has returned; `what` describes it.
  absl::Status Damaged(int64_t ahead, absl::string_view what) const;

  // An upper bound for the size of the uncompressed data.
  int64_t max_bytes() const;
  bool compressed() const { return inflate_ != nullptr; }
  // Offset of the next byte in the uncompressed data.
  int64_t offset() const { return offset_; }

 private:
  RegularFile file_;
  int64_t offset_ = 0;
  std::unique_ptr<InflateStream> inflate_;  // null for a plain file
};

}  // namespace tandem

#endif  // TANDEM_DATA_GZIP_FILE_H_
