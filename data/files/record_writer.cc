#include "data/files/record_writer.h"

#include <zlib.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/logging.h"
#include "base/status_macros.h"
#include "data/files/record_format.h"

namespace tandem {
namespace {

constexpr size_t kWriteBufferBytes = 256 << 10;
constexpr int kWindowBits = 15, kGzipWrapper = 16, kMemoryLevel = 8;

}  // namespace

struct RecordWriter::Deflate {
  z_stream stream = {};
  ~Deflate() { deflateEnd(&stream); }
};

RecordWriter::RecordWriter(std::string path, std::unique_ptr<WritableFile> file)
    : path_(std::move(path)), file_(std::move(file)) {}

absl::StatusOr<std::unique_ptr<RecordWriter>> RecordWriter::Create(const std::string& path,
                                                                   const RecordWriterOptions& options, Env* env) {
  if (options.compression_level < -1 || options.compression_level > 9 || options.compression_level == 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the level of compression must be 1 to 9, or -1 for the default, got ", options.compression_level));
  }
  TD_ASSIGN_OR_RETURN(std::unique_ptr<WritableFile> file, env->CreateFile(path));
  std::unique_ptr<RecordWriter> writer(new RecordWriter(path, std::move(file)));
  if (options.compression != Compression::kNone) {
    writer->deflate_ = std::make_unique<Deflate>();
    const int wrapper = options.compression == Compression::kGzip ? kGzipWrapper : 0;
    if (deflateInit2(&writer->deflate_->stream, options.compression_level, Z_DEFLATED, kWindowBits + wrapper,
                     kMemoryLevel, Z_DEFAULT_STRATEGY) != Z_OK) {
      writer->file_ = nullptr;
      return absl::ResourceExhaustedError(absl::StrCat(path, ": cannot compress: memory ran out"));
    }
  }
  return writer;
}

RecordWriter::~RecordWriter() {
  if (file_ == nullptr || !status_.ok()) return;
  TD_LOG(ERROR) << path_ << ": the RecordWriter was destroyed without Close: the file lacks its last records";
}

absl::Status RecordWriter::Write(absl::string_view bytes) {
  TD_RETURN_IF_ERROR(status_);
  if (file_ == nullptr) return absl::FailedPreconditionError(absl::StrCat(path_, ": cannot write: it was closed"));
  const record_format::Frame frame(bytes);
  for (absl::string_view piece : {absl::string_view(frame.header, sizeof(frame.header)), bytes,
                                  absl::string_view(frame.footer, sizeof(frame.footer))}) {
    if (status_.ok()) status_ = Append(piece);
  }
  if (status_.ok()) ++records_;
  return status_;
}

absl::Status RecordWriter::Append(absl::string_view bytes) {
  if (deflate_) return Compress(bytes, /*finish=*/false);
  if (buffer_.size() + bytes.size() > kWriteBufferBytes) TD_RETURN_IF_ERROR(Flush());
  if (bytes.size() > kWriteBufferBytes) return file_->Append(bytes);
  absl::StrAppend(&buffer_, bytes);
  return absl::OkStatus();
}

absl::Status RecordWriter::Compress(absl::string_view bytes, bool finish) {
  z_stream& stream = deflate_->stream;
  do {
    // zlib counts bytes in 32 bits, so it gets at most 1 GiB per call.
    const size_t now = std::min<size_t>(bytes.size(), 1 << 30);
    // zlib does not write through this pointer.
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream.avail_in = static_cast<uInt>(now);
    bytes.remove_prefix(now);
    const int flush = finish && bytes.empty() ? Z_FINISH : Z_NO_FLUSH;
    int code = Z_OK;
    do {
      const size_t before = buffer_.size();
      buffer_.resize(before + kWriteBufferBytes);
      stream.next_out = reinterpret_cast<Bytef*>(buffer_.data() + before);
      stream.avail_out = kWriteBufferBytes;
      code = deflate(&stream, flush);
      buffer_.resize(buffer_.size() - stream.avail_out);
      if (code == Z_STREAM_ERROR) return absl::InternalError(absl::StrCat(path_, ": zlib cannot compress"));
      if (buffer_.size() >= kWriteBufferBytes) TD_RETURN_IF_ERROR(Flush());
    } while (stream.avail_out == 0 || (flush == Z_FINISH && code != Z_STREAM_END));
  } while (!bytes.empty());
  return absl::OkStatus();
}

absl::Status RecordWriter::Flush() {
  if (buffer_.empty()) return absl::OkStatus();
  TD_RETURN_IF_ERROR(file_->Append(buffer_));
  buffer_.clear();
  return absl::OkStatus();
}

absl::Status RecordWriter::Close() {
  TD_RETURN_IF_ERROR(status_);
  if (file_ == nullptr) return absl::OkStatus();
  if (deflate_) status_ = Compress("", /*finish=*/true);
  if (status_.ok()) status_ = Flush();
  if (status_.ok()) status_ = file_->Sync();
  if (status_.ok()) status_ = file_->Close();
  if (status_.ok()) file_ = nullptr;
  return status_;
}

}  // namespace tandem
