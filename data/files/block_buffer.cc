#include "data/files/block_buffer.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/status_macros.h"

namespace tandem {

bool BlockBuffer::OwnsBlock() const {
  if (block_.use_count() > 1) return false;
  // use_count() synchronises with nothing: another thread may have released its reference, and its last reads of the
  // block could still be reordered after our writes. Releasing a reference here orders them before our writes.
  std::shared_ptr<const uint8_t[]>(block_).reset();
  return true;
}

absl::StatusOr<int64_t> BlockBuffer::Need(int64_t bytes) {
  while (available() < bytes) {
    const int64_t have = available();
    // The buffer at most doubles what it holds, so that a wrong length in the file cannot allocate much memory.
    const int64_t wanted = std::min(bytes, std::max(block_bytes_, 2 * have));
    if (capacity_ - begin_ < wanted) {
      if (!OwnsBlock() || capacity_ < wanted) {
        const int64_t capacity = std::max(block_bytes_, wanted);
        std::shared_ptr<uint8_t[]> next = std::make_shared_for_overwrite<uint8_t[]>(capacity);
        if (have > 0) std::memcpy(next.get(), data(), have);
        block_ = std::move(next);
        capacity_ = capacity;
      } else if (have > 0) {
        std::memmove(const_cast<uint8_t*>(block_.get()), data(), have);
      }
      begin_ = 0;
      end_ = have;
    }
    TD_ASSIGN_OR_RETURN(const int64_t n, file_->Read(const_cast<uint8_t*>(block_.get()) + end_, capacity_ - end_));
    end_ += n;
    if (n == 0) break;
  }
  return std::min(bytes, available());
}

absl::Status BlockBuffer::Seek(int64_t offset) {
  begin_ = end_ = 0;
  if (!OwnsBlock()) {
    block_ = nullptr;
    capacity_ = 0;
  }
  return file_->Seek(offset);
}

}  // namespace tandem
