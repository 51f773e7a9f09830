#include "estimator/summary/histogram.h"

#include <algorithm>
#include <bit>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace tandem {
namespace {

// The limits of the buckets in order, with an index to find the bucket of a number quickly.
class Limits {
 public:
  Limits() {
    std::vector<double> positive;
    for (double v = 1e-12; v < 1e20; v *= 1.1) positive.push_back(v);
    positive.push_back(DBL_MAX);
    for (auto it = positive.rbegin(); it != positive.rend(); ++it) limits_.push_back(-*it);
    limits_.push_back(0);
    limits_.insert(limits_.end(), positive.begin(), positive.end());
    limits_.push_back(std::numeric_limits<double>::infinity());  // ends the list, so that AtMost can read one more
    first_.resize(kParts);
    for (uint64_t part = 0; part < kParts; ++part) {
      const double begin = std::bit_cast<double>(part << kShift);
      const double end = std::bit_cast<double>(((part + 1) << kShift) - 1);
      if (!std::isfinite(begin)) continue;
      first_[part] = static_cast<int16_t>(std::upper_bound(limits_.begin(), limits_.end(), std::min(begin, end)) -
                                          limits_.begin());
    }
  }

  // Returns how many limits are at most `value`, which must be finite.
  int AtMost(double value) const {
    const int first = first_[std::bit_cast<uint64_t>(value) >> kShift];
    return first + static_cast<int>(limits_[first] <= value);
  }
  int count() const { return static_cast<int>(limits_.size()) - 1; }
  double operator[](int i) const { return limits_[i]; }

 private:
  // Numbers with the same sign, exponent and first four bits of the fraction form a part. They differ by less than
  // 1/16, and limits grow by 1/10, so at most one limit lies inside of a part.
  static constexpr int kShift = 48;
  static constexpr uint64_t kParts = uint64_t{1} << (64 - kShift);

  std::vector<double> limits_;
  std::vector<int16_t> first_;  // for each part, how many limits are at most its smallest number
};

const Limits& TheLimits() {
  static const Limits* const limits = new Limits();
  return *limits;
}

template <typename T>
Histogram Count(absl::Span<const T> values) {
  const Limits& limits = TheLimits();
  std::vector<int64_t> counts(limits.count() + 1);
  double min = DBL_MAX, max = -DBL_MAX, sum = 0, sum_squares = 0;
  for (const T element : values) {
    const double value = static_cast<double>(element);
    if (!std::isfinite(value)) continue;
    ++counts[limits.AtMost(value)];
    min = std::min(min, value);
    max = std::max(max, value);
    sum += value;
    sum_squares += value * value;
  }
  // TensorFlow has no bucket for DBL_MAX itself, so these numbers count in the last bucket.
  counts[limits.count() - 1] += counts.back();
  counts.pop_back();

  Histogram histogram{.min = min, .max = max, .count = 0, .sum = sum, .sum_squares = sum_squares};
  const int n = limits.count();
  for (int i = 0; i < n;) {
    const int64_t count = counts[i];
    double end = limits[i++];
    while (count == 0 && i < n && counts[i] == 0) end = limits[i++];
    histogram.limits.push_back(end);
    histogram.counts.push_back(static_cast<double>(count));
    histogram.count += static_cast<double>(count);
  }
  return histogram;
}

}  // namespace

Histogram HistogramOf(const HostTensor& values) {
  switch (values.dtype()) {
    case DType::kFloat32:
      return Count(values.values<float>());
    case DType::kFloat64:
      return Count(values.values<double>());
    case DType::kInt32:
      return Count(values.values<int32_t>());
    case DType::kInt64:
      return Count(values.values<int64_t>());
    case DType::kUInt8:
      return Count(values.values<uint8_t>());
    default:
      return Count(absl::Span<const float>());
  }
}

}  // namespace tandem
