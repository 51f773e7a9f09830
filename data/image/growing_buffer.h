// A byte buffer for encoders that are written in C. It reports a lack of memory by a return value, because exceptions
// must not pass through C code.
#ifndef TANDEM_DATA_IMAGE_GROWING_BUFFER_H_
#define TANDEM_DATA_IMAGE_GROWING_BUFFER_H_

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "absl/strings/string_view.h"

namespace tandem::image_internal {

class GrowingBuffer {
 public:
  GrowingBuffer() = default;
  ~GrowingBuffer() { free(begin_); }
  GrowingBuffer(const GrowingBuffer&) = delete;
  GrowingBuffer& operator=(const GrowingBuffer&) = delete;

  // Makes room for `bytes` more bytes. Returns false, and changes nothing, when memory runs out.
  bool Reserve(size_t bytes) {
    if (capacity_ - size_ >= bytes) return true;
    const size_t capacity = 2 * capacity_ + bytes;
    void* const begin = realloc(begin_, capacity);
    if (begin == nullptr) return false;
    begin_ = static_cast<uint8_t*>(begin);
    capacity_ = capacity;
    return true;
  }
  bool Append(const uint8_t* bytes, size_t count) {
    if (!Reserve(count)) return false;
    memcpy(begin_ + size_, bytes, count);
    size_ += count;
    return true;
  }
  absl::string_view bytes() const { return {reinterpret_cast<const char*>(begin_), size_}; }

 private:
  uint8_t* begin_ = nullptr;
  size_t size_ = 0, capacity_ = 0;
};

}  // namespace tandem::image_internal

#endif  // TANDEM_DATA_IMAGE_GROWING_BUFFER_H_
