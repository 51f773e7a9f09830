// Frames of parameter servers and their workers in inputs: each behind its length in two bytes.
#ifndef TANDEM_TESTS_FUZZ_FRAMES_H_
#define TANDEM_TESTS_FUZZ_FRAMES_H_

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/fuzz/require.h"

namespace tandem::fuzz {

inline std::string BytesOf(const grpc::ByteBuffer& frame) {
  std::vector<grpc::Slice> slices;
  Require(frame.Dump(&slices).ok(), "a frame has slices");
  std::string bytes;
  for (const grpc::Slice& slice : slices) bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  return bytes;
}

inline std::string WithLength(const grpc::ByteBuffer& frame) {
  const std::string bytes = BytesOf(frame);
  return std::string{static_cast<char>(bytes.size() & 255), static_cast<char>(bytes.size() >> 8)} + bytes;
}

// Calls take(frame) for each; the last one may be shorter than its length says.
inline void ForEachFrame(const uint8_t* data, size_t size,
                         const std::function<void(const grpc::ByteBuffer& frame)>& take) {
  for (size_t at = 0; at + 2 <= size;) {
    const size_t length = data[at] | size_t{data[at + 1]} << 8;
    at += 2;
    const size_t rest = std::min(length, size - at);
    const grpc::Slice slice(data + at, rest);
    at += rest;
    take(grpc::ByteBuffer(&slice, 1));
  }
}

}  // namespace tandem::fuzz

#endif  // TANDEM_TESTS_FUZZ_FRAMES_H_
