// Reads data files, plain or compressed as a whole, at positions of the uncompressed data.
#ifndef TANDEM_DATA_FILES_INPUT_FILE_H_
#define TANDEM_DATA_FILES_INPUT_FILE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tandem/base/api.h"
#include "tandem/data/files/compression.h"
#include "tandem/data/files/inflate_stream.h"
#include "tandem/data/files/regular_file.h"

namespace TANDEM_API tandem {

// A regular file, inflated if `compression` says so. Members of a gzip file are joined. Unlike GzipFile
// (data/gzip_file.h) it never guesses the format, bytes after the compressed data are an error unless they are zeros,
// and damage is reported only when all data before it has been read. Thread-compatible.
class InputFile {
 public:
  // Opens nothing yet.
  InputFile(std::string path, Compression compression);

  // Errors of the system are those of PosixError. InvalidArgument when it is not a regular file.
  absl::Status Open();

  // Reads up to `bytes`; fewer only at the end of the data and before damage. After damage, the next call returns
  // DataLoss with the path and the offset where the compressed data is damaged or cut short. A checksum is compared
  // when a read reaches beyond the last byte that it covers. How much data can be read does not depend on the sizes of
  // the reads.
  absl::StatusOr<int64_t> Read(void* to, int64_t bytes);
  // Moves to `offset` >= 0, which may be the end. A compressed file is inflated up to there; to move backwards, from
  // its start. DataLoss when the data ends before `offset`.
  absl::Status Seek(int64_t offset);

  // Returns DataLoss: "path: at byte <offset>: what". For compressed data it says "byte <offset> of the uncompressed
  // data".
  absl::Status Damaged(int64_t offset, absl::string_view what) const;

  const std::string& path() const { return file_.path(); }
  Compression compression() const { return compression_; }
  // Offset of the next byte in the uncompressed data.
  int64_t offset() const { return offset_; }
  // An upper bound on the number of bytes that follow.
  int64_t max_remaining() const;

 private:
  RegularFile file_;
  const Compression compression_;
  int64_t offset_ = 0;
  std::unique_ptr<InflateStream> inflate_;  // null for a plain file
};

}  // namespace tandem

#endif  // TANDEM_DATA_FILES_INPUT_FILE_H_
