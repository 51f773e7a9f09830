#include "base/host_tensor.h"

#include <sys/mman.h>

#include <new>
#include <utility>

namespace tandem {
namespace {

constexpr std::align_val_t kAlignment{64};

// Buffers from this size on get pages of their own. Batches are made in one thread and freed in another; from malloc
// they would come out of heaps that grow and are not given back (27 MiB in a training run with batches of 1.6 MB).
constexpr size_t kMapBytes = 1 << 20;

std::shared_ptr<uint8_t> Allocate(size_t bytes) {
  if (bytes >= kMapBytes) {
    void* pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages != MAP_FAILED) {
      return std::shared_ptr<uint8_t>(static_cast<uint8_t*>(pages), [bytes](uint8_t* p) { munmap(p, bytes); });
    }
  }
  return std::shared_ptr<uint8_t>(static_cast<uint8_t*>(::operator new(bytes == 0 ? 1 : bytes, kAlignment)),
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
