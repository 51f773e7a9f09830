// A dense tensor in host memory: used by datasets, hooks that fetch values, and checkpoints.
#ifndef TANDEM_BASE_HOST_TENSOR_H_
#define TANDEM_BASE_HOST_TENSOR_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tandem/base/api.h"
#include "tandem/base/dtype.h"
#include "tandem/base/source_location.h"

namespace TANDEM_API tandem {

// A shared handle to a 64-byte aligned row-major buffer. Copies share the buffer (like std::shared_ptr); only a sole
// holder may write. Thread-compatible.
//
// Invalid arguments, such as a wrong number of values, make an empty tensor whose status() says why. A dataset, a
// constant or a check that uses such a tensor returns that error.
//
// A tensor of strings (DType::kString) stores 64-bit offsets, one for each string and one more, counted from the first
// byte after the offsets; then the bytes of all strings, one after another. Its contents are set at creation.
class HostTensor {
 public:
  HostTensor() = default;
  // An uninitialised tensor; for strings, a tensor of empty strings. Every size in `shape` must be >= 0.
  HostTensor(DType dtype, Shape shape, SourceLocation location = SourceLocation::Current());

  // A tensor of zeros, false or empty strings.
  static HostTensor Zeros(DType dtype, Shape shape, SourceLocation location = SourceLocation::Current());
  // Makes a tensor from `values` in row-major order, as many as `shape` has elements. T is one of DTypeOf's types.
  template <typename T>
  static HostTensor FromVector(Shape shape, const std::vector<T>& values,
                               SourceLocation location = SourceLocation::Current());
  // A tensor of shape {} with this value.
  template <typename T>
  static HostTensor Scalar(T value) {
    HostTensor t(DTypeOf<T>::value, {});
    *t.data<T>() = value;
    return t;
  }

  // Makes a tensor of strings, given in row-major order, as many as `shape` has elements. The bytes are copied.
  static HostTensor FromStrings(Shape shape, absl::Span<const absl::string_view> strings,
                                SourceLocation location = SourceLocation::Current());
  static HostTensor FromStrings(Shape shape, const std::vector<std::string>& strings,
                                SourceLocation location = SourceLocation::Current());
  // A scalar string.
  static HostTensor String(absl::string_view bytes) { return FromStrings({}, absl::MakeConstSpan(&bytes, 1)); }

  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  int rank() const { return static_cast<int>(shape_.size()); }
  int64_t num_elements() const { return num_elements_; }
  // Number of bytes at raw().
  int64_t byte_size() const { return dtype_ == DType::kString ? StringBytes() : num_elements_ * SizeOf(dtype_); }
  // True for a tensor without type and elements: default-constructed, or made from invalid arguments. A tensor with a
  // size of 0 is not empty in this sense.
  bool empty() const { return dtype_ == DType::kInvalid; }
  // InvalidArgument, with the source line, for a tensor made from invalid arguments; OK for all others.
  absl::Status status() const;

  // The first byte of the buffer; null for an empty tensor.
  void* raw() { return empty() ? nullptr : buffer_.get(); }
  const void* raw() const { return empty() ? nullptr : buffer_.get(); }
  // Returns null for a default-constructed tensor. T must be the tensor's element type (a bool's bytes may be read as
  // uint8_t). If it is not, or if the tensor was made from invalid arguments, that is an error with `location`. It
  // becomes an error of the user's function that calls data() (CallUserCode); outside of such a function it is logged.
  // The pointer then points to zeros, and what is written there is lost.
  template <typename T>
  T* data(SourceLocation location = SourceLocation::Current()) {
    return static_cast<T*>(Holds(DTypeOf<T>::value) ? buffer_.get() : NoData(DTypeOf<T>::value, location));
  }
  template <typename T>
  const T* data(SourceLocation location = SourceLocation::Current()) const {
    return static_cast<const T*>(Holds(DTypeOf<T>::value) ? buffer_.get() : NoData(DTypeOf<T>::value, location));
  }
  // Returns all elements; zeros if T is not the tensor's element type, which is an error as for data().
  template <typename T>
  absl::Span<const T> values(SourceLocation location = SourceLocation::Current()) const {
    return {data<T>(location), static_cast<size_t>(num_elements_)};
  }

  // String number `i` in row-major order, 0 <= i < num_elements(); valid as long as the buffer has a holder. Empty if
  // the tensor is not of strings.
  absl::string_view string(int64_t i = 0) const {
    if (dtype_ != DType::kString || i < 0 || i >= num_elements_) return {};
    const int64_t* offsets = Offsets();
    return {reinterpret_cast<const char*>(offsets + num_elements_ + 1) + offsets[i],
            static_cast<size_t>(offsets[i + 1] - offsets[i])};
  }

  // Returns a deep copy.
  HostTensor Clone() const;
  // Returns a tensor that shares the buffer and has another shape with as many elements.
  HostTensor Reshaped(Shape shape, SourceLocation location = SourceLocation::Current()) const;
  // True if dtype, shape and bytes are the same.
  bool BitEqual(const HostTensor& other) const;

 private:
  // Returns an empty tensor whose status says that `function` was called at `location` with the given `problem`.
  static HostTensor Failed(absl::string_view function, absl::string_view problem, SourceLocation location);
  // For FromVector: returns an uninitialised tensor for `count` values.
  static HostTensor ForValues(DType dtype, Shape shape, size_t count, SourceLocation location);
  bool Holds(DType asked) const { return asked == dtype_ || (asked == DType::kUInt8 && dtype_ == DType::kBool); }
  // Implements data() for a type that is not the tensor's element type.
  void* NoData(DType asked, SourceLocation location) const;
  // Returns the offsets that a tensor of strings begins with.
  const int64_t* Offsets() const { return reinterpret_cast<const int64_t*>(buffer_.get()); }
  int64_t StringBytes() const {
    return (num_elements_ + 1) * static_cast<int64_t>(sizeof(int64_t)) + Offsets()[num_elements_];
  }
  // Returns a tensor of strings with room for `bytes` bytes; the offsets are not set.
  static HostTensor WithStringBytes(Shape shape, int64_t bytes, SourceLocation location);

  DType dtype_ = DType::kInvalid;
  Shape shape_;
  int64_t num_elements_ = 0;
  std::shared_ptr<uint8_t> buffer_;  // the elements; for an empty tensor the text of its error, or null
};

template <typename T>
HostTensor HostTensor::FromVector(Shape shape, const std::vector<T>& values, SourceLocation location) {
  HostTensor t = ForValues(DTypeOf<T>::value, std::move(shape), values.size(), location);
  if (!t.empty()) std::copy(values.begin(), values.end(), t.data<T>());
  return t;
}

}  // namespace tandem

#endif  // TANDEM_BASE_HOST_TENSOR_H_
