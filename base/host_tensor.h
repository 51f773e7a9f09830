// A dense tensor in host memory: what datasets yield, hooks fetch and checkpoints hold.
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
#include "base/dtype.h"
#include "base/source_location.h"

namespace tandem {

// A shared handle to a 64-byte aligned row-major buffer. Copies share the buffer (like std::shared_ptr); the writer
// must be the only holder. Thread-compatible.
//
// What is made of arguments that do not fit is an empty tensor whose status() says why. A dataset, a constant or a
// check of such a tensor gives that error.
//
// A tensor of strings (DType::kString) holds one offset of 64 bits for each string and one more, counted from the first
// byte behind the offsets, and then the bytes of all strings one after another. It is made with its contents.
class HostTensor {
 public:
  HostTensor() = default;
  // An uninitialised tensor; of strings, a tensor of empty ones. Every size in `shape` must be >= 0.
  HostTensor(DType dtype, Shape shape, SourceLocation location = SourceLocation::Current());

  static HostTensor Zeros(DType dtype, Shape shape, SourceLocation location = SourceLocation::Current());
  // `values` in row-major order, as many as `shape` has elements. T is one of DTypeOf's types.
  template <typename T>
  static HostTensor FromVector(Shape shape, const std::vector<T>& values,
                               SourceLocation location = SourceLocation::Current());
  template <typename T>
  static HostTensor Scalar(T value) {
    HostTensor t(DTypeOf<T>::value, {});
    *t.data<T>() = value;
    return t;
  }

  // A tensor of strings, in row-major order, as many as `shape` has elements. The bytes are copied.
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
  // Of all that raw() points to.
  int64_t byte_size() const { return dtype_ == DType::kString ? StringBytes() : num_elements_ * SizeOf(dtype_); }
  // Without type and elements: made by the default constructor or of arguments that do not fit. A tensor with a size
  // of 0 is not empty in this sense.
  bool empty() const { return dtype_ == DType::kInvalid; }
  // InvalidArgument, with the line that made it, for a tensor of arguments that do not fit; OK for all others.
  absl::Status status() const;

  void* raw() { return empty() ? nullptr : buffer_.get(); }
  const void* raw() const { return empty() ? nullptr : buffer_.get(); }
  // Null for an empty tensor. T must be the tensor's element type (a bool's bytes may be read as uint8_t). Where it is
  // not, or the tensor is one of arguments that do not fit, that is an error of the function of the user that asks
  // (CallUserCode) with `location`, or goes to the log; the pointer is then one to zeros, and what is written is lost.
  template <typename T>
  T* data(SourceLocation location = SourceLocation::Current()) {
    return static_cast<T*>(Holds(DTypeOf<T>::value) ? buffer_.get() : NoData(DTypeOf<T>::value, location));
  }
  template <typename T>
  const T* data(SourceLocation location = SourceLocation::Current()) const {
    return static_cast<const T*>(Holds(DTypeOf<T>::value) ? buffer_.get() : NoData(DTypeOf<T>::value, location));
  }
  // All elements; zeros where data() points to zeros.
  template <typename T>
  absl::Span<const T> values(SourceLocation location = SourceLocation::Current()) const {
    return {data<T>(location), static_cast<size_t>(num_elements_)};
  }

  // String number `i` in row-major order, 0 <= i < num_elements(); valid as long as a holder of the buffer. Empty when
  // the tensor is not one of strings.
  absl::string_view string(int64_t i = 0) const {
    if (dtype_ != DType::kString || i < 0 || i >= num_elements_) return {};
    const int64_t* offsets = Offsets();
    return {reinterpret_cast<const char*>(offsets + num_elements_ + 1) + offsets[i],
            static_cast<size_t>(offsets[i + 1] - offsets[i])};
  }

  // A deep copy.
  HostTensor Clone() const;
  // The same buffer under another shape with as many elements.
  HostTensor Reshaped(Shape shape, SourceLocation location = SourceLocation::Current()) const;
  // Same dtype, shape and bytes.
  bool BitEqual(const HostTensor& other) const;

 private:
  // The empty tensor whose status is that `function` was called at `location` with what `problem` says.
  static HostTensor Failed(absl::string_view function, absl::string_view problem, SourceLocation location);
  // Of FromVector: an uninitialised tensor for `count` values.
  static HostTensor ForValues(DType dtype, Shape shape, size_t count, SourceLocation location);
  bool Holds(DType asked) const { return asked == dtype_ || (asked == DType::kUInt8 && dtype_ == DType::kBool); }
  // For data() of a type that the tensor does not hold.
  void* NoData(DType asked, SourceLocation location) const;
  // Of a tensor of strings.
  const int64_t* Offsets() const { return reinterpret_cast<const int64_t*>(buffer_.get()); }
  int64_t StringBytes() const {
    return (num_elements_ + 1) * static_cast<int64_t>(sizeof(int64_t)) + Offsets()[num_elements_];
  }
  // A tensor of strings with room for `bytes` bytes, whose offsets are not set.
  static HostTensor WithStringBytes(Shape shape, int64_t bytes, SourceLocation location);

  DType dtype_ = DType::kInvalid;
  Shape shape_;
  int64_t num_elements_ = 0;
  std::shared_ptr<uint8_t> buffer_;  // of an empty tensor: the text of its error, or null
};

template <typename T>
HostTensor HostTensor::FromVector(Shape shape, const std::vector<T>& values, SourceLocation location) {
  HostTensor t = ForValues(DTypeOf<T>::value, std::move(shape), values.size(), location);
  if (!t.empty()) std::copy(values.begin(), values.end(), t.data<T>());
  return t;
}

}  // namespace tandem

#endif  // TANDEM_BASE_HOST_TENSOR_H_
