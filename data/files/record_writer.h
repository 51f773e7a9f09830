// Writes TFRecord files.
#ifndef TANDEM_DATA_FILES_RECORD_WRITER_H_
#define TANDEM_DATA_FILES_RECORD_WRITER_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tandem/base/api.h"
#include "tandem/base/env.h"
#include "tandem/data/files/compression.h"

namespace TANDEM_API tandem {

struct RecordWriterOptions {
  Compression compression = Compression::kNone;
  // Compression level: 1 (fast) to 9 (small), -1 for zlib's default.
  int compression_level = -1;
};

// Call Close: a file whose writer was destroyed without it lacks its last records. Thread-compatible.
class RecordWriter {
 public:
  // Creates the file; an existing one is truncated. InvalidArgument for a level out of its range, and the errors of
  // Env::CreateFile.
  static absl::StatusOr<std::unique_ptr<RecordWriter>> Create(const std::string& path,
                                                              const RecordWriterOptions& options = {},
                                                              Env* env = Env::Default());
  // Logs an error if the writer was not closed and no call failed.
  ~RecordWriter();
  RecordWriter(const RecordWriter&) = delete;
  RecordWriter& operator=(const RecordWriter&) = delete;

  // An error, such as a full disk, names the file; all further calls return it again.
  absl::Status Write(absl::string_view bytes);
  // Returns when all records are on the disk. Nothing can be written afterwards.
  absl::Status Close();

  // The number of records written so far.
  int64_t records() const { return records_; }

 private:
  struct Deflate;
  RecordWriter(std::string path, std::unique_ptr<WritableFile> file);
  // Collects `bytes`, compressed if asked for, and writes them to the file in large pieces.
  absl::Status Append(absl::string_view bytes);
  absl::Status Compress(absl::string_view bytes, bool finish);
  absl::Status Flush();

  const std::string path_;
  std::unique_ptr<WritableFile> file_;  // null once closed
  std::unique_ptr<Deflate> deflate_;    // null when not compressed
  std::string buffer_;                  // bytes not yet written
  int64_t records_ = 0;
  absl::Status status_;
};

}  // namespace tandem

#endif  // TANDEM_DATA_FILES_RECORD_WRITER_H_
