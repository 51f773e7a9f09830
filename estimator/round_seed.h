// The random numbers of rounds outside of training.
#ifndef TANDEM_ESTIMATOR_ROUND_SEED_H_
#define TANDEM_ESTIMATOR_ROUND_SEED_H_

#include <array>
#include <cstdint>

#include "base/fingerprint.h"

namespace tandem {

// The seed of a round outside of training, where the global step stands still: random numbers must not repeat in every
// batch.
inline int64_t SeedOfRound(int64_t seed, int64_t round) {
  if (round == 0) return seed;
  const std::array<int64_t, 2> key = {seed, round};
  return static_cast<int64_t>(Fingerprint64({reinterpret_cast<const char*>(key.data()), sizeof(key)}));
}

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_ROUND_SEED_H_
