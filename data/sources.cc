// Three sources: the rows of tensors in memory, the names of files, and a range of integers. Their tokens, from which
// elements are made, are positions in them.
#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/annotate.h"
#include "base/fingerprint.h"
#include "base/status_macros.h"
#include "base/user_code.h"
#include "data/file_list.h"
#include "data/stages.h"

namespace tandem::data_internal {
namespace {

// A fingerprint reads kPieces evenly spread pieces of kPieceBytes bytes from a tensor, which takes some 0.1 ms for any
// size. If the rows are still being read, it uses the first kRowsOfAStream rows, for which the first batch waits
// anyway.
constexpr size_t kPieces = 1024, kPieceBytes = 64;
constexpr int64_t kRowsOfAStream = 64;

class PositionIterator : public TokenIterator {
 public:
  explicit PositionIterator(int64_t size) : size_(size) {}

  bool Next(int64_t* token, PayloadPtr*) override {
    if (position_ >= size_) return false;
    *token = position_++;
    return true;
  }
  bool Advance(int64_t n, int64_t*) override {
    bool enough = n <= size_ - position_;
    position_ = enough ? position_ + n : size_;
    return enough;
  }
  void Restart() override { position_ = 0; }
  void Save(StateWriter* writer) const override { writer->Write(position_); }
  bool Restore(StateReader* reader) override { return reader->Read(&position_, 0, size_); }

 private:
  const int64_t size_;
  int64_t position_ = 0;
};

class SourceNode : public Node {
 public:
  using Node::Node;
  std::unique_ptr<TokenIterator> MakeTokens() const override {
    return std::make_unique<PositionIterator>(info().cardinality);
  }
  bool ValidToken(const int64_t* token) const override { return *token >= 0 && *token < info().cardinality; }
  std::string Describe(const int64_t* token) const override {
    return absl::StrCat("element ", *token, " of the source");
  }
};

class SlicesNode : public SourceNode {
 public:
  SlicesNode(Dataset::Slices tensors, Dataset::WaitForRows wait_for_rows, SourceLocation location, NodeInfo info)
      : SourceNode(std::move(info)),
        tensors_(std::move(tensors)),
        wait_for_rows_(std::move(wait_for_rows)),
        location_(location) {
    for (const auto& [name, tensor] : tensors_) {
      row_bytes_.push_back(tensor.shape()[0] == 0 ? 0 : tensor.byte_size() / tensor.shape()[0]);
    }
  }

  absl::Status Materialize(const int64_t* token, const Payload*, Element* out) const override {
    TD_RETURN_IF_ERROR(WaitForRows(*token + 1));
    out->components.clear();
    for (size_t c = 0; c < tensors_.size(); ++c) {
      if (IsString(c)) {
        out->components.push_back(Strings(c, token, 1, info().spec[c].shape));
        continue;
      }
      HostTensor& row = out->components.emplace_back(info().spec[c].dtype, info().spec[c].shape);
      std::memcpy(row.raw(), Row(c, *token), row_bytes_[c]);
    }
    return absl::OkStatus();
  }

  absl::Status MaterializeRows(const int64_t* tokens, const PayloadPtr*, int64_t count, SourceLocation,
                               Element* out) const override {
    if (count > 0) TD_RETURN_IF_ERROR(WaitForRows(*std::max_element(tokens, tokens + count) + 1));
    out->components.clear();
    for (size_t c = 0; c < tensors_.size(); ++c) {
      Shape shape = tensors_[c].second.shape();
      shape[0] = count;
      if (IsString(c)) {
        out->components.push_back(Strings(c, tokens, count, std::move(shape)));
        continue;
      }
      HostTensor& batch = out->components.emplace_back(info().spec[c].dtype, std::move(shape));
      uint8_t* to = static_cast<uint8_t*>(batch.raw());
      for (int64_t i = 0; i < count; ++i, to += row_bytes_[c]) std::memcpy(to, Row(c, tokens[i]), row_bytes_[c]);
    }
    return absl::OkStatus();
  }

  std::string Signature(bool) const override {
    return absl::StrCat("slices(", info().cardinality, " x ", SpecString(info().spec), ")");
  }

  std::string Fingerprint() const override {
    const int64_t rows = wait_for_rows_ ? std::min(info().cardinality, kRowsOfAStream) : info().cardinality;
    if (!WaitForRows(rows).ok()) return "";  // the error is not lost: the element that needs the rows reports it
    uint64_t checksum = 0;
    for (size_t c = 0; c < tensors_.size(); ++c) {
      if (IsString(c)) {
        const int64_t strings = rows == 0 ? 0 : tensors_[c].second.num_elements() / info().cardinality * rows;
        for (int64_t i = 0; i < strings; ++i) checksum = Fingerprint64(tensors_[c].second.string(i), checksum);
        continue;
      }
      const absl::string_view bytes(static_cast<const char*>(tensors_[c].second.raw()),
                                    static_cast<size_t>(rows * row_bytes_[c]));
      if (bytes.size() <= kPieces * kPieceBytes) {
        checksum = Fingerprint64(bytes, checksum);
        continue;
      }
      for (size_t i = 0; i < kPieces; ++i) {
        checksum = Fingerprint64(bytes.substr((bytes.size() - kPieceBytes) * i / (kPieces - 1), kPieceBytes), checksum);
      }
    }
    return absl::StrCat(Signature(false), " checksum ", absl::Hex(checksum, absl::kZeroPad16));
  }

