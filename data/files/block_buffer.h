// A read buffer for a file, from which callers get pieces of the file without copying them.
#ifndef TANDEM_DATA_FILES_BLOCK_BUFFER_H_
#define TANDEM_DATA_FILES_BLOCK_BUFFER_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tandem/base/api.h"
#include "tandem/data/files/input_file.h"

namespace TANDEM_API tandem {

// Reads a file in blocks. A caller that holds a reference to block() keeps the bytes in it valid: the buffer then
// continues in another block. Thread-compatible.
class BlockBuffer {
 public:
  // `file` must outlive the buffer. A block has `block_bytes` >= 1 bytes, or more if a single piece needs more.
  BlockBuffer(InputFile* file, int64_t block_bytes) : file_(file), block_bytes_(block_bytes) {}

  // Reads until `bytes` bytes are at data() or the file ends. Returns how many bytes are available, at most `bytes`.
  // Memory grows with the bytes that the file really has, not with the number that is asked for.
  absl::StatusOr<int64_t> Need(int64_t bytes);
  // The next byte.
  const uint8_t* data() const { return block_.get() + begin_; }
  // Number of bytes in the block from data() on.
  int64_t available() const { return end_ - begin_; }
  // Moves data() forward by `bytes` <= available().
  void Consume(int64_t bytes) { begin_ += bytes; }
  // Owner of the bytes at data(): they stay valid as long as a caller holds a copy of this pointer.
  const std::shared_ptr<const uint8_t[]>& block() const { return block_; }

  // Offset of data() in the file's uncompressed data.
  int64_t offset() const { return file_->offset() - available(); }
  // Moves to an offset of the uncompressed data, as InputFile::Seek does.
  absl::Status Seek(int64_t offset);

 private:
  // True if no caller holds a reference to the block, so that it may be overwritten.
  bool OwnsBlock() const;

  InputFile* const file_;
  const int64_t block_bytes_;
  std::shared_ptr<const uint8_t[]> block_;
  int64_t capacity_ = 0, begin_ = 0, end_ = 0;
};

}  // namespace tandem

#endif  // TANDEM_DATA_FILES_BLOCK_BUFFER_H_
