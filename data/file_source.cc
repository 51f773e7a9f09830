#include "data/file_source.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "data/dataset.h"
#include "data/file_list.h"

namespace tandem::data_internal {
namespace {

constexpr size_t kMaxIdleReaders = 16;
constexpr int64_t kTokenWidth = 3;

class FileSourceNode;

// A buffer of elements (such as Shuffle's) does not hold pieces larger than this: reading them from the file again is
// about as fast as copying them from memory.
constexpr size_t kMaxPieceInBuffer = 16 << 10;

// Moves the piece into a block of memory that contains nothing else.
void CopyOut(Piece* piece) {
  std::shared_ptr<uint8_t[]> block = std::make_shared_for_overwrite<uint8_t[]>(piece->bytes.size());
  std::copy(piece->bytes.begin(), piece->bytes.end(), block.get());
  piece->bytes = absl::string_view(reinterpret_cast<const char*>(block.get()), piece->bytes.size());
  piece->block = std::move(block);
}

// The result of reading one piece of a file: the piece, or an error.
class PiecePayload : public Payload {
 public:
  // `compressed` says that the file is compressed, so that reading the piece again means to inflate all bytes before
  // it.
  PiecePayload(Piece piece, absl::Status status, bool compressed, bool copied = false)
      : piece(std::move(piece)), status(std::move(status)), compressed_(compressed), copied_(copied) {}

  PayloadPtr ForBuffer(const PayloadPtr& self, int64_t room) const override {
    if (copied_ || !status.ok()) return self;
    const int64_t bytes = piece.bytes.size();
    if (!compressed_ && bytes > std::min<int64_t>(room, kMaxPieceInBuffer)) return nullptr;
    // The piece points into a large block of the file, so a buffer holds a copy of the piece instead of the block.
    Piece copy = piece;
    CopyOut(&copy);
    return std::make_shared<PiecePayload>(std::move(copy), status, compressed_, /*copied=*/true);
  }
  int64_t bytes_in_buffer() const override { return copied_ && !compressed_ ? piece.bytes.size() : 0; }

  const Piece piece;
  const absl::Status status;

 private:
  const bool compressed_, copied_;
};

class FileSourceIterator : public TokenIterator {
 public:
  explicit FileSourceIterator(const FileSourceNode& node) : node_(node) {}

  bool Next(int64_t* token, PayloadPtr* payload) override;
  void Restart() override {
    reader_ = nullptr;
    file_ = offset_ = number_ = 0;
  }
  void Save(StateWriter* writer) const override {
    writer->Write(file_);
    writer->Write(offset_);
    writer->Write(number_);
  }
  bool Restore(StateReader* reader) override;

 private:
  // Reads the next piece of file file_; opens the file if need be.
  absl::Status Read(Piece* piece, bool* end);

  const FileSourceNode& node_;
  int64_t file_ = 0;
  int64_t offset_ = 0, number_ = 0;      // offset and number of the next piece
  std::unique_ptr<PieceReader> reader_;  // reads file number file_; null if it is not open
};

class FileSourceNode : public Node {
 public:
  FileSourceNode(std::vector<std::string> files, NodeInfo info, std::unique_ptr<const FileFormat> format)
      : Node(std::move(info)), files_(std::move(files)), format_(std::move(format)) {}

  const std::vector<std::string>& files() const { return files_; }
  const FileFormat& format() const { return *format_; }

  std::unique_ptr<TokenIterator> MakeTokens() const override { return std::make_unique<FileSourceIterator>(*this); }
  bool ValidToken(const int64_t* token) const override {
    return token[0] >= 0 && token[0] < static_cast<int64_t>(files_.size()) && token[1] >= 0 && token[2] >= 0;
  }
  std::string Describe(const int64_t* token) const override {
    return format_->Describe(files_[token[0]], token[1], token[2]);
  }

  absl::Status Materialize(const int64_t* token, const Payload* payload, Element* out) const override {
    if (payload != nullptr) {
      const auto& read = static_cast<const PiecePayload&>(*payload);
      TD_RETURN_IF_ERROR(read.status);
      return format_->Make(absl::MakeConstSpan(&read.piece, 1), /*batched=*/false, out);
    }
    Piece piece;
    TD_RETURN_IF_ERROR(LookUp(token, &piece));
    return format_->Make(absl::MakeConstSpan(&piece, 1), /*batched=*/false, out);
  }
  absl::Status MaterializeRows(const int64_t* tokens, const PayloadPtr* payloads, int64_t count, SourceLocation,
                               Element* out) const override {
    std::vector<Piece> pieces(count);
    for (int64_t i = 0; i < count; ++i) {
      if (payloads == nullptr || payloads[i] == nullptr) {
        TD_RETURN_IF_ERROR(LookUp(tokens + kTokenWidth * i, &pieces[i]));
        continue;
      }
      const auto& read = static_cast<const PiecePayload&>(*payloads[i]);
      TD_RETURN_IF_ERROR(read.status);
      pieces[i] = read.piece;
    }
    return format_->Make(pieces, /*batched=*/true, out);
  }

