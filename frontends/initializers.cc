#include "frontends/initializers.h"

#include <algorithm>
#include <cmath>

namespace tandem::initializers {
namespace {

using Kind = Initializer::Kind;

// Standard deviation of a standard normal that is cut at two.
constexpr double kTruncatedStddev = 0.87962566103423978;

InitializerFn Fixed(Initializer initializer) {
  return [initializer](absl::Span<const int64_t>) { return initializer; };
}

InitializerFn UniformWithVariance(double scale, double (*fan)(const Fans&)) {
  return [scale, fan](absl::Span<const int64_t> shape) {
    double limit = std::sqrt(3 * scale / fan(ComputeFans(shape)));
    return Initializer{Kind::kUniform, -limit, limit};
  };
}

InitializerFn NormalWithVariance(double scale, double (*fan)(const Fans&)) {
  return [scale, fan](absl::Span<const int64_t> shape) {
    double stddev = std::sqrt(scale / fan(ComputeFans(shape))) / kTruncatedStddev;
    return Initializer{Kind::kTruncatedNormal, 0, stddev};
  };
}

double FanIn(const Fans& fans) { return std::max(1.0, fans.in); }
double FanAverage(const Fans& fans) { return std::max(1.0, (fans.in + fans.out) / 2); }

}  // namespace

Fans ComputeFans(absl::Span<const int64_t> shape) {
  if (shape.empty()) return {1, 1};
  if (shape.size() == 1) return {static_cast<double>(shape[0]), static_cast<double>(shape[0])};
  double window = 1;
  for (size_t i = 0; i + 2 < shape.size(); ++i) window *= static_cast<double>(shape[i]);
  return {window * static_cast<double>(shape[shape.size() - 2]), window * static_cast<double>(shape.back())};
}

InitializerFn Zeros() { return Fixed({Kind::kZeros}); }
InitializerFn Ones() { return Constant(1); }
InitializerFn Constant(double value) { return Fixed({Kind::kConstant, value}); }
InitializerFn RandomUniform(double minval, double maxval) { return Fixed({Kind::kUniform, minval, maxval}); }
InitializerFn TruncatedNormal(double mean, double stddev) { return Fixed({Kind::kTruncatedNormal, mean, stddev}); }
InitializerFn GlorotUniform() { return UniformWithVariance(1, FanAverage); }
InitializerFn GlorotNormal() { return NormalWithVariance(1, FanAverage); }
InitializerFn HeUniform() { return UniformWithVariance(2, FanIn); }
InitializerFn HeNormal() { return NormalWithVariance(2, FanIn); }

}  // namespace tandem::initializers
