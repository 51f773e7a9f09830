// A frame: a message between a worker and a parameter server. It consists of the length of its head (32 bits, low byte
// first), the head, which is a message of messages.proto, and the bytes of tensors, one after another.
#ifndef TANDEM_ESTIMATOR_PARAMETER_SERVER_FRAME_H_
#define TANDEM_ESTIMATOR_PARAMETER_SERVER_FRAME_H_

#include <grpcpp/grpcpp.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "base/host_tensor.h"
#include "google/protobuf/message_lite.h"

namespace tandem {

// The bytes of a tensor or variable.
struct ByteRange {
  const void* data = nullptr;
  size_t size = 0;
};

// Makes a frame without copying the bytes of `tensors`, which must exist until the frame has been sent.
grpc::ByteBuffer FrameOf(const google::protobuf::MessageLite& head, absl::Span<const ByteRange> tensors);
// Makes a frame that copies the bytes.
grpc::ByteBuffer FrameWithCopies(const google::protobuf::MessageLite& head, absl::Span<const ByteRange> tensors);

// Reads a frame.
class FrameReader {
 public:
  // InvalidArgument if `frame` is no frame with a head of that type.
  absl::Status Open(const grpc::ByteBuffer& frame, google::protobuf::MessageLite* head);
  // Returns the number of bytes that have not been read.
  size_t left() const { return left_; }
  // Copies the next `size` bytes to `to`; at least as many must be left.
  void Read(void* to, size_t size);

 private:
  std::vector<grpc::Slice> slices_;
  size_t slice_ = 0, offset_ = 0;  // position of the next byte: the slice, and the offset in it
  size_t left_ = 0;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_PARAMETER_SERVER_FRAME_H_