 private:
  absl::Status WaitForRows(int64_t rows) const {
    if (!wait_for_rows_) return absl::OkStatus();
    return Annotate(CallUserCode([&] { return wait_for_rows_(rows); }), "FromTensorSlices", location_);
  }
  bool IsString(size_t component) const { return info().spec[component].dtype == DType::kString; }
  // Returns the strings of a component in the `count` rows whose numbers are in `rows`.
  HostTensor Strings(size_t component, const int64_t* rows, int64_t count, Shape shape) const {
    const HostTensor& tensor = tensors_[component].second;
    const int64_t width = tensor.num_elements() / tensor.shape()[0];
    std::vector<absl::string_view> strings;
    strings.reserve(count * width);
    for (int64_t i = 0; i < count; ++i) {
      for (int64_t j = 0; j < width; ++j) strings.push_back(tensor.string(rows[i] * width + j));
    }
    return HostTensor::FromStrings(std::move(shape), absl::MakeConstSpan(strings));
  }
  const uint8_t* Row(size_t component, int64_t row) const {
    return static_cast<const uint8_t*>(tensors_[component].second.raw()) + row * row_bytes_[component];
  }

  const Dataset::Slices tensors_;
  const Dataset::WaitForRows wait_for_rows_;
  const SourceLocation location_;
  std::vector<int64_t> row_bytes_;
};

// Names of files; their fingerprint depends on the files' contents and not on their folders.
class FileNamesNode : public SlicesNode {
 public:
  FileNamesNode(std::vector<std::string> files, NodeInfo info)
      : SlicesNode({{info.spec[0].name, HostTensor::FromStrings({info.cardinality}, files)}}, nullptr, {}, info),
        files_(std::move(files)) {}

  // The names are part of the signature because a position may be in the middle of a file.
  std::string Signature(bool) const override { return absl::StrCat("files(", FileListSignature(files_), ")"); }
  std::string Fingerprint() const override {
    const std::string contents = FileListFingerprint(files_);
    return contents.empty() ? "" : absl::StrCat("files(", FileListSignature(files_), ") ", contents);
  }

 private:
  const std::vector<std::string> files_;
};

class RangeNode : public SourceNode {
 public:
  using SourceNode::SourceNode;

  absl::Status Materialize(const int64_t* token, const Payload*, Element* out) const override {
    out->components.assign(1, HostTensor::Scalar<int64_t>(*token));
    return absl::OkStatus();
  }
  absl::Status MaterializeRows(const int64_t* tokens, const PayloadPtr*, int64_t count, SourceLocation,
                               Element* out) const override {
    HostTensor batch(DType::kInt64, {count});
    std::copy_n(tokens, count, batch.data<int64_t>());
    out->components.assign(1, std::move(batch));
    return absl::OkStatus();
  }
  std::string Signature(bool) const override { return absl::StrCat("range(", info().cardinality, ")"); }
  std::string Fingerprint() const override { return Signature(false); }
};

}  // namespace

absl::StatusOr<NodePtr> MakeSlices(Dataset::Slices tensors, Dataset::WaitForRows wait_for_rows,
                                   SourceLocation location) {
  if (tensors.empty()) return absl::InvalidArgumentError("at least one tensor is needed");
  NodeInfo info;
  for (size_t c = 0; c < tensors.size(); ++c) {
    const auto& [name, tensor] = tensors[c];
    if (!tensor.status().ok()) return tandem::Annotate(tensor.status(), absl::StrCat("tensor '", name, "': "));
    if (tensor.empty())
      return absl::InvalidArgumentError(
          absl::StrCat("tensor '", name, "' is empty (default-made); give it a type, a shape and values"));
    if (tensor.rank() == 0) {
      return absl::InvalidArgumentError(absl::StrCat("tensor '", name, "' is a scalar; it needs a dimension to slice"));
    }
    if (tensor.shape()[0] != tensors[0].second.shape()[0]) {
      return absl::InvalidArgumentError(absl::StrCat("tensor '", name, "' has ", tensor.shape()[0], " rows (shape ",
                                                     ShapeString(tensor.shape()), ") and '", tensors[0].first, "' has ",
                                                     tensors[0].second.shape()[0], "; they must be equal"));
    }
    for (const ComponentSpec& other : info.spec) {
      if (other.name == name) return absl::InvalidArgumentError(absl::StrCat("two tensors have the name '", name, "'"));
    }
    info.spec.push_back({name, tensor.dtype(), Shape(tensor.shape().begin() + 1, tensor.shape().end())});
    info.source_bytes += tensor.byte_size();
  }
  info.cardinality = tensors[0].second.shape()[0];
  return NodePtr(std::make_shared<SlicesNode>(std::move(tensors), std::move(wait_for_rows), location, std::move(info)));
}

absl::StatusOr<NodePtr> MakeFileNames(std::vector<std::string> files) {
  NodeInfo info;
  info.spec = {{"file", DType::kString, {}}};
  info.cardinality = static_cast<int64_t>(files.size());
  return NodePtr(std::make_shared<FileNamesNode>(std::move(files), std::move(info)));
}

absl::StatusOr<NodePtr> MakeRange(int64_t n) {
  if (n < 0) return absl::InvalidArgumentError(absl::StrCat("the size must not be negative, got ", n));
  NodeInfo info;
  info.spec = {{"value", DType::kInt64, {}}};
  info.cardinality = n;
  return NodePtr(std::make_shared<RangeNode>(std::move(info)));
}

}  // namespace tandem::data_internal
