// A buffer in front of a file, out of which pieces are handed without copying.
#ifndef TANDEM_DATA_FILES_BLOCK_BUFFER_H_
#define TANDEM_DATA_FILES_BLOCK_BUFFER_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "data/files/input_file.h"

namespace tandem {

// Reads a file in blocks. Who keeps block() keeps the bytes that it was given; the buffer then goes on in another
// block. Thread-compatible.
class BlockBuffer {
 public:
  // `file` must outlive the buffer. Blocks have `block_bytes` >= 1, more where a piece is longer.
  BlockBuffer(InputFile* file, int64_t block_bytes) : file_(file), block_bytes_(block_bytes) {}

  // Makes `bytes` bytes follow data(), as far as the file has them; returns how many there are, `bytes` at most. Memory
  // grows with what is really read, whatever is asked for.
  absl::StatusOr<int64_t> Need(int64_t bytes);
  const uint8_t* data() const { return block_.get() + begin_; }
  // What lies in the block from data() on.
  int64_t available() const { return end_ - begin_; }
  // Goes on by `bytes` <= available().
  void Consume(int64_t bytes) { begin_ += bytes; }
  // The bytes at data(), kept alive.
  const std::shared_ptr<const uint8_t[]>& block() const { return block_; }

  // Of data() in the file's uncompressed data.
  int64_t offset() const { return file_->offset() - available(); }
  absl::Status Seek(int64_t offset);

 private:
  // Whether nobody else keeps the block, so that it may be written over.
  bool OwnsBlock() const;

  InputFile* const file_;
  const int64_t block_bytes_;
  std::shared_ptr<const uint8_t[]> block_;
  int64_t capacity_ = 0, begin_ = 0, end_ = 0;
};

}  // namespace tandem

#endif  // TANDEM_DATA_FILES_BLOCK_BUFFER_H_
