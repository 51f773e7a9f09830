// Types of numbers in files, and their conversion to tensors.
#ifndef TANDEM_DATA_FILES_NUMBER_TYPE_H_
#define TANDEM_DATA_FILES_NUMBER_TYPE_H_

#include <cstdint>

#include "base/dtype.h"

namespace tandem {

struct NumberType {
  enum class Kind : uint8_t { kSigned, kUnsigned, kFloat, kBFloat16, kBool };

  Kind kind = Kind::kFloat;
  int64_t size = 4;  // in bytes: 1, 2, 4 or 8; for floats 2, 4 or 8, for bfloat16 2, for bools 1
  bool big_endian = false;
};

// Returns the type of a tensor that holds such numbers: float32, float64, int32, int64, uint8 and bool stay; int8,
// int16 and uint16 become int32, uint32 becomes int64, float16 and bfloat16 become float32. kInvalid for uint64, which
// no tensor holds.
DType TensorType(const NumberType& type);

// Converts `count` numbers of a file to those of a tensor of TensorType(type), which must be valid. Changes `bytes` to
// this machine's byte order; `to` may be the same memory if both sizes are equal.
void ConvertNumbers(const NumberType& type, void* bytes, int64_t count, void* to);

}  // namespace tandem

#endif  // TANDEM_DATA_FILES_NUMBER_TYPE_H_
