#include "data/files/number_type.h"

#include <algorithm>
#include <cstring>

#include "base/bfloat16.h"

namespace tandem {
namespace {

template <typename From, typename To>
void Widen(const uint8_t* from, int64_t count, void* to) {
  To* out = static_cast<To*>(to);
  for (int64_t i = 0; i < count; ++i) {
    From value;
    std::memcpy(&value, from + i * sizeof(From), sizeof(From));
    out[i] = static_cast<To>(value);
  }
}

void WidenBFloat16(const uint8_t* from, int64_t count, void* to) {
  float* out = static_cast<float*>(to);
  for (int64_t i = 0; i < count; ++i) {
    uint16_t bits;
    std::memcpy(&bits, from + i * sizeof bits, sizeof bits);
    out[i] = FromBFloat16Bits(bits);
  }
}

}  // namespace

DType TensorType(const NumberType& type) {
  switch (type.kind) {
    case NumberType::Kind::kFloat:
      return type.size == 8 ? DType::kFloat64 : DType::kFloat32;
    case NumberType::Kind::kBFloat16:
      return DType::kFloat32;
    case NumberType::Kind::kBool:
      return DType::kBool;
    case NumberType::Kind::kSigned:
      return type.size == 8 ? DType::kInt64 : DType::kInt32;
    case NumberType::Kind::kUnsigned:
      break;
  }
  return type.size == 1   ? DType::kUInt8
         : type.size == 2 ? DType::kInt32
         : type.size == 4 ? DType::kInt64
                          : DType::kInvalid;
}

void ConvertNumbers(const NumberType& type, void* bytes, int64_t count, void* to) {
  uint8_t* from = static_cast<uint8_t*>(bytes);
  if (type.big_endian) {
    for (int64_t i = 0; i < count; ++i) std::reverse(from + i * type.size, from + (i + 1) * type.size);
  }
  if (type.kind == NumberType::Kind::kBFloat16) {
    WidenBFloat16(from, count, to);
  } else if (SizeOf(TensorType(type)) == type.size) {
    if (count > 0) std::memmove(to, from, count * type.size);
  } else if (type.kind == NumberType::Kind::kFloat) {
    Widen<_Float16, float>(from, count, to);
  } else if (type.kind == NumberType::Kind::kSigned) {
    type.size == 1 ? Widen<int8_t, int32_t>(from, count, to) : Widen<int16_t, int32_t>(from, count, to);
  } else {
    type.size == 2 ? Widen<uint16_t, int32_t>(from, count, to) : Widen<uint32_t, int64_t>(from, count, to);
  }
}

}  // namespace tandem
