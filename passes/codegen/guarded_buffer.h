// Memory with guarded borders, for buffers of kernels under test.
#ifndef TANDEM_PASSES_CODEGEN_GUARDED_BUFFER_H_
#define TANDEM_PASSES_CODEGEN_GUARDED_BUFFER_H_

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace tandem {

// A buffer of `size` bytes, aligned to 16 bytes, between two pages that cannot be accessed; it ends right before the
// second one.
class GuardedBuffer {
 public:
  GuardedBuffer(size_t size, char fill) : size_(size), padded_((size + 15) / 16 * 16) {
    const size_t page = sysconf(_SC_PAGESIZE);
    inner_ = (padded_ + page - 1) / page * page;
    map_ = static_cast<char*>(
        mmap(nullptr, inner_ + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    mapped_ = inner_ + 2 * page;
    if (inner_ > 0) mprotect(map_ + page, inner_, PROT_READ | PROT_WRITE);
    data_ = map_ + page + inner_ - padded_;
    std::memset(map_ + page, kBorder, inner_);
    std::memset(data_, fill, size_);
  }
  explicit GuardedBuffer(const std::vector<char>& bytes) : GuardedBuffer(bytes.size(), 0) {
    if (!bytes.empty()) std::memcpy(data_, bytes.data(), bytes.size());
  }
  GuardedBuffer(GuardedBuffer&& other) noexcept { *this = std::move(other); }
  GuardedBuffer& operator=(GuardedBuffer&& other) noexcept {
    std::swap(map_, other.map_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(padded_, other.padded_);
    std::swap(inner_, other.inner_);
    std::swap(mapped_, other.mapped_);
    return *this;
  }
  ~GuardedBuffer() {
    if (map_ != nullptr) munmap(map_, mapped_);
  }

  char* data() const { return data_; }
  std::vector<char> bytes() const { return {data_, data_ + size_}; }
  // True if the bytes around the buffer that are not behind a guarded page are as they were.
  bool BordersAreWhole() const {
    for (const char* p = data_ + padded_ - inner_; p < data_; ++p) {
      if (*p != kBorder) return false;
    }
    for (const char* p = data_ + size_; p < data_ + padded_; ++p) {
      if (*p != kBorder) return false;
    }
    return true;
  }

 private:
  static constexpr char kBorder = 0x5a;
  char* map_ = nullptr;
  char* data_ = nullptr;
  size_t size_ = 0, padded_ = 0, inner_ = 0, mapped_ = 0;
};

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_GUARDED_BUFFER_H_
