// The sources whose elements are lines of text (TextLine), records of CSV files (Csv), and records of a fixed length
// (FixedLengthRecord).
#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/annotate.h"
#include "base/status_macros.h"
#include "data/cache_settings.h"
#include "data/file_list.h"
#include "data/file_source.h"
#include "data/files/csv.h"
#include "data/files/line_reader.h"
#include "data/stages.h"

namespace tandem::data_internal {
namespace {

// The bytes that are read at once when single lines at scattered places are requested.
constexpr int64_t kLineLookUpBytes = 8 << 10;

// Reads the lines of a file. Of a CSV file, it skips the header and empty lines.
class LinePieces : public PieceReader {
 public:
  LinePieces(std::unique_ptr<LineReader> reader, bool skip_empty) : reader_(std::move(reader)), skip_(skip_empty) {}

  absl::Status Next(Piece* piece, bool* end) override {
    Line line;
    do {
      TD_RETURN_IF_ERROR(reader_->Next(&line, end));
      if (*end) return absl::OkStatus();
    } while (skip_ && line.bytes.empty());
    *piece = {std::move(line.block), line.bytes, 0, line.offset, line.number, 0};
    return absl::OkStatus();
  }
  absl::Status Seek(int64_t offset, int64_t number) override { return reader_->Seek(offset, number); }
  int64_t offset() const override { return reader_->offset(); }
  int64_t number() const override { return reader_->number(); }

 private:
  const std::unique_ptr<LineReader> reader_;
  const bool skip_;
};

std::string DescribeLine(const std::string& path, int64_t number) {
  return absl::StrCat("line ", number + 1, " of ", path);
}

HostTensor Strings(absl::Span<const Piece> pieces, bool batched) {
  std::vector<absl::string_view> views;
  views.reserve(pieces.size());
  for (const Piece& piece : pieces) views.push_back(piece.bytes);
  return HostTensor::FromStrings(batched ? Shape{static_cast<int64_t>(pieces.size())} : Shape{},
                                 absl::MakeConstSpan(views));
}

class LineFormat : public FileFormat {
 public:
  explicit LineFormat(LineOptions options) : options_(options) {}

  absl::StatusOr<std::unique_ptr<PieceReader>> Open(const std::string& path, bool look_up) const override {
    TD_ASSIGN_OR_RETURN(std::unique_ptr<LineReader> reader, OpenLines(path, look_up));
    return std::unique_ptr<PieceReader>(std::make_unique<LinePieces>(std::move(reader), /*skip_empty=*/false));
  }
  Compression compression() const override { return options_.compression; }
  absl::Status Make(absl::Span<const Piece> pieces, bool batched, Element* out) const override {
    out->components.assign(1, Strings(pieces, batched));
    return absl::OkStatus();
  }
  std::string Describe(const std::string& path, int64_t, int64_t number) const override {
    return DescribeLine(path, number);
  }
  std::string name() const override { return "text_line"; }
  std::string settings() const override { return std::string(Name(options_.compression)); }

 protected:
  absl::StatusOr<std::unique_ptr<LineReader>> OpenLines(const std::string& path, bool look_up) const {
    LineOptions options = options_;
    if (look_up && options.compression == Compression::kNone) {
      options.buffer_size = std::min(options.buffer_size, kLineLookUpBytes);
    }
    return LineReader::Open(path, options);
  }

  const LineOptions options_;
};

// Where a CSV file has the requested columns, according to its header.
struct CsvLayout {
  size_t fields = 0;
  std::vector<size_t> places;  // the field number of each requested column
};

class CsvFormat : public LineFormat {
 public:
  CsvFormat(std::vector<std::string> files, LineOptions options, CsvParser parser, bool header)
      : LineFormat(options), files_(std::move(files)), parser_(std::move(parser)), header_(header) {}

