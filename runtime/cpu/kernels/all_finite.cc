#include "runtime/cpu/kernels/all_finite.h"

#include <cstring>

#include "base/target_clones.h"

namespace tandem {
namespace {

// True if no exponent is all ones, as those of NaN and infinity are.
template <typename Bits>
inline __attribute__((always_inline)) bool ExponentsFinite(const void* data, int64_t n, Bits mask) {
  const char* p = static_cast<const char*>(data);
  Bits bad = 0;
  for (int64_t i = 0; i < n; ++i) {
    Bits bits;
    std::memcpy(&bits, p + i * sizeof bits, sizeof bits);
    bad |= (bits & mask) == mask;
  }
  return bad == 0;
}

TD_CLONES bool AllFinite32(const void* data, int64_t n) { return ExponentsFinite<uint32_t>(data, n, 0x7f800000u); }
TD_CLONES bool AllFinite16(const void* data, int64_t n) { return ExponentsFinite<uint16_t>(data, n, 0x7f80u); }
TD_CLONES bool AllFinite64(const void* data, int64_t n) {
  return ExponentsFinite<uint64_t>(data, n, 0x7ff0000000000000ull);
}

}  // namespace

bool AllFinite(DType dtype, const void* data, int64_t n) {
  if (dtype == DType::kFloat32) return AllFinite32(data, n);
  if (dtype == DType::kBFloat16) return AllFinite16(data, n);
  if (dtype == DType::kFloat64) return AllFinite64(data, n);
  return true;
}

}  // namespace tandem
