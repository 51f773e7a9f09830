#include "frontends/keras/utils.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tandem::keras::utils {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(ToCategorical, MakesRowsOfOneOne) {
  const HostTensor rows = ToCategorical(HostTensor::FromVector<int32_t>({3}, {2, 0, 1}), 4).value();
  EXPECT_EQ(rows.shape(), (Shape{3, 4}));
  EXPECT_EQ(rows.dtype(), DType::kFloat32);
  EXPECT_THAT(rows.values<float>(), ElementsAre(0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 0, 0));
}

TEST(ToCategorical, CountsClassesAndDropsAColumn) {
  const HostTensor rows = ToCategorical(HostTensor::FromVector<uint8_t>({2, 1}, {1, 0})).value();
  EXPECT_EQ(rows.shape(), (Shape{2, 2}));
  EXPECT_THAT(rows.values<float>(), ElementsAre(0, 1, 1, 0));
  EXPECT_EQ(ToCategorical(HostTensor::FromVector<int64_t>({2, 2}, {1, 0, 0, 2}))->shape(), (Shape{2, 2, 3}));
  EXPECT_THAT(ToCategorical(HostTensor::FromVector<float>({1}, {1}), 2)->values<float>(), ElementsAre(0, 1));
}

TEST(ToCategorical, Errors) {
  auto error = [](const HostTensor& labels, int64_t classes) {
    const absl::Status status = ToCategorical(labels, classes).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(status.message()), HasSubstr("utils_test.cc:"));
    return std::string(status.message());
  };
  const HostTensor labels = HostTensor::FromVector<int32_t>({3}, {0, 1, 4});
  EXPECT_THAT(error(labels, 4), HasSubstr("label 2 is 4; it must be a whole number from 0 to 3"));
  EXPECT_THAT(error(HostTensor::FromVector<int32_t>({1}, {-1}), 0), HasSubstr("label 0 is -1; it must be a whole"));
  EXPECT_THAT(error(HostTensor::FromVector<float>({1}, {0.5f}), 2), HasSubstr("label 0 is 0.5"));
  EXPECT_THAT(error(labels, -1), HasSubstr("num_classes is -1"));
  EXPECT_THAT(error(HostTensor(), 2), HasSubstr("empty tensor"));
  EXPECT_THAT(error(HostTensor::FromStrings({1}, std::vector<std::string>{"cat"}), 2), HasSubstr("not string"));
  EXPECT_THAT(error(HostTensor::FromVector<int32_t>({0}, {}), 0), HasSubstr("give num_classes"));
}

}  // namespace
}  // namespace tandem::keras::utils
