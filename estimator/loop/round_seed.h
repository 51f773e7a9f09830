// SeedOfRound: the seed for random numbers in evaluations and predictions.
#ifndef TANDEM_ESTIMATOR_LOOP_ROUND_SEED_H_
#define TANDEM_ESTIMATOR_LOOP_ROUND_SEED_H_

#include <array>
#include <cstdint>

#include "base/fingerprint.h"

namespace tandem {

// Returns the seed of a step outside of training; `round` is the step's number. Random numbers follow from the seed and
// the global step, which does not change there, so the seed must differ from step to step.
inline int64_t SeedOfRound(int64_t seed, int64_t round) {
  if (round == 0) return seed;
  const std::array<int64_t, 2> key = {seed, round};
  return static_cast<int64_t>(Fingerprint64({reinterpret_cast<const char*>(key.data()), sizeof(key)}));
}

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_LOOP_ROUND_SEED_H_
