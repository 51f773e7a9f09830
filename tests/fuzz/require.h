// What must hold for every input of a fuzz target; else the input is a finding.
#ifndef TANDEM_TESTS_FUZZ_REQUIRE_H_
#define TANDEM_TESTS_FUZZ_REQUIRE_H_

#include <cstdio>
#include <cstdlib>
#include <string>

namespace tandem::fuzz {

inline void Require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

// Two ways to one result.
inline void RequireEqual(const std::string& a, const std::string& b, const char* what) {
  if (a != b) std::fprintf(stderr, "the first gives\n%.2000s\nthe second\n%.2000s\n", a.c_str(), b.c_str());
  Require(a == b, what);
}

}  // namespace tandem::fuzz

#endif  // TANDEM_TESTS_FUZZ_REQUIRE_H_
