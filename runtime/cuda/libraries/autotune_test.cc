// SelectFastest on calls whose candidates take a known time of the fake driver's: each piece of work is 1/1024 ms.
#include "runtime/cuda/libraries/autotune.h"

#include <cmath>
#include <cstring>
#include <string>

#include "absl/strings/str_join.h"
#include "base/bfloat16.h"
#include "gtest/gtest.h"
#include "runtime/cuda/testing/fake_driver.h"

namespace tandem {
namespace {

// Candidate c is work[c] pieces of work.
class Call : public TunableCall {
 public:
  explicit Call(std::vector<int> work) : work_(std::move(work)), enqueued(work_.size()) {}

  uint64_t workspace_bytes() const override { return 16; }
  const std::string& implementation() const override { return name_; }
  int candidates() const override { return static_cast<int>(work_.size()); }
  void Select(int candidate) override { selected = candidate; }
  std::string CandidateName(int candidate) const override { return std::to_string(candidate); }
  absl::Status Enqueue(absl::Span<const CUdeviceptr> inputs, absl::Span<const CUdeviceptr>, CUdeviceptr,
                       CUstream stream) override {
    ++enqueued[selected];
    if (selected == fails) return absl::InternalError("this candidate fails");
    for (int i = 0; i < work_[selected]; ++i) {
      FakeDriver::current()->Enqueue(stream, "work", {}, [this, input = inputs[0]] {
        if (seen.empty()) seen.assign(reinterpret_cast<uint16_t*>(input), reinterpret_cast<uint16_t*>(input) + kSeen);
      });
    }
    return absl::OkStatus();
  }

  static constexpr int kSeen = 200000;

 private:
  std::vector<int> work_;
  std::string name_ = "call";

 public:
  std::vector<int> enqueued;  // how often each candidate was
  int selected = 0, fails = -1;
  std::vector<uint16_t> seen;  // of the first input
};

class AutotuneTest : public ::testing::Test {
 protected:
  AutotuneTest() {
    EXPECT_EQ(fake.api().cuDevicePrimaryCtxRetain(&context, 0), 0);
    EXPECT_EQ(fake.api().cuCtxSetCurrent(context), 0);
  }
  ~AutotuneTest() override {
    EXPECT_EQ(fake.AllocatedBytes(0), 0u);
    fake.api().cuDevicePrimaryCtxRelease_v2(0);
    EXPECT_EQ(absl::StrJoin(fake.TakeViolations(), "; "), "");
  }
  absl::StatusOr<int> Fastest(Call& call, float most_milliseconds = kMostTuningMilliseconds) {
    return SelectFastest(fake.api(), call, {2 * Call::kSeen}, {64}, most_milliseconds);
  }

  FakeDriver fake;
  CUcontext context = nullptr;
};

// Once to load it, once alone, and three rounds of four.
constexpr int kMeasured = 14;

TEST_F(AutotuneTest, TheFastestIsSelected) {
  Call call({4, 3, 3, 5});
  absl::StatusOr<int> best = Fastest(call);
  ASSERT_TRUE(best.ok()) << best.status();
  EXPECT_EQ(*best, 1);  // of two that are equal, the one that the library prefers
  EXPECT_EQ(call.selected, 1);
  EXPECT_EQ(call.enqueued, (std::vector<int>{kMeasured, kMeasured, kMeasured, 2}));
}

TEST_F(AutotuneTest, TheHopelessAreNotMeasured) {
  Call call({10, 16, 15, 1000});  // more than one and a half times as long
  absl::StatusOr<int> best = Fastest(call);
  ASSERT_TRUE(best.ok()) << best.status();
  EXPECT_EQ(*best, 0);
  EXPECT_EQ(call.enqueued, (std::vector<int>{kMeasured, 2, kMeasured, 2}));
}

// Thirteen timed calls of 100 pieces are more than a millisecond: then the rest are left out, but never all.
TEST_F(AutotuneTest, TimeIsLimited) {
  Call call({100, 100, 1});
  absl::StatusOr<int> best = Fastest(call, 1);
  ASSERT_TRUE(best.ok()) << best.status();
  EXPECT_EQ(*best, 0);
  EXPECT_EQ(call.enqueued, (std::vector<int>{kMeasured, 0, 0}));
  Call more({100, 100, 1});
  best = Fastest(more, 2);
  ASSERT_TRUE(best.ok()) << best.status();
  EXPECT_EQ(more.enqueued, (std::vector<int>{kMeasured, kMeasured, 0}));
}

TEST_F(AutotuneTest, ACandidateThatFailsIsPassedOver) {
  Call call({1, 2});
  call.fails = 0;
  absl::StatusOr<int> best = Fastest(call);
  ASSERT_TRUE(best.ok()) << best.status();
  EXPECT_EQ(*best, 1);
}

TEST_F(AutotuneTest, OperandsAreRandomNumbers) {
  Call call({1, 1});
  ASSERT_TRUE(Fastest(call).ok());
  ASSERT_EQ(call.seen.size(), static_cast<size_t>(Call::kSeen));
  double sum = 0, squares = 0;
  for (int i = 0; i < Call::kSeen; ++i) {
    const float x = FromBFloat16Bits(call.seen[i]);
    ASSERT_LE(std::fabs(x), 1);
    sum += x;
    squares += x * x;
  }
  EXPECT_NEAR(sum / Call::kSeen, 0, 0.01);
  EXPECT_NEAR(squares / Call::kSeen, 1.0 / 3, 0.01);
  for (int i = 0; i + 1 < Call::kSeen; i += 2) {
    float pair = 0;
    std::memcpy(&pair, &call.seen[i], sizeof pair);
    ASSERT_LE(std::fabs(pair), 1.01);
  }
}

}  // namespace
}  // namespace tandem