  std::string Signature(bool) const override {
    return absl::StrCat(format_->name(), "(", FileListSignature(files_), ", ", format_->settings(), ")");
  }
  std::string Fingerprint() const override {
    const std::string files = FileListFingerprint(files_);
    return files.empty() ? "" : absl::StrCat(Signature(false), " ", files);
  }

 private:
  using IdleReader = std::pair<int64_t, std::unique_ptr<PieceReader>>;  // a file's number, and a reader of it

  // Reads the one piece that the token names (file, offset and number).
  absl::Status LookUp(const int64_t* token, Piece* piece) const {
    const int64_t file = token[0], offset = token[1];
    std::unique_ptr<PieceReader> reader = TakeReader(file, offset);
    if (reader == nullptr) {
      TD_ASSIGN_OR_RETURN(reader, format_->Open(files_[file], /*look_up=*/true));
    }
    if (reader->offset() != offset) TD_RETURN_IF_ERROR(reader->Seek(offset, token[2]));
    bool end = false;
    TD_RETURN_IF_ERROR(reader->Next(piece, &end));
    if (end) {
      return absl::DataLossError(
          absl::StrCat(files_[file], ": at byte ", offset,
                       ": the file ends where something was read before: it has become shorter"));
    }
    piece->file = file;
    std::lock_guard<std::mutex> lock(mutex_);
    if (idle_.size() >= kMaxIdleReaders) idle_.erase(idle_.begin());
    idle_.emplace_back(file, std::move(reader));
    return absl::OkStatus();
  }

  // Removes and returns the idle reader of the file that is furthest into it; for a compressed file, which is only read
  // forwards, only readers that are not beyond `offset` count. Returns null if there is none.
  std::unique_ptr<PieceReader> TakeReader(int64_t file, int64_t offset) const {
    std::lock_guard<std::mutex> lock(mutex_);
    auto best = idle_.end();
    for (auto it = idle_.begin(); it != idle_.end(); ++it) {
      if (it->first != file) continue;
      if (format_->compression() != Compression::kNone && it->second->offset() > offset) continue;
      if (best == idle_.end() || it->second->offset() > best->second->offset()) best = it;
    }
    if (best == idle_.end()) return nullptr;
    std::unique_ptr<PieceReader> reader = std::move(best->second);
    idle_.erase(best);
    return reader;
  }

  const std::vector<std::string> files_;
  const std::unique_ptr<const FileFormat> format_;
  mutable std::mutex mutex_;
  mutable std::vector<IdleReader> idle_;  // open readers that LookUp reuses
};

bool FileSourceIterator::Restore(StateReader* reader) {
  reader_ = nullptr;
  return reader->Read(&file_, 0, static_cast<int64_t>(node_.files().size())) && reader->Read(&offset_, 0, INT64_MAX) &&
         reader->Read(&number_, 0, INT64_MAX);
}

absl::Status FileSourceIterator::Read(Piece* piece, bool* end) {
  *end = false;
  if (reader_ == nullptr) {
    TD_ASSIGN_OR_RETURN(reader_, node_.format().Open(node_.files()[file_], /*look_up=*/false));
    if (offset_ > 0) {
      TD_RETURN_IF_ERROR(reader_->Seek(offset_, number_));
    } else {
      offset_ = reader_->offset();  // the first piece follows the file's header, if there is one
      number_ = reader_->number();
    }
  }
  return reader_->Next(piece, end);
}

bool FileSourceIterator::Next(int64_t* token, PayloadPtr* payload) {
  while (file_ < static_cast<int64_t>(node_.files().size())) {
    Piece piece;
    bool end = false;
    absl::Status status = Read(&piece, &end);
    ThrowIfOutOfMemory(status);  // without the exception, the file's remaining pieces would be skipped
    const bool read = status.ok() && !end;
    token[0] = file_;
    token[1] = offset_;
    token[2] = number_;
    if (payload != nullptr && !end) {
      piece.file = file_;
      *payload = std::make_shared<PiecePayload>(std::move(piece), std::move(status),
                                                node_.format().compression() != Compression::kNone);
    }
    if (read) {
      offset_ = reader_->offset();
      number_ = reader_->number();
      return true;
    }
    reader_ = nullptr;
    ++file_;
    offset_ = number_ = 0;
    if (!end) return true;
  }
  return false;
}

}  // namespace

absl::StatusOr<NodePtr> MakeFileSource(std::vector<std::string> files, std::vector<ComponentSpec> spec,
                                       std::unique_ptr<const FileFormat> format, std::string cache_settings) {
  NodeInfo info;
  info.cache_settings = std::move(cache_settings);
  info.spec = std::move(spec);
  info.cardinality = kUnknownCardinality;
  info.token_width = kTokenWidth;
  info.has_payloads = true;
  info.costly_order = true;
  return NodePtr(std::make_shared<FileSourceNode>(std::move(files), std::move(info), std::move(format)));
}

}  // namespace tandem::data_internal
