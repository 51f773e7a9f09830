#include "runtime/collectives/reduction_tree.h"
#include "runtime/format/index.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <random>
#include <vector>

#include "base/bfloat16.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tandem {
namespace {

using ::testing::ElementsAre;
using ::testing::IsNan;

// The definition, one element at a time.
std::optional<float> Naive(format::ReduceKind kind, const std::vector<const float*>& leaves, size_t first, size_t size,
                           int i) {
  if (first >= leaves.size()) return std::nullopt;
  if (size == 1) return leaves[first] == nullptr ? std::nullopt : std::optional<float>(leaves[first][i]);
  auto a = Naive(kind, leaves, first, size / 2, i), b = Naive(kind, leaves, first + size / 2, size / 2, i);
  if (!a.has_value()) return b;
  if (!b.has_value()) return a;
  return kind == format::ReduceKind::kMax ? std::max(*a, *b) : *a + *b;
}

struct Leaves {
  std::vector<std::vector<float>> data;
  std::vector<const float*> pointers;
  std::vector<const void*> raw;
};

Leaves RandomLeaves(std::mt19937& rng, int count, int n, double absent) {
  Leaves l;
  std::normal_distribution<float> normal;
  std::uniform_real_distribution<double> uniform;
  for (int i = 0; i < count; ++i) {
    l.data.emplace_back(n);
    for (float& v : l.data.back()) v = normal(rng) * std::exp2f(static_cast<float>(rng() % 20));
  }
  for (int i = 0; i < count; ++i) {
    l.pointers.push_back(uniform(rng) < absent ? nullptr : l.data[i].data());
    l.raw.push_back(l.pointers.back());
  }
  return l;
}

TEST(ReductionTreeTest, EqualsItsDefinitionBitForBit) {
  std::mt19937 rng(1);
  for (int count : {1, 2, 3, 4, 5, 8, 16, 24, 32, 64}) {
    for (double absent : {0.0, 0.3, 0.8}) {
      for (int n : {1, 4, 7, 256, 1001}) {
        for (auto kind : {format::ReduceKind::kSum, format::ReduceKind::kMax}) {
          Leaves l = RandomLeaves(rng, count, n, absent);
          size_t size = 1;
          while (size < l.pointers.size()) size *= 2;
          std::vector<float> out(n, -77);
          TreeReduce(kind, DType::kFloat32, l.raw, out.data(), n);
          for (int i = 0; i < n; ++i) {
            float none = kind == format::ReduceKind::kMax ? -std::numeric_limits<float>::infinity() : 0;
            float want = Naive(kind, l.pointers, 0, size, i).value_or(none);
            ASSERT_EQ(std::memcmp(&out[i], &want, 4), 0) << count << " leaves, element " << i;
          }
        }
      }
    }
  }
}

// Rounded at every node, to the nearest, with NaN and infinity as they are.
TEST(ReductionTreeTest, BFloat16) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  // 1 + 2^-8 lies between two numbers and goes to the even one, 1; 3 * 2^-8 more does not.
  const std::vector<std::vector<float>> leaves = {{1, 1, 256, kInfinity, 1, 3e38f},
                                                  {0.00390625, 0.01171875, 1, 1, -kInfinity, 3e38f},
                                                  {0.00390625, 0, 3, 0, kInfinity, 0}};
  std::vector<std::vector<uint16_t>> bits;
  for (const auto& leaf : leaves) {
    bits.emplace_back();
    for (float x : leaf) bits.back().push_back(ToBFloat16Bits(x));
  }
  std::vector<uint16_t> sum(leaves[0].size()), more = bits[0];
  TreeReduce(format::ReduceKind::kSum, DType::kBFloat16, {bits[0].data(), nullptr, bits[1].data(), bits[2].data()},
             sum.data(), sum.size());
  const auto values = [](const std::vector<uint16_t>& of) {
    std::vector<float> v;
    for (uint16_t b : of) v.push_back(FromBFloat16Bits(b));
    return v;
  };
  // The tree is leaf 0 + (leaf 1 + leaf 2).
  EXPECT_THAT(values(sum), ElementsAre(1.0078125, 1.015625, 260, kInfinity, IsNan(), kInfinity));
  Combine(format::ReduceKind::kSum, DType::kBFloat16, more.data(), bits[1].data(), more.size());
  EXPECT_THAT(values(more), ElementsAre(1, 1.015625, 256, kInfinity, -kInfinity, kInfinity));
  Combine(format::ReduceKind::kMax, DType::kBFloat16, more.data(), bits[2].data(), more.size());
  EXPECT_THAT(values(more), ElementsAre(1, 1.015625, 256, kInfinity, kInfinity, kInfinity));
  Divide(DType::kBFloat16, more.data(), 3, 3);
  EXPECT_THAT(values(more), ElementsAre(0.333984375, 0.33789062, 85.5, kInfinity, kInfinity, kInfinity));
  TreeReduce(format::ReduceKind::kMax, DType::kBFloat16, {nullptr, nullptr}, more.data(), 1);
  EXPECT_EQ(FromBFloat16Bits(more[0]), -kInfinity);
}

