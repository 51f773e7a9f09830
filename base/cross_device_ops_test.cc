#include "base/cross_device_ops.h"

#include <stdexcept>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tandem {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

void OneByOne(int64_t n, absl::FunctionRef<void(int64_t)> fn) {
  for (int64_t i = 0; i < n; ++i) fn(i);
}

class Adds final : public CrossDeviceOps {
 public:
  absl::Status AllReduce(const PerReplica& tensor, ParallelFor) override {
    if (tensor.elements == 0) return absl::InternalError("nothing to add");
    for (int64_t i = 0; i < tensor.elements; ++i) {
      float sum = 0;
      for (void* values : tensor.values) sum += static_cast<float*>(values)[i];
      for (void* values : tensor.values) static_cast<float*>(values)[i] = sum;
    }
    return absl::OkStatus();
  }
};

TEST(CrossDeviceOps, ABatchIsOneByOneAndABroadcastCopies) {
  float a[3][2] = {{0, 10}, {1, 11}, {2, 12}}, b[3][1] = {{1}, {2}, {3}};
  const std::vector<CrossDeviceOps::PerReplica> tensors = {{DType::kFloat32, 2, {a[0], a[1], a[2]}},
                                                           {DType::kFloat32, 1, {b[0], b[1], b[2]}}};
  Adds ops;
  ASSERT_TRUE(ops.BatchAllReduce(tensors, OneByOne).ok());
  for (int r = 0; r < 3; ++r) {
    EXPECT_THAT(a[r], ElementsAre(3, 33));
    EXPECT_THAT(b[r], ElementsAre(6));
  }
  a[1][0] = 1;
  a[1][1] = -1;
  b[1][0] = 7;
  ASSERT_TRUE(ops.Broadcast(1, tensors, OneByOne).ok());
  for (int r = 0; r < 3; ++r) {
    EXPECT_THAT(a[r], ElementsAre(1, -1));
    EXPECT_THAT(b[r], ElementsAre(7));
  }
  const std::vector<CrossDeviceOps::PerReplica> nothing = {{DType::kFloat32, 0, {a[0], a[1], a[2]}}, tensors[1]};
  EXPECT_EQ(ops.BatchAllReduce(nothing, OneByOne).message(), "nothing to add");
  EXPECT_THAT(b[0], ElementsAre(7)) << "the first error ends a batch";
}

TEST(CrossDeviceOps, AreFoundByTheirName) {
  ASSERT_TRUE(RegisterCrossDeviceOps("Adds", [] { return std::make_unique<Adds>(); }).ok());
  EXPECT_TRUE(CheckCrossDeviceOps("Adds").ok());
  EXPECT_THAT(RegisteredCrossDeviceOps(), ElementsAre("Adds", "HierarchicalCopyAllReduce", "ReductionToOneDevice"));
  ASSERT_TRUE(NewCrossDeviceOps("Adds").ok());
  const absl::Status again = RegisterCrossDeviceOps("Adds", [] { return std::make_unique<Adds>(); });
  EXPECT_EQ(again.code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(again.message(), "RegisterCrossDeviceOps: there are cross-device ops named \"Adds\" already");
  EXPECT_EQ(RegisterCrossDeviceOps("ReductionToOneDevice", [] { return std::make_unique<Adds>(); }).code(),
            absl::StatusCode::kAlreadyExists);
  for (const char* name : {"", "a b", "a\n", "ü"}) {
    const absl::Status status = RegisterCrossDeviceOps(name, [] { return std::make_unique<Adds>(); });
    EXPECT_THAT(std::string(status.message()), HasSubstr("cannot be a name")) << name;
  }
  EXPECT_THAT(std::string(RegisterCrossDeviceOps("None", nullptr).message()),
              HasSubstr("no function that makes \"None\""));
  EXPECT_EQ(CheckCrossDeviceOps("adds").message(),
            "no cross-device ops are registered under \"adds\"; registered: Adds, HierarchicalCopyAllReduce, "
            "ReductionToOneDevice. Call RegisterCrossDeviceOps before");
  EXPECT_EQ(NewCrossDeviceOps("").status().code(), absl::StatusCode::kInvalidArgument);
  ASSERT_TRUE(RegisterCrossDeviceOps("Null", [] { return nullptr; }).ok());
  EXPECT_THAT(std::string(NewCrossDeviceOps("Null").status().message()), HasSubstr("returned null"));
  ASSERT_TRUE(RegisterCrossDeviceOps("Throws", []() -> std::unique_ptr<CrossDeviceOps> {
                throw std::runtime_error("no memory of that kind");
              }).ok());
  EXPECT_THAT(std::string(NewCrossDeviceOps("Throws").status().message()),
              HasSubstr("making cross-device ops \"Throws\": threw std::runtime_error: \"no memory of that kind\""));
}

}  // namespace
}  // namespace tandem
