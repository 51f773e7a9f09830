// A dense tensor in host memory: what datasets yield, hooks fetch and checkpoints hold.
#ifndef TANDEM_BASE_HOST_TENSOR_H_
#define TANDEM_BASE_HOST_TENSOR_H_

#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "base/dtype.h"

namespace tandem {

// A shared handle to a 64-byte aligned row-major buffer. Copies share the buffer (like std::shared_ptr); the writer
// must be the only holder. Thread-compatible.
class HostTensor {
 public:
  HostTensor() = default;
  // An uninitialised tensor. Every size in `shape` must be >= 0.
  HostTensor(DType dtype, Shape shape);

  static HostTensor Zeros(DType dtype, Shape shape);
  // `values` in row-major order, as many as `shape` has elements. T is one of DTypeOf's types, without bool.
  template <typename T>
  static HostTensor FromVector(Shape shape, const std::vector<T>& values);
  template <typename T>
  static HostTensor Scalar(T value) {
    HostTensor t(DTypeOf<T>::value, {});
    *t.data<T>() = value;
    return t;
  }

  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  int rank() const { return static_cast<int>(shape_.size()); }
  int64_t num_elements() const { return num_elements_; }
  int64_t byte_size() const { return num_elements_ * SizeOf(dtype_); }
  // Made by the default constructor: no type, no elements. A tensor with a size of 0 is not empty in this sense.
  bool empty() const { return dtype_ == DType::kInvalid; }

  void* raw() { return buffer_.get(); }
  const void* raw() const { return buffer_.get(); }
  // T must be the tensor's element type.
  template <typename T>
  T* data() {
    return reinterpret_cast<T*>(buffer_.get());
  }
  template <typename T>
  const T* data() const {
    return reinterpret_cast<const T*>(buffer_.get());
  }
  template <typename T>
  absl::Span<const T> values() const {
    return {data<T>(), static_cast<size_t>(num_elements_)};
  }

  // A deep copy.
  HostTensor Clone() const;
  // The same buffer under another shape with as many elements.
  HostTensor Reshaped(Shape shape) const;
  // Same dtype, shape and bytes.
  bool BitEqual(const HostTensor& other) const;

 private:
  DType dtype_ = DType::kInvalid;
  Shape shape_;
  int64_t num_elements_ = 0;
  std::shared_ptr<uint8_t> buffer_;
};

template <typename T>
HostTensor HostTensor::FromVector(Shape shape, const std::vector<T>& values) {
  HostTensor t(DTypeOf<T>::value, std::move(shape));
  for (int64_t i = 0; i < t.num_elements(); ++i) t.data<T>()[i] = values[i];
  return t;
}

}  // namespace tandem

#endif  // TANDEM_BASE_HOST_TENSOR_H_
