#include "base/host_tensor.h"

#include <sys/mman.h>

#include <cstdint>
#include <iterator>
#include <mutex>
#include <new>
#include <utility>

#include "base/align.h"

namespace tandem {
namespace {

constexpr std::align_val_t kAlignment{64};

// Buffers from this size on get pages of their own. Batches are made in one thread and freed in another; from malloc
// they would come out of heaps that grow and are not given back (27 MiB in a training run with batches of 1.6 MB).
constexpr size_t kMapBytes = 1 << 20;

// Buffers up to this size share an allocation with their count of owners: a step's loss is one, and memory at a
// multiple of 64 bytes is dear to ask for.
constexpr size_t kSmallBytes = 64;
struct SmallBuffer {
  uint8_t bytes[2 * kSmallBytes - 1];
};

// The last pages that were given back, for the next buffer of their size: a batch of 1.6 MB is 400 pages, and touching
// them for the first time is most of the work of making it.
class KeptPages {
 public:
  // Never destroyed: tensors may be freed when a program ends.
  static KeptPages& Get() {
    static KeptPages* kept = new KeptPages;
    return *kept;
  }

  // Null when there are none of that size.
  void* Take(size_t bytes) {
    std::lock_guard<std::mutex> lock(mutex_);
    for (Pages& pages : pages_) {
      if (pages.bytes == bytes) return std::exchange(pages, Pages()).begin;
    }
    return nullptr;
  }

  void Give(void* begin, size_t bytes) {
    Pages dropped = {begin, bytes};
    if (bytes <= kMaxKeptBytes) {
      std::lock_guard<std::mutex> lock(mutex_);
      std::swap(dropped, pages_[oldest_]);
      oldest_ = (oldest_ + 1) % std::size(pages_);
    }
    if (dropped.begin != nullptr) munmap(dropped.begin, dropped.bytes);
  }

 private:
  static constexpr size_t kMaxKeptBytes = 16 << 20;
  struct Pages {
    void* begin = nullptr;
    size_t bytes = 0;
  };

  std::mutex mutex_;
  Pages pages_[2];
  size_t oldest_ = 0;
};

std::shared_ptr<uint8_t> Allocate(size_t bytes) {
  if (bytes <= kSmallBytes) {
    auto buffer = std::make_shared_for_overwrite<SmallBuffer>();
    const auto begin = reinterpret_cast<uintptr_t>(buffer->bytes);
    uint8_t* aligned = buffer->bytes + (AlignUp(begin, kSmallBytes) - begin);
    return std::shared_ptr<uint8_t>(std::move(buffer), aligned);
  }
  if (bytes >= kMapBytes) {
    void* pages = KeptPages::Get().Take(bytes);
    if (pages == nullptr) pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages != MAP_FAILED) {
      return std::shared_ptr<uint8_t>(static_cast<uint8_t*>(pages),
                                      [bytes](uint8_t* p) { KeptPages::Get().Give(p, bytes); });
    }
  }
  return std::shared_ptr<uint8_t>(static_cast<uint8_t*>(::operator new(bytes, kAlignment)),
                                  [](uint8_t* p) { ::operator delete(p, kAlignment); });
}

}  // namespace

HostTensor::HostTensor(DType dtype, Shape shape)
    : dtype_(dtype), shape_(std::move(shape)), num_elements_(NumElements(shape_)) {
  buffer_ = Allocate(static_cast<size_t>(byte_size()));
}

HostTensor HostTensor::Zeros(DType dtype, Shape shape) {
  HostTensor t(dtype, std::move(shape));
  std::memset(t.raw(), 0, t.byte_size());
  return t;
}

HostTensor HostTensor::Clone() const {
  if (empty()) return {};
  HostTensor t(dtype_, shape_);
  std::memcpy(t.raw(), raw(), byte_size());
  return t;
}

HostTensor HostTensor::Reshaped(Shape shape) const {
  HostTensor t = *this;
  t.shape_ = std::move(shape);
  return t;
}

bool HostTensor::BitEqual(const HostTensor& other) const {
  return dtype_ == other.dtype_ && shape_ == other.shape_ &&
         (byte_size() == 0 || std::memcmp(raw(), other.raw(), byte_size()) == 0);
}

}  // namespace tandem