TEST(ReductionTreeTest, DealingLanesOutToDevicesChangesNothing) {
  std::mt19937 rng(2);
  const int n = 300, lanes = 16;
  for (double absent : {0.0, 0.5}) {
    Leaves l = RandomLeaves(rng, lanes, n, absent);
    std::vector<float> whole(n);
    TreeReduce(format::ReduceKind::kSum, DType::kFloat32, l.raw, whole.data(), n);
    for (int devices : {2, 4, 8}) {
      int per = lanes / devices;
      std::vector<std::vector<float>> parts(devices, std::vector<float>(n));
      std::vector<const void*> present;
      for (int d = 0; d < devices; ++d) {
        auto mine = absl::MakeConstSpan(l.raw).subspan(d * per, per);
        TreeReduce(format::ReduceKind::kSum, DType::kFloat32, mine, parts[d].data(), n);
        bool any = std::count(mine.begin(), mine.end(), nullptr) < per;
        present.push_back(any ? parts[d].data() : nullptr);
      }
      // In place into the first device that is there.
      float* out = parts[0].data();
      TreeReduce(format::ReduceKind::kSum, DType::kFloat32, present, out, n);
      EXPECT_EQ(std::memcmp(out, whole.data(), n * 4), 0) << devices;
    }
  }
}

TEST(ReductionTreeTest, MeanDividesByThePresent) {
  float a[] = {1, 2}, b[] = {3, 5}, out[2];
  std::vector<const void*> leaves = {a, nullptr, b};
  TreeReduce(format::ReduceKind::kMean, DType::kFloat32, leaves, out, 2);
  EXPECT_EQ(out[0], 2);
  EXPECT_EQ(out[1], 3.5f);
}

TEST(ReductionTreeTest, ASumDividedIsTheMean) {
  float a[] = {1, -7}, b[] = {3, 5}, sum[2], mean[2];
  std::vector<const void*> leaves = {a, b};
  TreeReduce(format::ReduceKind::kSum, DType::kFloat32, leaves, sum, 2);
  TreeReduce(format::ReduceKind::kMean, DType::kFloat32, leaves, mean, 2);
  Divide(DType::kFloat32, sum, 2, 2);
  EXPECT_EQ(sum[0], 2);
  EXPECT_EQ(sum[1], -1);
  EXPECT_EQ(std::memcmp(sum, mean, sizeof(sum)), 0);
  int64_t whole[] = {7, -7};
  Divide(DType::kInt64, whole, 2, 2);
  EXPECT_EQ(whole[0], 3);
  EXPECT_EQ(whole[1], -3);
}

TEST(ReductionTreeTest, MaxKeepsNaNAndIntegersWork) {
  float nan = std::nanf(""), a[] = {nan, 1}, b[] = {1, nan}, out[2];
  std::vector<const void*> leaves = {a, b};
  TreeReduce(format::ReduceKind::kMax, DType::kFloat32, leaves, out, 2);
  EXPECT_TRUE(std::isnan(out[0]) && std::isnan(out[1]));
  int64_t p[] = {int64_t{1} << 40}, q[] = {5}, sum[1];
  leaves = {p, q};
  TreeReduce(format::ReduceKind::kSum, DType::kInt64, leaves, sum, 1);
  EXPECT_EQ(sum[0], (int64_t{1} << 40) + 5);
}

}  // namespace
}  // namespace tandem
