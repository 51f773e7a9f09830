// TFRecord: the source whose elements are the records of TFRecord files.
#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "data/cache_settings.h"
#include "data/file_list.h"
#include "data/file_source.h"
#include "data/files/record_reader.h"
#include "data/stages.h"

namespace tandem::data_internal {
namespace {

// The bytes that are read at once when single records at scattered places are requested.
constexpr int64_t kRecordLookUpBytes = 8 << 10;

class RecordPieces : public PieceReader {
 public:
  explicit RecordPieces(std::unique_ptr<RecordReader> reader) : reader_(std::move(reader)) {}
  absl::Status Next(Piece* piece, bool* end) override {
    Record record;
    TD_RETURN_IF_ERROR(reader_->Next(&record, end));
    if (*end) return absl::OkStatus();
    *piece = {std::move(record.block), record.bytes, 0, record.offset, number_++, record.masked_crc};
    return absl::OkStatus();
  }
  absl::Status Seek(int64_t offset, int64_t number) override {
    number_ = number;
    return reader_->Seek(offset);
  }
  int64_t offset() const override { return reader_->offset(); }
  int64_t number() const override { return number_; }

 private:
  const std::unique_ptr<RecordReader> reader_;
  int64_t number_ = 0;
};

class RecordFormat : public FileFormat {
 public:
  RecordFormat(std::vector<std::string> files, RecordOptions options) : files_(std::move(files)), options_(options) {}

  absl::StatusOr<std::unique_ptr<PieceReader>> Open(const std::string& path, bool look_up) const override {
    RecordOptions options = options_;
    if (look_up && options.compression == Compression::kNone) {
      options.buffer_size = std::min(options.buffer_size, kRecordLookUpBytes);
    }
    TD_ASSIGN_OR_RETURN(std::unique_ptr<RecordReader> reader, RecordReader::Open(path, options));
    return std::unique_ptr<PieceReader>(std::make_unique<RecordPieces>(std::move(reader)));
  }
  Compression compression() const override { return options_.compression; }
  absl::Status Make(absl::Span<const Piece> pieces, bool batched, Element* out) const override {
    std::vector<absl::string_view> views;
    views.reserve(pieces.size());
    for (const Piece& piece : pieces) {
      // The checksum is compared here, where several threads work, and not when the file is read, which only one thread
      // does.
      TD_RETURN_IF_ERROR(RecordReader::CheckRecord({nullptr, piece.bytes, piece.checksum, piece.offset},
                                                   files_[piece.file], options_.compression));
      views.push_back(piece.bytes);
    }
    const Shape shape = batched ? Shape{static_cast<int64_t>(pieces.size())} : Shape{};
    out->components.assign(1, HostTensor::FromStrings(shape, absl::MakeConstSpan(views)));
    return absl::OkStatus();
  }
  std::string Describe(const std::string& path, int64_t offset, int64_t number) const override {
    return absl::StrCat("record ", number, ", at byte ", offset, " of ", path);
  }
  std::string name() const override { return "tfrecord"; }
  std::string settings() const override { return std::string(Name(options_.compression)); }

 private:
  const std::vector<std::string> files_;
  const RecordOptions options_;
};

}  // namespace

absl::StatusOr<NodePtr> MakeTFRecord(std::vector<std::string> files, RecordOptions options) {
  std::vector<int64_t> sizes;
  TD_RETURN_IF_ERROR(CheckFiles(files, &sizes));
  TD_RETURN_IF_ERROR(CheckRecordOptions(options));
  auto format = std::make_unique<RecordFormat>(files, options);
  return MakeFileSource(std::move(files), {{"record", DType::kString, {}}}, std::move(format),
                        LimitSetting("records", options.max_record_bytes, RecordOptions().max_record_bytes));
}

}  // namespace tandem::data_internal
