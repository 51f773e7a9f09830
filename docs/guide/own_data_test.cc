// Runs what own_data.md shows.
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tandem/base/status_macros.h"
#include "tandem/data/dataset.h"
#include "tandem/data/image/random_image.h"

namespace tandem {
namespace {

#include "docs/guide/own_data_test_blocks.inc"

// All elements of a dataset, up to the first error.
absl::StatusOr<std::vector<Element>> Elements(const Dataset& dataset) {
  TD_ASSIGN_OR_RETURN(const std::unique_ptr<Iterator> iterator, dataset.MakeIterator());
  std::vector<Element> elements;
  for (bool end = false;;) {
    Element element;
    TD_RETURN_IF_ERROR(iterator->GetNext(&element, &end));
    if (end) return elements;
    elements.push_back(element);
  }
}

Dataset People(float income) {
  return Dataset::FromTensorSlices({{"age", HostTensor::FromVector<float>({2}, {50, 20})},
                                    {"income", HostTensor::FromVector<float>({2}, {1, income})},
                                    {"buys", HostTensor::FromVector<int32_t>({2}, {1, -1})}});
}

TEST(OwnDataPage, Examples) {
  const auto batches = Elements(Numbers(People(1)));
  ASSERT_TRUE(batches.ok()) << batches.status();
  ASSERT_EQ(batches->size(), 1u);
  EXPECT_TRUE((*batches)[0]["x"].BitEqual(HostTensor::FromVector<float>({2, 2}, {0.5f, 0, 0.2f, 0})));
  const auto bad = Elements(Numbers(People(0)));
  EXPECT_THAT(std::string(bad.status().message()), testing::HasSubstr("income must be positive, got 0"));
}

TEST(OwnDataPage, Batches) {
  const auto batches = Elements(Known(Numbers(People(1))));
  ASSERT_TRUE(batches.ok()) << batches.status();
  EXPECT_TRUE((*batches)[0]["x"].BitEqual(HostTensor::FromVector<float>({1, 2}, {0.5f, 0})));
  EXPECT_TRUE((*batches)[0]["label"].BitEqual(HostTensor::FromVector<int32_t>({1}, {1})));
}

TEST(OwnDataPage, MemoryOfTheBatch) {
  const HostTensor images = HostTensor::FromVector({3, 28, 28}, std::vector<uint8_t>(3 * 28 * 28, 51));
  const auto batches = Elements(Scaled(Dataset::FromTensorSlices({{"image", images}})));
  ASSERT_TRUE(batches.ok()) << batches.status();
  EXPECT_EQ((*batches)[0]["image"].shape(), (Shape{3, 28, 28, 1}));
  for (const float value : (*batches)[0]["image"].values<float>()) ASSERT_FLOAT_EQ(value, 0.2f);
}

TEST(OwnDataPage, RandomChangesRepeat) {
  const Dataset zeros = Dataset::FromTensorSlices({{"x", HostTensor::FromVector<float>({3}, {0, 0, 0})}});
  std::vector<std::vector<float>> runs;
  for (const uint64_t seed : {1, 1, 2}) {
    const auto elements = Elements(Jittered(zeros, seed));
    ASSERT_TRUE(elements.ok()) << elements.status();
    runs.emplace_back();
    for (const Element& element : *elements) runs.back().push_back(element.Get<float>("x"));
    EXPECT_NE(runs.back()[0], runs.back()[1]);
  }
  EXPECT_EQ(runs[0], runs[1]);
  EXPECT_NE(runs[0], runs[2]);
}

TEST(OwnDataPage, ASource) {
  const auto elements = Elements(Fibonacci(10));
  ASSERT_TRUE(elements.ok()) << elements.status();
  std::vector<int64_t> larger;
  for (const Element& element : *elements) larger.push_back(element["pair"].data<int64_t>()[1]);
  EXPECT_EQ(larger, (std::vector<int64_t>{1, 1, 2, 3, 5, 8}));
}

}  // namespace
}  // namespace tandem
