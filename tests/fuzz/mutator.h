// Changes bytes, the same way for the same seed.
#ifndef TANDEM_TESTS_FUZZ_MUTATOR_H_
#define TANDEM_TESTS_FUZZ_MUTATOR_H_

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace tandem::fuzz {

class Mutator {
 public:
  explicit Mutator(uint64_t seed) : random_(seed) {}

  // One to six changes of `input`: flipped bits, other bytes and numbers, pieces taken out, doubled, moved, or taken
  // from `other`. At most `max_bytes` long.
  std::string Mutate(std::string input, const std::string& other, size_t max_bytes);
  // Below `n`, which is positive.
  size_t Below(size_t n) { return random_() % n; }

 private:
  void Change(std::string& bytes, const std::string& other);

  std::mt19937_64 random_;
};

}  // namespace tandem::fuzz

#endif  // TANDEM_TESTS_FUZZ_MUTATOR_H_
