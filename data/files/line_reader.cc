#include "data/files/line_reader.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/text_file.h"

namespace tandem {
namespace {

constexpr int64_t kMaxLineBuffer = int64_t{1} << 30;

// Searches growing data for the line feed that ends a line, and skips line feeds within quotes.
class QuoteScanner {
 public:
  explicit QuoteScanner(char delimiter) : delimiter_(delimiter) {}

  // Scans on from the last scanned byte to `size`. Returns true when it finds the line feed, whose position is end().
  bool Scan(const uint8_t* bytes, int64_t size) {
    for (; at_ < size; ++at_) {
      const char c = static_cast<char>(bytes[at_]);
      if (in_quotes_) {
        // Two quotes stand for one: the first seems to close the quotes, and the second opens them again.
        if (c == '"') in_quotes_ = false, was_quoted_ = true;
        continue;
      }
      if (c == '\n') return true;
      if (c == '"' && (field_start_ || was_quoted_)) {
        in_quotes_ = true;
      }
      was_quoted_ = false;
      field_start_ = c == delimiter_;
    }
    return false;
  }
  int64_t end() const { return at_; }
  bool in_quotes() const { return in_quotes_; }

 private:
  const char delimiter_;
  int64_t at_ = 0;
  bool field_start_ = true;  // the next byte begins a field
  bool in_quotes_ = false;
  bool was_quoted_ = false;  // the last byte was a closing quote
};

}  // namespace

absl::Status CheckLineOptions(const LineOptions& options) {
  if (options.buffer_size < 1 || options.buffer_size > kMaxLineBuffer) {
    return absl::InvalidArgumentError(absl::StrCat("the buffer size of a text file must be between 1 and ",
                                                   kMaxLineBuffer, " bytes, got ", options.buffer_size));
  }
  if (options.max_line_bytes < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("the limit for the bytes of a line must be at least 1, got ", options.max_line_bytes));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<LineReader>> LineReader::Open(const std::string& path, const LineOptions& options) {
  TD_RETURN_IF_ERROR(CheckLineOptions(options));
  std::unique_ptr<LineReader> reader(new LineReader(path, options));
  TD_RETURN_IF_ERROR(reader->file_.Open());
  return reader;
}

absl::Status LineReader::Damaged(absl::string_view what) const {
  return absl::DataLossError(absl::StrCat(file_.path(), ": line ", number_ + 1, ": ", what));
}

absl::Status LineReader::Seek(int64_t offset, int64_t number) {
  number_ = number;
  return buffer_.Seek(offset);
}

absl::Status LineReader::SkipByteOrderMark() {
  TD_ASSIGN_OR_RETURN(const int64_t there, buffer_.Need(1));
  // A line that begins with an ASCII character has no byte order mark. Other bytes that are no mark stay part of the
  // line, whose checks may reject them.
  if (there == 0 || (buffer_.data()[0] > 0 && buffer_.data()[0] < 0x80)) return absl::OkStatus();
  TD_ASSIGN_OR_RETURN(const int64_t size, buffer_.Need(kMaxByteOrderMark));
  TD_ASSIGN_OR_RETURN(const int64_t mark,
                      ByteOrderMarkSize(absl::string_view(reinterpret_cast<const char*>(buffer_.data()), size),
                                        absl::StrCat(file_.path(), ": line 1")));
  buffer_.Consume(mark);
  return absl::OkStatus();
}

absl::Status LineReader::Next(Line* line, bool* end) {
  *end = false;
  if (offset() == 0) TD_RETURN_IF_ERROR(SkipByteOrderMark());
  const int64_t at = offset();
  QuoteScanner scanner(options_.delimiter);
  int64_t size = 0;      // length of the line without its line feed
  int64_t searched = 0;  // number of bytes that were searched and contain no line feed
  bool line_feed = false, quotes = false;
  for (;;) {
    const int64_t have = buffer_.available();
    const uint8_t* data = buffer_.data();
    if (!quotes && have > searched) {
      const void* found = std::memchr(data + searched, '\n', have - searched);
      line_feed = found != nullptr;
      size = line_feed ? static_cast<const uint8_t*>(found) - data : have;
      quotes = options_.quoted && std::memchr(data + searched, '"', size - searched) != nullptr;
    }
    if (quotes) {
      line_feed = scanner.Scan(data, have);
      size = scanner.end();
    }
    if (line_feed || have > options_.max_line_bytes) break;
    searched = size = have;
    TD_ASSIGN_OR_RETURN(const int64_t more, buffer_.Need(have + 1));
    if (more <= have) break;  // no more bytes: the file ends here
  }
  if (size > options_.max_line_bytes) {
    return Damaged(absl::StrCat("the line has more than ", options_.max_line_bytes,
                                " bytes; raise max_line_bytes if it is right"));
  }
  if (!line_feed && quotes && scanner.in_quotes()) {
    return Damaged("a quote is opened that nothing closes up to the end of the file");
  }
  if (size == 0 && !line_feed) {
    *end = true;
    return absl::OkStatus();
  }
  line->block = buffer_.block();
  line->bytes = absl::string_view(reinterpret_cast<const char*>(buffer_.data()), size);
  line->offset = at;
  line->number = number_;
  number_ += 1 + (quotes ? std::count(line->bytes.begin(), line->bytes.end(), '\n') : 0);
  if (!line->bytes.empty() && line->bytes.back() == '\r') line->bytes.remove_suffix(1);
  buffer_.Consume(size + (line_feed ? 1 : 0));
  return absl::OkStatus();
}

}  // namespace tandem
