// Reads text files line by line, and CSV files record by record.
#ifndef TANDEM_DATA_FILES_LINE_READER_H_
#define TANDEM_DATA_FILES_LINE_READER_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "data/files/block_buffer.h"
#include "data/files/compression.h"
#include "data/files/input_file.h"

namespace tandem {

struct LineOptions {
  Compression compression = Compression::kNone;
  // Bytes that are read from the file at once: 1 to 1 GiB.
  int64_t buffer_size = 256 << 10;
  // A longer line is an error, even if there is memory for it.
  int64_t max_line_bytes = 64 << 20;
  // If true, a line feed between double quotes does not end a line. A quote opens at the start of the line or after
  // `delimiter`; two quotes inside stand for one (RFC 4180).
  bool quoted = false;
  char delimiter = ',';
};

// InvalidArgument for options out of their range.
absl::Status CheckLineOptions(const LineOptions& options);

// One line, without its end: "\n" or "\r\n".
struct Line {
  std::shared_ptr<const uint8_t[]> block;  // owns `bytes`
  absl::string_view bytes;
  int64_t offset = 0;  // offset in the uncompressed data
  // The line's number, counted from 0. A record with line feeds has the number of its first line.
  int64_t number = 0;
};

// Thread-compatible. Every error names file and line.
class LineReader {
 public:
  static absl::StatusOr<std::unique_ptr<LineReader>> Open(const std::string& path, const LineOptions& options = {});

  // Reads the next line, or sets *end after the last. The last line need not end with a line feed, and a byte order
  // mark is not part of the first: base/text_file.h. DataLoss for the mark of another encoding, a line that is too
  // long, or an unclosed quote; nothing can be read after such a place.
  absl::Status Next(Line* line, bool* end);
  // Moves to the line that begins at `offset`; `number` is its number.
  absl::Status Seek(int64_t offset, int64_t number);
  // The offset and the number of the next line.
  int64_t offset() const { return buffer_.offset(); }
  int64_t number() const { return number_; }

 private:
  LineReader(const std::string& path, const LineOptions& options)
      : options_(options), file_(path, options.compression), buffer_(&file_, options.buffer_size) {}
  // Returns DataLoss: "path: line 5: what".
  absl::Status Damaged(absl::string_view what) const;
  // To be called at the start of the file.
  absl::Status SkipByteOrderMark();

  const LineOptions options_;
  InputFile file_;
  BlockBuffer buffer_;
  int64_t number_ = 0;
};

}  // namespace tandem

#endif  // TANDEM_DATA_FILES_LINE_READER_H_
