// Sums of arrays, element by element, with the same bits on every processor.
#ifndef TANDEM_BASE_SUMS_H_
#define TANDEM_BASE_SUMS_H_

#include <cstdint>

#include "base/bfloat16.h"
#include "base/dtype.h"

namespace tandem {

// A number in an array of bfloat16. It is computed with as a float32, and rounded when it is stored.
struct BFloat16 {
  explicit BFloat16(float x = 0) : bits(ToBFloat16Bits(x)) {}
  operator float() const { return FromBFloat16Bits(bits); }  // NOLINT

  uint16_t bits;
};

// Sets out[i] = a[i] + b[i] for i in [0, n). `out` may be `a` or `b`. Integers wrap around.
void AddArrays(float* out, const float* a, const float* b, int64_t n);
void AddArrays(double* out, const double* a, const double* b, int64_t n);
void AddArrays(int32_t* out, const int32_t* a, const int32_t* b, int64_t n);
void AddArrays(int64_t* out, const int64_t* a, const int64_t* b, int64_t n);
void AddArrays(BFloat16* out, const BFloat16* a, const BFloat16* b, int64_t n);

// Adds the n numbers of `b` to those of `a`. dtype: float32, float64, int32, int64 or bfloat16.
void AddTo(DType dtype, void* a, const void* b, int64_t n);

}  // namespace tandem

#endif  // TANDEM_BASE_SUMS_H_
