#include "data/files/record_reader.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "data/files/record_format.h"

namespace tandem {

using record_format::kFooterBytes;
using record_format::kHeaderBytes;
using record_format::LoadLittleEndian;
using record_format::MaskedCrc;

namespace {

constexpr int64_t kMaxRecordBuffer = int64_t{1} << 30;

absl::string_view View(const uint8_t* bytes, int64_t size) {
  return {reinterpret_cast<const char*>(bytes), static_cast<size_t>(size)};
}

}  // namespace

absl::Status CheckRecordOptions(const RecordOptions& options) {
  if (options.buffer_size < 1 || options.buffer_size > kMaxRecordBuffer) {
    return absl::InvalidArgumentError(absl::StrCat("the buffer size of a record file must be between 1 and ",
                                                   kMaxRecordBuffer, " bytes, got ", options.buffer_size));
  }
  if (options.max_record_bytes < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("the limit for the bytes of a record must be >= 0, got ", options.max_record_bytes));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<RecordReader>> RecordReader::Open(const std::string& path,
                                                                 const RecordOptions& options) {
  TD_RETURN_IF_ERROR(CheckRecordOptions(options));
  std::unique_ptr<RecordReader> reader(new RecordReader(path, options));
  TD_RETURN_IF_ERROR(reader->file_.Open());
  return reader;
}

absl::Status RecordReader::BadLength(const uint8_t* header) const {
  absl::string_view hint = "the file is damaged or no TFRecord file";
  if (options_.compression == Compression::kNone && offset() == 0) {
    if (header[0] == 0x1f && header[1] == 0x8b) {
      hint = "the file begins as one that is compressed with gzip: set the compression";
    } else if (header[0] == 0x78 && (header[0] << 8 | header[1]) % 31 == 0) {
      hint = "the file begins as one that is compressed with zlib: set the compression";
    }
  }
  return file_.Damaged(offset(), absl::StrFormat("the checksum of the record's length is 0x%08x, but the length %d has "
                                                 "the checksum 0x%08x; %s",
                                                 LoadLittleEndian<uint32_t>(header + 8),
                                                 LoadLittleEndian<uint64_t>(header), MaskedCrc(View(header, 8)), hint));
}

absl::Status RecordReader::Next(Record* record, bool* end) {
  if (record == nullptr || end == nullptr) return absl::InvalidArgumentError("RecordReader::Next: a pointer is null");
  *end = false;
  const int64_t at = offset();
  TD_ASSIGN_OR_RETURN(int64_t got, buffer_.Need(kHeaderBytes));
  if (got == 0) {
    *end = true;
    return absl::OkStatus();
  }
  constexpr char kCut[] = "; the file is cut off (was its writer closed, and the file copied as a whole?)";
  if (got < kHeaderBytes) {
    return file_.Damaged(at, absl::StrCat("the record's header has ", got, " of ", kHeaderBytes, " bytes", kCut));
  }
  const uint8_t* header = buffer_.data();
  if (MaskedCrc(View(header, 8)) != LoadLittleEndian<uint32_t>(header + 8)) return BadLength(header);
  const uint64_t length = LoadLittleEndian<uint64_t>(header);
  const int64_t follows = buffer_.available() - kHeaderBytes + file_.max_remaining();
  if (length > INT64_MAX - 64 || static_cast<int64_t>(length) + kFooterBytes > follows) {
    return file_.Damaged(at,
                         absl::StrCat("the record is said to have ", length, " bytes, and the file has no more than ",
                                      std::max<int64_t>(follows - kFooterBytes, 0), " left for it", kCut));
  }
  if (static_cast<int64_t>(length) > options_.max_record_bytes) {
    return file_.Damaged(at, absl::StrCat("the record is said to have ", length, " bytes, and the limit is ",
                                          options_.max_record_bytes, "; raise max_record_bytes if it is right"));
  }
  const int64_t size = static_cast<int64_t>(length);
  TD_ASSIGN_OR_RETURN(got, buffer_.Need(kHeaderBytes + size + kFooterBytes));
  if (got < kHeaderBytes + size + kFooterBytes) {
    return file_.Damaged(at, absl::StrCat("the record is said to have ", size, " bytes, and the data ends ",
                                          got - kHeaderBytes, " bytes behind its header", kCut));
  }
  record->block = buffer_.block();
  record->bytes = View(buffer_.data() + kHeaderBytes, size);
  record->masked_crc = LoadLittleEndian<uint32_t>(buffer_.data() + kHeaderBytes + size);
  record->offset = at;
  buffer_.Consume(kHeaderBytes + size + kFooterBytes);
  return absl::OkStatus();
}

absl::Status RecordReader::CheckRecord(const Record& record, const std::string& path, Compression compression) {
  const uint32_t crc = MaskedCrc(record.bytes);
  if (crc == record.masked_crc) return absl::OkStatus();
  return InputFile(path, compression)
      .Damaged(record.offset, absl::StrFormat("the checksum of the record's %d bytes is 0x%08x, and 0x%08x was "
                                              "written: the record is damaged",
                                              record.bytes.size(), crc, record.masked_crc));
}

}  // namespace tandem