  // Reads the headers of all files to find the requested columns.
  absl::Status ReadHeaders() {
    for (const std::string& file : files_) {
      CsvLayout layout;
      if (header_) {
        TD_ASSIGN_OR_RETURN(std::unique_ptr<LineReader> reader, OpenLines(file, /*look_up=*/true));
        Line line;
        bool end = false;
        TD_RETURN_IF_ERROR(reader->Next(&line, &end));
        if (end) return absl::InvalidArgumentError(absl::StrCat(file, ": the file is empty, and a header is expected"));
        absl::StatusOr<std::vector<size_t>> places = parser_.FindColumns(line.bytes);
        TD_RETURN_IF_ERROR(tandem::Annotate(places.status(), absl::StrCat(file, ": line 1: ")));
        layout.places = *std::move(places);
        std::vector<absl::string_view> fields;
        std::vector<std::string> storage;
        TD_RETURN_IF_ERROR(SplitCsv(line.bytes, parser_.delimiter(), &fields, &storage));
        layout.fields = fields.size();
      } else {
        layout.fields = parser_.columns().size();
        for (size_t i = 0; i < layout.fields; ++i) layout.places.push_back(i);
      }
      layouts_.push_back(std::move(layout));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<std::unique_ptr<PieceReader>> Open(const std::string& path, bool look_up) const override {
    TD_ASSIGN_OR_RETURN(std::unique_ptr<LineReader> reader, OpenLines(path, look_up));
    if (header_) {
      Line header;
      bool end = false;
      TD_RETURN_IF_ERROR(reader->Next(&header, &end));
    }
    return std::unique_ptr<PieceReader>(std::make_unique<LinePieces>(std::move(reader), /*skip_empty=*/true));
  }
  absl::Status Make(absl::Span<const Piece> pieces, bool batched, Element* out) const override {
    CsvParser::Batch batch(parser_, static_cast<int64_t>(pieces.size()));
    for (const Piece& piece : pieces) {
      const CsvLayout& layout = layouts_[piece.file];
      absl::Status status = batch.Add(piece.bytes, layout.fields, layout.places);
      if (!status.ok()) {
        return tandem::Annotate(status, absl::StrCat(files_[piece.file], ": line ", piece.number + 1, ": "));
      }
    }
    batch.Finish(batched, out);
    return absl::OkStatus();
  }
  std::string name() const override { return "csv"; }
  std::string settings() const override {
    return absl::StrCat(Name(options_.compression), ", ", header_ ? "header, " : "", SpecString(parser_.spec()));
  }

 private:
  const std::vector<std::string> files_;
  const CsvParser parser_;
  const bool header_;
  std::vector<CsvLayout> layouts_;  // one layout for each file
};

// Reads records of a fixed length between a header and a footer.
class FixedPieces : public PieceReader {
 public:
  FixedPieces(const std::string& path, const FixedLengthOptions& options, int64_t buffer_size)
      : options_(options), file_(path, options.compression), buffer_(&file_, buffer_size) {}

  absl::Status Open() {
    TD_RETURN_IF_ERROR(file_.Open());
    return Need(options_.header_bytes, "the header");
  }
  absl::Status Next(Piece* piece, bool* end) override {
    const int64_t wanted = options_.record_bytes + options_.footer_bytes;
    TD_ASSIGN_OR_RETURN(const int64_t got, buffer_.Need(wanted));
    if (got <= options_.footer_bytes) {
      *end = got == options_.footer_bytes;
      if (*end) return absl::OkStatus();
    }
    if (got < wanted) {
      return file_.Damaged(
          offset(),
          absl::StrCat("record ", number_, " has ", std::max<int64_t>(got - options_.footer_bytes, 0), " of ",
                       options_.record_bytes, " bytes: the file is cut off, or its records ", "have another length"));
    }
    *piece = {buffer_.block(),
              absl::string_view(reinterpret_cast<const char*>(buffer_.data()), options_.record_bytes),
              0,
              offset(),
              number_++,
              0};
    buffer_.Consume(options_.record_bytes);
    return absl::OkStatus();
  }
  absl::Status Seek(int64_t offset, int64_t number) override {
    number_ = number;
    return buffer_.Seek(offset);
  }
  int64_t offset() const override { return buffer_.offset(); }
  int64_t number() const override { return number_; }

 private:
  // Skips `bytes` bytes; an error if the file ends before.
  absl::Status Need(int64_t bytes, absl::string_view what) {
    while (bytes > 0) {
      TD_ASSIGN_OR_RETURN(const int64_t got, buffer_.Need(std::min<int64_t>(bytes, 4096)));
      if (got == 0) return file_.Damaged(offset(), absl::StrCat("the file ends within ", what));
      buffer_.Consume(got);
      bytes -= got;
    }
    return absl::OkStatus();
  }

  const FixedLengthOptions options_;
  InputFile file_;
  BlockBuffer buffer_;
  int64_t number_ = 0;
};

class FixedFormat : public FileFormat {
 public:
  explicit FixedFormat(FixedLengthOptions options) : options_(options) {}

  absl::StatusOr<std::unique_ptr<PieceReader>> Open(const std::string& path, bool look_up) const override {
    const bool small = look_up && options_.compression == Compression::kNone;
    auto reader = std::make_unique<FixedPieces>(
        path, options_, small ? std::min(options_.buffer_size, kLineLookUpBytes) : options_.buffer_size);
    TD_RETURN_IF_ERROR(reader->Open());
    return std::unique_ptr<PieceReader>(std::move(reader));
  }
  Compression compression() const override { return options_.compression; }
  absl::Status Make(absl::Span<const Piece> pieces, bool batched, Element* out) const override {
    out->components.assign(1, Strings(pieces, batched));
    return absl::OkStatus();
  }
  std::string Describe(const std::string& path, int64_t offset, int64_t number) const override {
    return absl::StrCat("record ", number, ", at byte ", offset, " of ", path);
  }
  std::string name() const override { return "fixed_length"; }
  std::string settings() const override {
    return absl::StrCat(Name(options_.compression), ", ", options_.header_bytes, " + n * ", options_.record_bytes,
                        " + ", options_.footer_bytes, " bytes");
  }

 private:
  const FixedLengthOptions options_;
};

}  // namespace

absl::StatusOr<NodePtr> MakeTextLine(std::vector<std::string> files, TextLineOptions options) {
  std::vector<int64_t> sizes;
  TD_RETURN_IF_ERROR(CheckFiles(files, &sizes));
  const LineOptions lines = {options.compression, options.buffer_size, options.max_line_bytes};
  TD_RETURN_IF_ERROR(CheckLineOptions(lines));
  return MakeFileSource(std::move(files), {{"line", DType::kString, {}}}, std::make_unique<LineFormat>(lines),
                        LimitSetting("lines", lines.max_line_bytes, LineOptions().max_line_bytes));
}

absl::StatusOr<NodePtr> MakeCsv(std::vector<std::string> files, std::vector<CsvColumn> columns, CsvOptions options) {
  std::vector<int64_t> sizes;
  TD_RETURN_IF_ERROR(CheckFiles(files, &sizes));
  LineOptions lines = {options.compression, options.buffer_size, options.max_line_bytes};
  lines.quoted = true;
  lines.delimiter = options.delimiter;
  TD_RETURN_IF_ERROR(CheckLineOptions(lines));
  const std::string settings = absl::StrCat(
      "csv('", absl::string_view(&options.delimiter, 1), "'; ",
      absl::StrJoin(columns, ", ",
                    [](std::string* out, const CsvColumn& c) { absl::StrAppend(out, ValueSetting(c.default_value)); }),
      ")", LimitSetting("lines", lines.max_line_bytes, LineOptions().max_line_bytes));
  TD_ASSIGN_OR_RETURN(CsvParser parser, CsvParser::Create(std::move(columns), options.delimiter));
  std::vector<ComponentSpec> spec = parser.spec();
  auto format = std::make_unique<CsvFormat>(files, lines, std::move(parser), options.header);
  TD_RETURN_IF_ERROR(format->ReadHeaders());
  return MakeFileSource(std::move(files), std::move(spec), std::move(format), settings);
}

absl::StatusOr<NodePtr> MakeFixedLengthRecord(std::vector<std::string> files, FixedLengthOptions options) {
  constexpr int64_t kMaxBytes = int64_t{1} << 30;
  for (auto [what, bytes, least] : {std::tuple("record_bytes", options.record_bytes, int64_t{1}),
                                    std::tuple("header_bytes", options.header_bytes, int64_t{0}),
                                    std::tuple("footer_bytes", options.footer_bytes, int64_t{0}),
                                    std::tuple("buffer_size", options.buffer_size, int64_t{1})}) {
    if (bytes < least || bytes > kMaxBytes) {
      return absl::InvalidArgumentError(
          absl::StrCat(what, " must be between ", least, " and ", kMaxBytes, ", got ", bytes));
    }
  }
  std::vector<int64_t> sizes;
  TD_RETURN_IF_ERROR(CheckFiles(files, &sizes));
  for (size_t i = 0; i < files.size() && options.compression == Compression::kNone; ++i) {
    const int64_t records = sizes[i] - options.header_bytes - options.footer_bytes;
    if (records >= 0 && records % options.record_bytes == 0) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(files[i], ": the file has ", sizes[i], " bytes, which is not a header of ", options.header_bytes,
                     ", a footer of ", options.footer_bytes, " and records of ", options.record_bytes));
  }
  return MakeFileSource(std::move(files), {{"record", DType::kString, {}}}, std::make_unique<FixedFormat>(options));
}

}  // namespace tandem::data_internal
