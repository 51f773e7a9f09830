// Reads TFRecord files.
//
//   TD_ASSIGN_OR_RETURN(std::unique_ptr<RecordReader> reader, RecordReader::Open("train.tfrecord"));
//   for (;;) {
//     Record record;
//     bool end = false;
//     TD_RETURN_IF_ERROR(reader->Next(&record, &end));
//     if (end) break;
//     TD_RETURN_IF_ERROR(reader->CheckBytes(record));
//     Use(record.bytes);
//   }
#ifndef TANDEM_DATA_FILES_RECORD_READER_H_
#define TANDEM_DATA_FILES_RECORD_READER_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tandem/base/api.h"
#include "tandem/data/files/block_buffer.h"
#include "tandem/data/files/compression.h"
#include "tandem/data/files/input_file.h"

namespace TANDEM_API tandem {

struct RecordOptions {
  Compression compression = Compression::kNone;
  // Bytes that are read from the file at once: 1 to 1 GiB.
  int64_t buffer_size = 256 << 10;
  // A longer record is an error, even if there is memory for it.
  int64_t max_record_bytes = 256 << 20;
};

// One record of a file.
struct Record {
  std::shared_ptr<const uint8_t[]> block;  // owns `bytes`
  absl::string_view bytes;
  uint32_t masked_crc = 0;  // the file's checksum of `bytes`
  int64_t offset = 0;       // offset of the record's header in the uncompressed data
};

// InvalidArgument for options out of their range.
absl::Status CheckRecordOptions(const RecordOptions& options);

// Thread-compatible. Every error names file and offset; offsets are those of the uncompressed data.
class RecordReader {
 public:
  // InvalidArgument for options out of their range, otherwise the errors of InputFile::Open.
  static absl::StatusOr<std::unique_ptr<RecordReader>> Open(const std::string& path, const RecordOptions& options = {});

  // Reads the next record, or sets *end after the last. DataLoss when the length's checksum is wrong, the record is
  // longer than the rest of the file or than max_record_bytes, or the file ends within it; nothing can be read after
  // such a place. Does not check the record's own bytes: CheckBytes does that, perhaps in another thread.
  absl::Status Next(Record* record, bool* end);
  // DataLoss if the bytes of `record`, a record of this file, do not match their checksum.
  absl::Status CheckBytes(const Record& record) const {
    return CheckRecord(record, file_.path(), options_.compression);
  }
  // As CheckBytes, but needs no reader, which may have been destroyed. `path` and `compression` are those of the file.
  static absl::Status CheckRecord(const Record& record, const std::string& path, Compression compression);

  // Moves to a record's offset, or to the end of the data. InvalidArgument for a negative offset, DataLoss for one
  // beyond the end.
  absl::Status Seek(int64_t offset) { return buffer_.Seek(offset); }
  // Offset of the next record.
  int64_t offset() const { return buffer_.offset(); }
  const std::string& path() const { return file_.path(); }

 private:
  RecordReader(const std::string& path, const RecordOptions& options)
      : options_(options), file_(path, options.compression), buffer_(&file_, options.buffer_size) {}
  // Returns DataLoss for a header whose length, or whose checksum of the length, is wrong.
  absl::Status BadLength(const uint8_t* header) const;

  const RecordOptions options_;
  InputFile file_;
  BlockBuffer buffer_;
};

}  // namespace tandem

#endif  // TANDEM_DATA_FILES_RECORD_READER_H_
