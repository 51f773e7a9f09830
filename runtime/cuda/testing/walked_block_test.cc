// The order in which a block's threads run.
#include "runtime/cuda/testing/walked_block.h"

#include <cstdint>
#include <vector>

#include "gtest/gtest.h"

namespace tandem {
namespace {

constexpr uint32_t kThreads = 64;

// Whoever runs, in order; of kThreads that wait for each other, twice.
template <bool kMeets>
void Note(void** params) {
  auto& order = *static_cast<std::vector<uint32_t>*>(params[0]);
  order.push_back(WalkedBlock::Current()->thread());
  if (!kMeets) return;
  WalkedBlock::Current()->Meet(WalkedBlock::Wait::kBlock, 0, 0);
  order.push_back(WalkedBlock::Current()->thread());
}

std::vector<uint32_t> Order(bool meets, bool backwards) {
  std::vector<uint32_t> order;
  void* params[] = {&order};
  WalkedBlock block(meets ? Note<true> : Note<false>, kThreads, 0, meets, params);
  const absl::Status status = block.Run(0, backwards);
  EXPECT_TRUE(status.ok()) << status;
  return order;
}

TEST(WalkedBlockTest, RunsThreadsForwardsOrBackwards) {
  for (bool meets : {false, true}) {
    for (bool backwards : {false, true}) {
      std::vector<uint32_t> want;
      for (uint32_t i = 0; i < kThreads * (meets ? 2 : 1); ++i) {
        want.push_back(backwards ? kThreads - 1 - i % kThreads : i % kThreads);
      }
      EXPECT_EQ(Order(meets, backwards), want) << meets << backwards;
    }
  }
}

}  // namespace
}  // namespace tandem
