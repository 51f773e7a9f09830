// ReductionToOneDevice and HierarchicalCopyAllReduce: what they add, in which order, and for all replicas alike.
#include <numeric>

#include "absl/strings/str_cat.h"
#include "base/cross_device_ops.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tandem {
namespace {

using ::testing::Each;
using ::testing::IsSupersetOf;

const char* const kNames[] = {"ReductionToOneDevice", "HierarchicalCopyAllReduce"};

void OneByOne(int64_t n, absl::FunctionRef<void(int64_t)> fn) {
  for (int64_t i = n - 1; i >= 0; --i) fn(i);
}

// values[r][i] of replica r.
template <typename T>
CrossDeviceOps::PerReplica Tensor(DType dtype, std::vector<std::vector<T>>& values) {
  CrossDeviceOps::PerReplica tensor{dtype, static_cast<int64_t>(values[0].size()), {}};
  for (std::vector<T>& v : values) tensor.values.push_back(v.data());
  return tensor;
}

template <typename T>
class BuiltInCrossDeviceOps : public ::testing::Test {};
using Types = ::testing::Types<float, double, int32_t, int64_t>;
TYPED_TEST_SUITE(BuiltInCrossDeviceOps, Types);

// Replica r has the value r, and r + 1 in a second tensor: of N replicas the sums are N (N - 1) / 2 and N (N + 1) / 2.
// A sum of whole numbers does not depend on the order. Sizes reach over what a thread takes at a time.
TYPED_TEST(BuiltInCrossDeviceOps, AddUpABatch) {
  const DType dtype = std::is_same_v<TypeParam, float>     ? DType::kFloat32
                      : std::is_same_v<TypeParam, double>  ? DType::kFloat64
                      : std::is_same_v<TypeParam, int32_t> ? DType::kInt32
                                                           : DType::kInt64;
  for (const char* name : kNames) {
    auto ops = NewCrossDeviceOps(name);
    ASSERT_TRUE(ops.ok()) << ops.status();
    for (int replicas = 2; replicas <= 9; ++replicas) {
      for (const int size : {1, 8191, 8192, 20000}) {
        SCOPED_TRACE(absl::StrCat(name, " ", replicas, " ", size));
        std::vector<std::vector<TypeParam>> a, b;
        for (int r = 0; r < replicas; ++r) {
          a.emplace_back(size, static_cast<TypeParam>(r));
          b.emplace_back(3, static_cast<TypeParam>(r + 1));
        }
        const std::vector<CrossDeviceOps::PerReplica> tensors = {Tensor(dtype, a), Tensor(dtype, b)};
        ASSERT_TRUE((*ops)->BatchAllReduce(tensors, OneByOne).ok());
        for (int r = 0; r < replicas; ++r) {
          ASSERT_THAT(a[r], Each(static_cast<TypeParam>(replicas * (replicas - 1) / 2)));
          ASSERT_THAT(b[r], Each(static_cast<TypeParam>(replicas * (replicas + 1) / 2)));
        }
        std::iota(a[replicas - 1].begin(), a[replicas - 1].end(), TypeParam(0));
        const std::vector<TypeParam> root = a[replicas - 1];
        ASSERT_TRUE((*ops)->Broadcast(replicas - 1, {tensors[0]}, OneByOne).ok());
        for (int r = 0; r < replicas; ++r) ASSERT_EQ(a[r], root);
      }
    }
  }
}

// 2^24 + 1 is 2^24 in float32: sums of the same numbers differ by their order.
TEST(BuiltInCrossDeviceOps, AddInTheirOrder) {
  constexpr float kLarge = 16777216;
  const auto sum = [](const char* name, const std::vector<float>& values) {
    std::vector<std::vector<float>> replicas;
    for (const float v : values) replicas.push_back({v});
    EXPECT_TRUE((*NewCrossDeviceOps(name))->AllReduce(Tensor(DType::kFloat32, replicas), OneByOne).ok());
    return replicas[0][0];
  };
  EXPECT_EQ(sum("ReductionToOneDevice", {kLarge, 1, 1, 1}), kLarge) << "((large + 1) + 1) + 1";
  EXPECT_EQ(sum("HierarchicalCopyAllReduce", {kLarge, 1, 1, 1}), kLarge + 2) << "(large + 1) + (1 + 1)";
  EXPECT_EQ(sum("HierarchicalCopyAllReduce", {1, 1, 1, kLarge, 1}), kLarge + 4) << "((1 + 1) + 1) + (large + 1)";
}

TEST(BuiltInCrossDeviceOps, NeedNoRegistration) { EXPECT_THAT(RegisteredCrossDeviceOps(), IsSupersetOf(kNames)); }

}  // namespace
}  // namespace tandem
