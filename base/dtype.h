// Element types and shapes of tensors.
#ifndef TANDEM_BASE_DTYPE_H_
#define TANDEM_BASE_DTYPE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tandem/base/api.h"

namespace TANDEM_API tandem {

// The numbers are stored in executables: append, never renumber. kBFloat16 is the upper half of a float32: the compiler
// makes such values (RunConfig.precision), tensors of users never have this type. kString is a byte string of any
// length: datasets have such values, programs never compute with them.
enum class DType : int8_t {
  kInvalid = 0,
  kFloat32 = 1,
  kFloat64 = 2,
  kInt32 = 3,
  kInt64 = 4,
  kUInt8 = 5,
  kBool = 6,
  kBFloat16 = 7,
  kString = 8
};

// Bytes of one element; 0 for kInvalid, and for kString, whose elements have different sizes. A bool takes one byte.
int64_t SizeOf(DType dtype);
// Returns "float32", "int64", "bool", ...
absl::string_view Name(DType dtype);
// Returns the type's name in C++: "float", "int64_t", "bool", "std::string"; the same as Name for types that tensors of
// users never have.
absl::string_view CppName(DType dtype);
// The inverse of Name for types that programs can have; kInvalid for other names.
DType DTypeFromName(absl::string_view name);

// DTypeOf<T>::value is the DType of a C++ type: float, double, int32_t, int64_t, uint8_t or bool.
template <typename T>
struct DTypeOf;
template <>
struct DTypeOf<float> {
  static constexpr DType value = DType::kFloat32;
};
template <>
struct DTypeOf<double> {
  static constexpr DType value = DType::kFloat64;
};
template <>
struct DTypeOf<int32_t> {
  static constexpr DType value = DType::kInt32;
};
template <>
struct DTypeOf<int64_t> {
  static constexpr DType value = DType::kInt64;
};
template <>
struct DTypeOf<uint8_t> {
  static constexpr DType value = DType::kUInt8;
};
template <>
struct DTypeOf<bool> {
  static constexpr DType value = DType::kBool;
};

// Sizes by dimension, outermost first.
using Shape = std::vector<int64_t>;

// The symbolic batch `b`: only ever dimension 0 of a shape in a graph, never in a HostTensor.
inline constexpr int64_t kBatch = -1;

// Product of all sizes; 1 for a scalar. The shape must be static.
int64_t NumElements(absl::Span<const int64_t> shape);
// Returns a shape as text: "[b,28,28,1]", "[]".
std::string ShapeString(absl::Span<const int64_t> shape);

}  // namespace tandem

#endif  // TANDEM_BASE_DTYPE_H_
