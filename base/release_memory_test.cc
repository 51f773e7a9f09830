#include "base/release_memory.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "base/sanitizers.h"

namespace tandem {
namespace {

int64_t ResidentBytes() {
  int64_t pages = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  return resident * 4096;
}

TEST(ReleaseMemory, CodeOfALibraryGoesAndComesBack) {
  const std::string before = std::to_string(std::sin(1.0)) + std::to_string(std::strtod("2.5", nullptr));
  EXPECT_GT(ReleaseLibraryPages({"libstdc++", "libm."}), 100 << 10);
  EXPECT_EQ(std::to_string(std::sin(1.0)) + std::to_string(std::strtod("2.5", nullptr)), before);
  EXPECT_THROW(std::vector<int>().at(1), std::exception);  // unwinding reads constants of both
  EXPECT_EQ(ReleaseLibraryPages({"libnothing"}), 0);
}

TEST(ReleaseMemory, CodeOfTheProgramGoesAndComesBack) {
  const int64_t program = ReleaseLibraryPages({kOwnObject});
  EXPECT_GT(program, 4096);
  EXPECT_EQ(ReleaseLibraryPages({kOwnObject, "libnothing"}), program);  // the program alone, not every library
}

TEST(ReleaseMemory, FreedMemoryGoesBack) {
  if (kAddressSanitizer || kThreadSanitizer) GTEST_SKIP() << "the sanitizer's malloc keeps what is freed";
  constexpr int kPieces = 4000;
  std::vector<void*> pieces;
  for (int i = 0; i < kPieces; ++i) {
    pieces.push_back(std::malloc(16 << 10));
    for (int k = 0; k < 16 << 10; k += 4096) static_cast<char*>(pieces.back())[k] = 1;
  }
  void* last = std::malloc(16 << 10);  // keeps the end of the heap
  const int64_t full = ResidentBytes();
  for (void* p : pieces) std::free(p);
  ReleaseFreedMemory();
  EXPECT_LT(ResidentBytes(), full - kPieces * (8 << 10));
  std::free(last);
}

}  // namespace
}  // namespace tandem
