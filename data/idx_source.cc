// Idx: the source whose elements are the rows of IDX files, read one after another.
#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/annotate.h"
#include "base/status_macros.h"
#include "data/file_list.h"
#include "data/file_source.h"
#include "data/files/block_buffer.h"
#include "data/files/idx_format.h"
#include "data/files/inflate_stream.h"
#include "data/files/input_file.h"
#include "data/stages.h"

namespace tandem::data_internal {
namespace {

// The bytes that are read at once when single rows at scattered places are requested.
constexpr int64_t kLookUpBytes = 8 << 10;

// Detects the compression by the first bytes: no IDX file begins like gzip.
absl::StatusOr<Compression> CompressionOf(const std::string& path) {
  RegularFile file(path);
  TD_RETURN_IF_ERROR(file.Open());
  uint8_t magic[2];
  TD_ASSIGN_OR_RETURN(const int64_t n, file.ReadAt(0, magic, sizeof magic));
  return HasGzipMagic(magic, n) ? Compression::kGzip : Compression::kNone;
}

class IdxPieces : public PieceReader {
 public:
  IdxPieces(const std::string& path, Compression compression, int64_t buffer_size)
      : file_(path, compression), buffer_(&file_, buffer_size) {}

  absl::Status Open() {
    TD_RETURN_IF_ERROR(file_.Open());
    const int64_t most = file_.max_remaining();
    const auto read = [&](uint8_t* to, int64_t bytes) { return file_.Read(to, bytes); };
    const auto damaged = [&](int64_t offset, absl::string_view what) { return file_.Damaged(offset, what); };
    TD_ASSIGN_OR_RETURN(header_, ReadIdxHeader({read, damaged, most}));
    if (header_.shape.empty()) return file_.Damaged(0, "the file is of one number, and has no rows");
    rows_ = header_.shape[0];
    row_bytes_ = rows_ == 0 ? 0 : header_.data_bytes / rows_;
    return absl::OkStatus();
  }
  const IdxHeader& header() const { return header_; }

  absl::Status Next(Piece* piece, bool* end) override {
    if (number_ >= rows_) {
      TD_RETURN_IF_ERROR(CheckEnd());
      *end = true;
      return absl::OkStatus();
    }
    TD_ASSIGN_OR_RETURN(const int64_t got, buffer_.Need(row_bytes_));
    if (got < row_bytes_) {
      return file_.Damaged(offset(), absl::StrCat("row ", number_, " of ", rows_, " has ", got, " of ", row_bytes_,
                                                  " bytes: the file is cut off"));
    }
    *piece = {buffer_.block(),
              absl::string_view(reinterpret_cast<const char*>(buffer_.data()), row_bytes_),
              0,
              offset(),
              number_++,
              0};
    buffer_.Consume(row_bytes_);
    return absl::OkStatus();
  }
  absl::Status Seek(int64_t offset, int64_t number) override {
    number_ = number;
    return buffer_.Seek(offset);
  }
  int64_t offset() const override { return buffer_.offset(); }
  int64_t number() const override { return number_; }

 private:
  // Checks that the file ends after the last row. Reading up to the end also makes the inflater compare gzip's
  // checksum.
  absl::Status CheckEnd() {
    TD_ASSIGN_OR_RETURN(const int64_t more, buffer_.Need(1));
    if (more == 0) return absl::OkStatus();
    return file_.Damaged(offset(), absl::StrCat("there is more data than the ", header_.data_bytes, " bytes of shape ",
                                                ShapeString(header_.shape)));
  }

  InputFile file_;
  BlockBuffer buffer_;
  IdxHeader header_;
  int64_t rows_ = 0, row_bytes_ = 0;
  int64_t number_ = 0;
};

class IdxFormat : public FileFormat {
 public:
  explicit IdxFormat(IdxOptions options) : options_(std::move(options)) {}

  // Reads the headers, which must all have the same type and row shape. Returns the element's spec.
  absl::StatusOr<ComponentSpec> ReadHeaders(const std::vector<std::string>& files) {
    ComponentSpec spec;
    for (const std::string& path : files) {
      TD_ASSIGN_OR_RETURN(const Compression compression, CompressionOf(path));
      if (compression != Compression::kNone) compression_ = compression;
      IdxPieces reader(path, compression, kLookUpBytes);
      TD_RETURN_IF_ERROR(reader.Open());
      header_ = reader.header();
      ComponentSpec own = {options_.name, header_.dtype, {header_.shape.begin() + 1, header_.shape.end()}};
      if (spec.dtype == DType::kInvalid) spec = own;
      if (own.dtype == spec.dtype && own.shape == spec.shape) continue;
      return absl::InvalidArgumentError(absl::StrCat(path, ": its rows are { ", SpecString({own}), " }, and those of ",
                                                     files[0], " are { ", SpecString({spec}), " }"));
    }
    row_shape_ = spec.shape;
    return spec;
  }

  absl::StatusOr<std::unique_ptr<PieceReader>> Open(const std::string& path, bool look_up) const override {
    TD_ASSIGN_OR_RETURN(const Compression compression, CompressionOf(path));
    const bool small = look_up && compression == Compression::kNone;
    auto reader = std::make_unique<IdxPieces>(
        path, compression, small ? std::min(options_.buffer_size, kLookUpBytes) : options_.buffer_size);
    TD_RETURN_IF_ERROR(reader->Open());
    return std::unique_ptr<PieceReader>(std::move(reader));
  }
  Compression compression() const override { return compression_; }

  absl::Status Make(absl::Span<const Piece> pieces, bool batched, Element* out) const override {
    Shape shape = row_shape_;
    if (batched) shape.insert(shape.begin(), static_cast<int64_t>(pieces.size()));
    HostTensor rows(header_.dtype, std::move(shape));
    TD_RETURN_IF_ERROR(rows.status());
    uint8_t* to = static_cast<uint8_t*>(rows.raw());
    for (const Piece& piece : pieces) {
      const int64_t count = static_cast<int64_t>(piece.bytes.size()) / header_.element_bytes;
      DecodeIdx(header_, count, reinterpret_cast<const uint8_t*>(piece.bytes.data()), to);
      to += count * SizeOf(header_.dtype);
    }
    out->components.assign(1, std::move(rows));
    return absl::OkStatus();
  }
  std::string Describe(const std::string& path, int64_t, int64_t number) const override {
    return absl::StrCat("row ", number, " of ", path);
  }
  std::string name() const override { return "idx"; }
  std::string settings() const override {
    return SpecString({ComponentSpec{options_.name, header_.dtype, row_shape_}});
  }

 private:
  const IdxOptions options_;
  IdxHeader header_;  // the header of one file, whose element type and row shape all files share
  Shape row_shape_;
  Compression compression_ = Compression::kNone;  // compression of those files that are compressed, if any
};

}  // namespace

absl::StatusOr<NodePtr> MakeIdx(std::vector<std::string> files, IdxOptions options) {
  constexpr int64_t kMaxBytes = int64_t{1} << 30;
  if (options.buffer_size < 1 || options.buffer_size > kMaxBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("buffer_size must be between 1 and ", kMaxBytes, ", got ", options.buffer_size));
  }
  std::vector<int64_t> sizes;
  TD_RETURN_IF_ERROR(CheckFiles(files, &sizes));
  auto format = std::make_unique<IdxFormat>(std::move(options));
  TD_ASSIGN_OR_RETURN(ComponentSpec spec, format->ReadHeaders(files));
  return MakeFileSource(std::move(files), {std::move(spec)}, std::move(format));
}

}  // namespace tandem::data_internal
