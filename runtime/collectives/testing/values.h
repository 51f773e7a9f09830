// Values that every rank can compute for all ranks: hashes of rank and index, of widely differing magnitude.
#ifndef TANDEM_RUNTIME_COLLECTIVES_TESTING_VALUES_H_
#define TANDEM_RUNTIME_COLLECTIVES_TESTING_VALUES_H_

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "absl/types/span.h"
#include "base/dtype.h"
#include "runtime/collectives/reduction_tree.h"

namespace tandem {

// `special`: some are infinite or NaN.
template <typename T>
T TestValue(uint64_t salt, int rank, uint64_t i, bool special) {
  uint64_t h = (i + 1) * 0x9E3779B97F4A7C15u ^ (salt * 64 + rank + 1) * 0xBF58476D1CE4E5B9u;
  h = (h ^ h >> 30) * 0x94D049BB133111EBu;
  h ^= h >> 29;
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(h);
  } else {
    if (h % 61 == 0) return T(-0.0);
    if (special && h % 61 == 1) return std::numeric_limits<T>::quiet_NaN();
    if (special && h % 61 == 2)
      return h & 64 ? std::numeric_limits<T>::infinity() : -std::numeric_limits<T>::infinity();
    const T magnitude = static_cast<T>(uint64_t{1} << (h >> 8 & 31));
    return static_cast<T>(static_cast<int32_t>(h >> 32)) * magnitude;
  }
}

template <typename T>
std::vector<T> TestVector(uint64_t salt, int rank, int64_t count, bool special = false) {
  std::vector<T> values(count);
  for (int64_t i = 0; i < count; ++i) values[i] = TestValue<T>(salt, rank, i, special);
  return values;
}

// Returns the correct result of an all-reduce: TreeReduce over the TestVectors of the ranks present.
template <typename T>
std::vector<T> ReducedTestVector(uint64_t salt, format::ReduceKind kind, absl::Span<const bool> present, int64_t count,
                                 bool special = false) {
  std::vector<std::vector<T>> all(present.size());
  std::vector<const void*> leaves(present.size());
  for (int r = 0; r < static_cast<int>(present.size()); ++r) {
    if (!present[r]) continue;
    all[r] = TestVector<T>(salt, r, count, special);
    leaves[r] = all[r].data();
  }
  std::vector<T> out(count);
  TreeReduce(kind, DTypeOf<T>::value, leaves, out.data(), count);
  return out;
}

}  // namespace tandem

#endif  // TANDEM_RUNTIME_COLLECTIVES_TESTING_VALUES_H_
