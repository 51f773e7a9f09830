// Files of data, plain or compressed as a whole, read at positions of the uncompressed data.
#ifndef TANDEM_DATA_FILES_INPUT_FILE_H_
#define TANDEM_DATA_FILES_INPUT_FILE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "data/files/compression.h"

struct inflate_state;

namespace tandem {

// A regular file, which is inflated by ISA-L when it is said to be compressed. Members of a gzip file are joined.
// Unlike GzipFile (data/gzip_file.h) it never guesses, and what follows the compressed data is an error unless it is
// zeros. Thread-compatible.
class InputFile {
 public:
  InputFile(std::string path, Compression compression);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  // The errors of reading are those of PosixError. InvalidArgument when it is not a regular file.
  absl::Status Open();

  // Reads up to `bytes`; less only at the end of the data. DataLoss with path and offset when the compressed data is
  // damaged or cut short; a checksum is compared when a read reaches beyond the last byte that it covers.
  absl::StatusOr<int64_t> Read(void* to, int64_t bytes);
  // Goes to `offset` >= 0, which may be the end. Compressed data is read up to there, from the start if it lies behind.
  // DataLoss when the data ends before.
  absl::Status Seek(int64_t offset);

  // DataLoss: "path: at byte <offset>: what". For compressed data it says "byte <offset> of the uncompressed data".
  absl::Status Damaged(int64_t offset, absl::string_view what) const;

  const std::string& path() const { return path_; }
  Compression compression() const { return compression_; }
  // Of the next byte in the uncompressed data.
  int64_t offset() const { return offset_; }
  // The most bytes that can follow.
  int64_t max_remaining() const;

 private:
  absl::StatusOr<int64_t> ReadPlain(uint8_t* to, int64_t bytes);
  absl::StatusOr<int64_t> ReadCompressed(uint8_t* to, int64_t bytes);
  // Appends what the file has next to the unread part of `chunk_`; nothing at its end.
  absl::Status Fill();
  void StartMember();
  // Behind a member: goes to the next one; false when there is none.
  absl::StatusOr<bool> NextMember();

  const std::string path_;
  const Compression compression_;
  int fd_ = -1;
  int64_t file_bytes_ = 0;
  int64_t offset_ = 0;
  int64_t file_offset_ = 0;     // of what Fill reads next
  std::vector<uint8_t> chunk_;  // of a compressed file: [begin_, end_) is still to be used
  size_t begin_ = 0, end_ = 0;
  std::unique_ptr<inflate_state> inflate_;
};

}  // namespace tandem

#endif  // TANDEM_DATA_FILES_INPUT_FILE_H_
