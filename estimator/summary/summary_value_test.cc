// Messages byte by byte, and histograms against TensorFlow's definition. Whole files: tests/summary.
#include "estimator/summary/summary_value.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <limits>
#include <random>

#include "absl/strings/escaping.h"
#include "data/files/wire.h"
#include "data/image/png.h"
#include "estimator/summary/histogram.h"
#include "gtest/gtest.h"

namespace tandem {
namespace {

// By the messages of TensorBoard 2.15, Summary.Value(...).SerializeToString().
TEST(SummaryValueTest, IsWhatTensorBoardWrites) {
  EXPECT_EQ(absl::BytesToHexString(ScalarValue("s", -0.5)), "0a017315000000bf");
  const Histogram histogram{
      .min = -1, .max = 2, .count = 3, .sum = 1.5, .sum_squares = 5.25, .limits = {0, 1, 2.5}, .counts = {1, 0, 2}};
  EXPECT_EQ(
      absl::BytesToHexString(HistogramValue("h", histogram)),
      "0a01682a6109000000000000f0bf11000000000000004019000000000000084021000000000000f83f290000000000001540321800000"
      "00000000000000000000000f03f00000000000004403a18000000000000f03f00000000000000000000000000000040");
  EXPECT_EQ(absl::BytesToHexString(TextValue("t", "hi")), "0a0174420808071200420268694a0a0a060a04746578742002");
}

// TensorFlow's InitDefaultBucketsInner and Histogram::Add, word for word.
Histogram Reference(const std::vector<double>& values) {
  std::vector<double> limits, positive;
  for (double v = 1.0e-12; v < 1.0e20; v *= 1.1) positive.push_back(v);
  positive.push_back(DBL_MAX);
  for (auto it = positive.rbegin(); it != positive.rend(); ++it) limits.push_back(-*it);
  limits.push_back(0.0);
  limits.insert(limits.end(), positive.begin(), positive.end());
  std::vector<double> counts(limits.size());
  for (double v : values) counts[std::upper_bound(limits.begin(), limits.end(), v) - limits.begin()] += 1;
  Histogram h;
  for (size_t i = 0; i < counts.size();) {
    double end = limits[i], count = counts[i];
    ++i;
    while (count <= 0 && i < counts.size() && counts[i] <= 0) end = limits[i++];
    h.limits.push_back(end);
    h.counts.push_back(count);
  }
  return h;
}

void ExpectAsReference(const std::vector<double>& values) {
  const Histogram got = HistogramOf(HostTensor::FromVector({static_cast<int64_t>(values.size())}, values)),
                  want = Reference(values);
  EXPECT_EQ(got.limits, want.limits);
  EXPECT_EQ(got.counts, want.counts);
  EXPECT_EQ(got.count, static_cast<double>(values.size()));
}

TEST(HistogramTest, HasTensorFlowsBuckets) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> power(-330, 300);
  std::vector<double> values;
  for (int i = 0; i < 20000; ++i) values.push_back(normal(random));
  ExpectAsReference(values);
  for (int i = 0; i < 20000; ++i) values.push_back((i % 2 == 0 ? 1 : -1) * std::pow(10, power(random)));
  ExpectAsReference(values);
}

TEST(HistogramTest, LimitsBeginTheirBuckets) {
  std::vector<double> values = {0, -0.0, DBL_MIN, -DBL_MIN, 1e-12, -1e-12, 1e20, -1e20};
  for (double v = 1.0e-12; v < 1.0e20; v *= 1.1) {
    for (double near : {v, std::nextafter(v, 0), std::nextafter(v, 1e30)}) {
      values.push_back(near);
      values.push_back(-near);
    }
  }
  ExpectAsReference(values);
}

TEST(HistogramTest, CountsFiniteElementsOfEveryType) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  const Histogram h = HistogramOf(HostTensor::FromVector<float>({5}, {1, kInf, -kInf, std::nanf(""), 3}));
  EXPECT_EQ(h.count, 2);
  EXPECT_EQ(h.min, 1);
  EXPECT_EQ(h.max, 3);
  EXPECT_EQ(h.sum, 4);
  EXPECT_EQ(h.sum_squares, 10);
  EXPECT_EQ(HistogramOf(HostTensor::FromVector<int32_t>({2}, {-7, 7})).sum_squares, 98);
  EXPECT_EQ(HistogramOf(HostTensor::FromVector<int64_t>({1}, {-7})).min, -7);
  EXPECT_EQ(HistogramOf(HostTensor::FromVector<uint8_t>({2}, {255, 0})).sum, 255);
  EXPECT_EQ(HistogramOf(HostTensor::FromVector<double>({2}, {DBL_MAX, -DBL_MAX})).count, 2);
  EXPECT_EQ(HistogramOf(HostTensor(DType::kFloat32, {0})).count, 0);
}

// Field `wanted` of a message.
absl::string_view Field(absl::string_view message, uint32_t wanted) {
  wire::Reader reader(message);
  uint32_t field = 0;
  wire::Type type;
  while (!reader.done() && reader.ReadTag(&field, &type)) {
    absl::string_view bytes;
    if (type != wire::Type::kBytes) {
      if (!reader.Skip(type)) break;
    } else if (!reader.ReadBytes(&bytes)) {
      break;
    } else if (field == wanted) {
      return bytes;
    }
  }
  return {};
}

TEST(ImageValuesTest, ArePicturesOfTheFirstRows) {
  const std::vector<float> pixels = {0, 0.5, 1, 2, -1, std::nanf(""), 0.25, 0.75};
  const auto values = ImageValues("in", HostTensor::FromVector<float>({4, 1, 2, 1}, pixels), 3);
  ASSERT_TRUE(values.ok()) << values.status();
  ASSERT_EQ(values->size(), 3u);
  const std::vector<std::vector<uint8_t>> want = {{0, 128}, {255, 255}, {0, 0}};
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(Field((*values)[i], 1), "in/image/" + std::to_string(i));
    const auto image = DecodePng(Field(Field((*values)[i], 4), 4));
    ASSERT_TRUE(image.ok()) << image.status();
    EXPECT_TRUE(image->BitEqual(HostTensor::FromVector({1, 2, 1}, want[i]))) << i;
  }
  const HostTensor bytes = HostTensor::FromVector<uint8_t>({1, 1, 1, 3}, {1, 2, 255});
  const auto one = ImageValues("rgb", bytes, 1);
  ASSERT_TRUE(one.ok() && one->size() == 1) << one.status();
  EXPECT_EQ(Field((*one)[0], 1), "rgb/image");
  EXPECT_TRUE(DecodePng(Field(Field((*one)[0], 4), 4))->BitEqual(bytes.Reshaped({1, 1, 3})));
  const auto few = ImageValues("d", HostTensor::FromVector<double>({1, 1, 1, 1}, {1.0}), 5);
  ASSERT_TRUE(few.ok()) << few.status();
  EXPECT_EQ(few->size(), 1u);
}

TEST(FirstRowsTest, AreACopy) {
  const HostTensor all = HostTensor::FromVector<int32_t>({3, 2}, {1, 2, 3, 4, 5, 6});
  EXPECT_TRUE(FirstRows(all, 2).BitEqual(HostTensor::FromVector<int32_t>({2, 2}, {1, 2, 3, 4})));
  EXPECT_TRUE(FirstRows(all, 9).BitEqual(all));
}

}  // namespace
}  // namespace tandem
