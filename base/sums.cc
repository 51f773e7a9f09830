#include "base/sums.h"

#include "base/target_clones.h"

namespace tandem {
namespace {

// Compiled with -ffp-contract=off: all clones give the same bits.
TD_CLONES void Add(float* out, const float* a, const float* b, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = a[i] + b[i];
}
TD_CLONES void Add(double* out, const double* a, const double* b, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = a[i] + b[i];
}
// The type is unsigned, because signed overflow is undefined and unsigned overflow wraps.
TD_CLONES void Add(uint32_t* out, const uint32_t* a, const uint32_t* b, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = a[i] + b[i];
}
TD_CLONES void Add(uint64_t* out, const uint64_t* a, const uint64_t* b, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = a[i] + b[i];
}
TD_CLONES void Add(BFloat16* out, const BFloat16* a, const BFloat16* b, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = BFloat16(a[i] + b[i]);
}

template <typename T>
void AddToArray(void* a, const void* b, int64_t n) {
  AddArrays(static_cast<T*>(a), static_cast<const T*>(a), static_cast<const T*>(b), n);
}

}  // namespace

void AddArrays(float* out, const float* a, const float* b, int64_t n) { Add(out, a, b, n); }
void AddArrays(double* out, const double* a, const double* b, int64_t n) { Add(out, a, b, n); }
void AddArrays(int32_t* out, const int32_t* a, const int32_t* b, int64_t n) {
  Add(reinterpret_cast<uint32_t*>(out), reinterpret_cast<const uint32_t*>(a), reinterpret_cast<const uint32_t*>(b), n);
}
void AddArrays(int64_t* out, const int64_t* a, const int64_t* b, int64_t n) {
  Add(reinterpret_cast<uint64_t*>(out), reinterpret_cast<const uint64_t*>(a), reinterpret_cast<const uint64_t*>(b), n);
}
void AddArrays(BFloat16* out, const BFloat16* a, const BFloat16* b, int64_t n) { Add(out, a, b, n); }

void AddTo(DType dtype, void* a, const void* b, int64_t n) {
  switch (dtype) {
    case DType::kFloat32:
      return AddToArray<float>(a, b, n);
    case DType::kFloat64:
      return AddToArray<double>(a, b, n);
    case DType::kBFloat16:
      return AddToArray<BFloat16>(a, b, n);
    case DType::kInt32:
      return AddToArray<int32_t>(a, b, n);
    case DType::kInt64:
      return AddToArray<int64_t>(a, b, n);
    default:
      return;  // the loader refuses executables with such types
  }
}

}  // namespace tandem
