#include "estimator/parameter_server/frame.h"

#include <algorithm>
#include <cstring>

namespace tandem {
namespace {

constexpr size_t kLengthBytes = 4;

grpc::Slice HeadOf(const google::protobuf::MessageLite& head) {
  const std::string text = head.SerializeAsString();
  std::string bytes(kLengthBytes, '\0');
  for (size_t i = 0; i < kLengthBytes; ++i) bytes[i] = static_cast<char>(text.size() >> (8 * i));
  return grpc::Slice(bytes + text);
}

grpc::ByteBuffer BufferOf(const std::vector<grpc::Slice>& slices) {
  return grpc::ByteBuffer(slices.data(), slices.size());
}

}  // namespace

grpc::ByteBuffer FrameOf(const google::protobuf::MessageLite& head, absl::Span<const ByteRange> tensors) {
  std::vector<grpc::Slice> slices = {HeadOf(head)};
  for (const ByteRange& tensor : tensors) {
    if (tensor.size > 0) slices.emplace_back(tensor.data, tensor.size, grpc::Slice::STATIC_SLICE);
  }
  return BufferOf(slices);
}

grpc::ByteBuffer FrameWithCopies(const google::protobuf::MessageLite& head, absl::Span<const ByteRange> tensors) {
  std::vector<grpc::Slice> slices = {HeadOf(head)};
  for (const ByteRange& tensor : tensors) {
    if (tensor.size > 0) slices.emplace_back(tensor.data, tensor.size);
  }
  return BufferOf(slices);
}

absl::Status FrameReader::Open(const grpc::ByteBuffer& frame, google::protobuf::MessageLite* head) {
  slices_.clear();
  slice_ = offset_ = 0;
  left_ = frame.Length();
  unsigned char length_bytes[kLengthBytes];
  if (left_ < kLengthBytes || !frame.Dump(&slices_).ok()) return absl::InvalidArgumentError("a message without a head");
  Read(length_bytes, kLengthBytes);
  size_t length = 0;
  for (size_t i = 0; i < kLengthBytes; ++i) length |= size_t{length_bytes[i]} << (8 * i);
  if (length > left_) return absl::InvalidArgumentError("a message that is shorter than its head");
  std::string text(length, '\0');
  Read(text.data(), length);
  if (!head->ParseFromString(text)) return absl::InvalidArgumentError("a message with a damaged head");
  return absl::OkStatus();
}

void FrameReader::Read(void* to, size_t size) {
  left_ -= size;
  char* at = static_cast<char*>(to);
  while (size > 0) {
    const grpc::Slice& slice = slices_[slice_];
    const size_t n = std::min(size, slice.size() - offset_);
    std::memcpy(at, slice.begin() + offset_, n);
    at += n;
    size -= n;
    offset_ += n;
    if (offset_ == slice.size()) {
      ++slice_;
      offset_ = 0;
    }
  }
}

}  // namespace tandem
