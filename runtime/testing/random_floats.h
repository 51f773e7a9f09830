#ifndef TANDEM_RUNTIME_TESTING_RANDOM_FLOATS_H_
#define TANDEM_RUNTIME_TESTING_RANDOM_FLOATS_H_

#include <cstdint>
#include <random>
#include <vector>

namespace tandem {

// Returns numbers that are uniform in [-1, 1), the same for the same seed.
inline std::vector<float> RandomFloats(int64_t n, uint32_t seed) {
  std::mt19937 rng(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> v(n);
  for (float& x : v) x = uniform(rng);
  return v;
}

}  // namespace tandem

#endif  // TANDEM_RUNTIME_TESTING_RANDOM_FLOATS_H_
