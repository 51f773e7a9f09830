#include "base/host_tensor.h"

#include <new>
#include <utility>

namespace tandem {
namespace {
constexpr std::align_val_t kAlignment{64};
}  // namespace

HostTensor::HostTensor(DType dtype, Shape shape)
    : dtype_(dtype), shape_(std::move(shape)), num_elements_(NumElements(shape_)) {
  size_t bytes = static_cast<size_t>(byte_size());
  buffer_ = std::shared_ptr<uint8_t>(static_cast<uint8_t*>(::operator new(bytes == 0 ? 1 : bytes, kAlignment)),
                                     [](uint8_t* p) { ::operator delete(p, kAlignment); });
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
