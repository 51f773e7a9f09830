// Sizes and offsets at multiples of an alignment.
#ifndef TANDEM_BASE_ALIGN_H_
#define TANDEM_BASE_ALIGN_H_

#include <type_traits>

namespace tandem {

// Returns the smallest multiple of `to` > 0 that is not below n >= 0.
template <typename Int>
constexpr Int AlignUp(Int n, std::type_identity_t<Int> to) {
  return (n + to - 1) / to * to;
}

}  // namespace tandem

#endif  // TANDEM_BASE_ALIGN_H_
