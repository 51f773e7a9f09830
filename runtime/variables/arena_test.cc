#include "runtime/variables/arena.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "absl/strings/match.h"
#include "gtest/gtest.h"

namespace tandem {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

TEST(ArenaTest, GivesZeroedMemoryOfEverySize) {
  for (uint64_t bytes : {uint64_t{0}, uint64_t{1}, 4096 * uint64_t{3}, kMiB - 1, kMiB, 2 * kMiB + 5, 3 * kMiB}) {
    absl::StatusOr<Arena> arena = Arena::Create(bytes, "a test");
    ASSERT_TRUE(arena.ok()) << arena.status();
    EXPECT_GE(arena->bytes(), bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(arena->data()) % 4096, 0) << bytes;
    EXPECT_EQ(std::count(arena->data(), arena->data() + bytes, 0), static_cast<int64_t>(bytes));
    std::fill(arena->data(), arena->data() + bytes, uint8_t{1});
    Arena moved = *std::move(arena);
    EXPECT_EQ(std::count(moved.data(), moved.data() + bytes, 1), static_cast<int64_t>(bytes));
  }
}

TEST(ArenaTest, BeginsAtAHugePageWhereItFillsHalfOfOne) {
  for (uint64_t bytes : {kMiB, 2 * kMiB - 1, 2 * kMiB, 2 * kMiB + 1, 7 * kMiB}) {
    absl::StatusOr<Arena> arena = Arena::Create(bytes, "a test");
    ASSERT_TRUE(arena.ok()) << arena.status();
    EXPECT_EQ(reinterpret_cast<uintptr_t>(arena->data()) % (2 * kMiB), 0) << bytes;
  }
}

TEST(ArenaTest, RefusesWhatTheSystemHasNot) {
  for (uint64_t bytes : {uint64_t{1} << 60, uint64_t{1} << 63, std::numeric_limits<uint64_t>::max()}) {
    absl::StatusOr<Arena> arena = Arena::Create(bytes, "images");
    EXPECT_EQ(arena.status().code(), absl::StatusCode::kResourceExhausted);
    EXPECT_TRUE(absl::StrContains(arena.status().message(), "bytes for images")) << arena.status();
  }
}

}  // namespace
}  // namespace tandem
