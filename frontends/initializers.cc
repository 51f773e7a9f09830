#include "frontends/initializers.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "frontends/parts_from_config.h"

namespace tandem::initializers {
namespace {

using Kind = Initializer::Kind;

// Standard deviation of a standard normal distribution that is truncated at two standard deviations.
constexpr double kTruncatedStddev = 0.87962566103423978;

InitializerFn Fixed(PartConfig config, Initializer initializer) {
  return {std::move(config), [initializer](absl::Span<const int64_t>) { return initializer; }};
}

// Returns Keras' config of an initialiser that has no arguments except its seed, which is written as null.
PartConfig WithSeed(const char* class_name) { return {class_name, {{"seed", std::monostate()}}}; }

double FanOf(FanMode mode, const Fans& fans) {
  switch (mode) {
    case FanMode::kFanIn:
      return fans.in;
    case FanMode::kFanOut:
      return fans.out;
    case FanMode::kFanAverage:
      break;
  }
  return (fans.in + fans.out) / 2;
}

InitializerFn Scaled(PartConfig config, const VarianceScalingOptions& options) {
  return {std::move(config), [options](absl::Span<const int64_t> shape) {
            const double variance = options.scale / std::max(1.0, FanOf(options.mode, ComputeFans(shape)));
            switch (options.distribution) {
              case Distribution::kTruncatedNormal:
                return Initializer{Kind::kTruncatedNormal, 0, std::sqrt(variance) / kTruncatedStddev};
              case Distribution::kUntruncatedNormal:
                return Initializer{Kind::kNormal, 0, std::sqrt(variance)};
              case Distribution::kUniform:
                break;
            }
            const double limit = std::sqrt(3 * variance);
            return Initializer{Kind::kUniform, -limit, limit};
          }};
}

const char* NameOf(FanMode mode) {
  return mode == FanMode::kFanIn ? "fan_in" : mode == FanMode::kFanOut ? "fan_out" : "fan_avg";
}

const char* NameOf(Distribution distribution) {
  return distribution == Distribution::kUniform             ? "uniform"
         : distribution == Distribution::kUntruncatedNormal ? "untruncated_normal"
                                                            : "truncated_normal";
}

}  // namespace

InitializerFn::InitializerFn(const char* name) {
  if (name != nullptr) *this = InitializerFn(std::string(name));
}

InitializerFn::InitializerFn(const std::string& name) {
  absl::StatusOr<InitializerFn> known = InitializerFromConfig({name, {}});
  if (known.ok()) {
    *this = *std::move(known);
    return;
  }
  problem_ = std::string(known.status().message());
  recipe_ = [](absl::Span<const int64_t>) {
    return Initializer{Kind::kConstant, std::numeric_limits<double>::quiet_NaN()};
  };
}

Initializer InitializerFn::operator()(absl::Span<const int64_t> shape) const {
  return recipe_ != nullptr ? recipe_(shape) : Initializer{};
}

absl::Status InitializerFn::Check(absl::Span<const int64_t> shape) const {
  if (!problem_.empty()) return absl::InvalidArgumentError(problem_);
  const int rank = static_cast<int>(shape.size());
  if (rank >= min_rank_ && rank <= max_rank_) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(config_.class_name, " is for variables of ",
                                                 min_rank_ == max_rank_ ? "" : "at least ", min_rank_,
                                                 " dimensions, not of shape [", absl::StrJoin(shape, ","), "]"));
}

Fans ComputeFans(absl::Span<const int64_t> shape) {
  if (shape.empty()) return {1, 1};
  if (shape.size() == 1) return {static_cast<double>(shape[0]), static_cast<double>(shape[0])};
  double window = 1;
  for (size_t i = 0; i + 2 < shape.size(); ++i) window *= static_cast<double>(shape[i]);
  return {window * static_cast<double>(shape[shape.size() - 2]), window * static_cast<double>(shape.back())};
}

InitializerFn Zeros() { return Fixed({"Zeros", {}}, {Kind::kZeros}); }
InitializerFn Ones() { return Fixed({"Ones", {}}, {Kind::kConstant, 1}); }
InitializerFn Constant(double value) { return Fixed({"Constant", {{"value", value}}}, {Kind::kConstant, value}); }
InitializerFn RandomUniform(double minval, double maxval) {
  return Fixed({"RandomUniform", {{"minval", minval}, {"maxval", maxval}, {"seed", std::monostate()}}},
               {Kind::kUniform, minval, maxval});
}
InitializerFn RandomNormal(double mean, double stddev) {
  return Fixed({"RandomNormal", {{"mean", mean}, {"stddev", stddev}, {"seed", std::monostate()}}},
               {Kind::kNormal, mean, stddev});
}
InitializerFn TruncatedNormal(double mean, double stddev) {
  return Fixed({"TruncatedNormal", {{"mean", mean}, {"stddev", stddev}, {"seed", std::monostate()}}},
               {Kind::kTruncatedNormal, mean, stddev});
}

InitializerFn VarianceScaling(const VarianceScalingOptions& options) {
  return Scaled({"VarianceScaling",
                 {{"scale", options.scale},
                  {"mode", NameOf(options.mode)},
                  {"distribution", NameOf(options.distribution)},
                  {"seed", std::monostate()}}},
                options);
}
InitializerFn GlorotUniform() {
  return Scaled(WithSeed("GlorotUniform"), {.mode = FanMode::kFanAverage, .distribution = Distribution::kUniform});
}
InitializerFn GlorotNormal() { return Scaled(WithSeed("GlorotNormal"), {.mode = FanMode::kFanAverage}); }
InitializerFn HeUniform() {
  return Scaled(WithSeed("HeUniform"), {.scale = 2, .distribution = Distribution::kUniform});
}
InitializerFn HeNormal() { return Scaled(WithSeed("HeNormal"), {.scale = 2}); }
InitializerFn LecunUniform() { return Scaled(WithSeed("LecunUniform"), {.distribution = Distribution::kUniform}); }
InitializerFn LecunNormal() { return Scaled(WithSeed("LecunNormal"), {}); }

}  // namespace tandem::initializers
