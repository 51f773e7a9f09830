#include "runtime/cpu/all_finite.h"

#include <cstring>

namespace tandem {
namespace {

// Finite numbers have an exponent that is not all ones.
template <typename Bits>
bool ExponentsFinite(const void* data, int64_t n, Bits mask) {
  const char* p = static_cast<const char*>(data);
  Bits bad = 0;
  for (int64_t i = 0; i < n; ++i) {
    Bits bits;
    std::memcpy(&bits, p + i * sizeof bits, sizeof bits);
    bad |= (bits & mask) == mask;
  }
  return bad == 0;
}

}  // namespace

bool AllFinite(DType dtype, const void* data, int64_t n) {
  if (dtype == DType::kFloat32) return ExponentsFinite<uint32_t>(data, n, 0x7f800000u);
  if (dtype == DType::kBFloat16) return ExponentsFinite<uint16_t>(data, n, 0x7f80u);
  if (dtype == DType::kFloat64) return ExponentsFinite<uint64_t>(data, n, 0x7ff0000000000000ull);
  return true;
}

}  // namespace tandem
