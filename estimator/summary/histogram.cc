#include "estimator/summary/histogram.h"

#include <algorithm>
#include <bit>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <limits>

namespace tandem {
namespace {

// The positive limits, and where to look for a number's place among them.
class Limits {
 public:
  Limits() {
    for (double v = 1e-12; v < 1e20; v *= 1.1) positive_.push_back(v);
    positive_.push_back(DBL_MAX);
    // A part has numbers that differ by less than 1/16, so at most one limit inside.
    first_.resize(kParts);
    for (uint64_t part = 0; part < kParts; ++part) {
      const double least = std::bit_cast<double>(part << kShift);
      first_[part] = static_cast<int16_t>(Index(least, /*equal=*/true, 0));
    }
  }

  // How many positive limits are below `a` >= 0, or equal to it.
  int Below(double a, bool equal) const {
    const int at = first_[std::bit_cast<uint64_t>(a) >> kShift];
    // A limit that begins its part is counted already.
    return Index(a, equal, std::max(0, at - 1));
  }
  int count() const { return static_cast<int>(positive_.size()); }

  // All limits in order.
  std::vector<double> All() const {
    std::vector<double> all;
    for (auto it = positive_.rbegin(); it != positive_.rend(); ++it) all.push_back(-*it);
    all.push_back(0);
    all.insert(all.end(), positive_.begin(), positive_.end());
    return all;
  }

 private:
  static constexpr int kShift = 48;                         // leaves the exponent and four bits of the fraction
  static constexpr uint64_t kParts = uint64_t{0x7ff} << 4;  // of finite numbers that are not negative

  // The same, when at least `at` of them are.
  int Index(double a, bool equal, int at) const {
    while (at < count() && (positive_[at] < a || (equal && positive_[at] == a))) ++at;
    return at;
  }

  std::vector<double> positive_;
  std::vector<int16_t> first_;
};

const Limits& TheLimits() {
  static const Limits* const limits = new Limits();
  return *limits;
}

class Counter {
 public:
  Counter() : counts_(2 * limits_.count() + 1) {}

  template <typename T>
  void AddAll(absl::Span<const T> values) {
    for (const T element : values) Add(static_cast<double>(element));
  }

  Histogram Result() const {
    Histogram histogram{.min = min_, .max = max_, .count = 0, .sum = sum_, .sum_squares = sum_squares_};
    const std::vector<double> limits = limits_.All();
    for (size_t i = 0; i < counts_.size();) {
      const int64_t count = counts_[i];
      double end = limits[i++];
      while (count == 0 && i < counts_.size() && counts_[i] == 0) end = limits[i++];
      histogram.limits.push_back(end);
      histogram.counts.push_back(static_cast<double>(count));
      histogram.count += static_cast<double>(count);
    }
    return histogram;
  }

 private:
  void Add(double value) {
    if (!std::isfinite(value)) return;
    const int n = limits_.count();
    const int bucket = value < 0 ? n - limits_.Below(-value, /*equal=*/false) : n + 1 + limits_.Below(value, true);
    // TensorFlow has no bucket for DBL_MAX itself.
    ++counts_[std::min<size_t>(bucket, counts_.size() - 1)];
    min_ = std::min(min_, value);
    max_ = std::max(max_, value);
    sum_ += value;
    sum_squares_ += value * value;
  }

  const Limits& limits_ = TheLimits();
  std::vector<int64_t> counts_;
  double min_ = DBL_MAX, max_ = -DBL_MAX, sum_ = 0, sum_squares_ = 0;
};

}  // namespace

Histogram HistogramOf(const HostTensor& values) {
  Counter counter;
  switch (values.dtype()) {
    case DType::kFloat32:
      counter.AddAll(values.values<float>());
      break;
    case DType::kFloat64:
      counter.AddAll(values.values<double>());
      break;
    case DType::kInt32:
      counter.AddAll(values.values<int32_t>());
      break;
    case DType::kInt64:
      counter.AddAll(values.values<int64_t>());
      break;
    case DType::kUInt8:
      counter.AddAll(values.values<uint8_t>());
      break;
    default:
      break;
  }
  return counter.Result();
}

}  // namespace tandem
