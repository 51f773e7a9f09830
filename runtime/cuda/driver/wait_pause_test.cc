#include "runtime/cuda/driver/wait_pause.h"

#include "gtest/gtest.h"

namespace tandem {
namespace {

TEST(WaitPauseTest, SpinsAtFirst) {
  EXPECT_EQ(WaitPause(absl::ZeroDuration()), absl::ZeroDuration());
  EXPECT_EQ(WaitPause(absl::Microseconds(4999)), absl::ZeroDuration());
  EXPECT_EQ(WaitPause(absl::Milliseconds(5)), absl::Microseconds(20));
  EXPECT_EQ(WaitPause(absl::Milliseconds(100)), absl::Microseconds(100));
  EXPECT_EQ(WaitPause(absl::Seconds(600)), absl::Milliseconds(1));
}

}  // namespace
}  // namespace tandem
