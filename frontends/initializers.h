// Initialisers of variables, with Keras' names and formulas. Random values depend only on the variable's name and the
// run's seed, so adding a layer does not change the first weights of another.
#ifndef TANDEM_FRONTENDS_INITIALIZERS_H_
#define TANDEM_FRONTENDS_INITIALIZERS_H_

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "frontends/part_config.h"
#include "graph/graph_builder.h"

namespace tandem::initializers {

// Makes the graph's initialiser for a variable of a given (static) shape: from any function that does this, from one of
// the functions below, or by Keras' name, such as "he_normal", or class, "HeNormal".
class InitializerFn {
 public:
  using Recipe = std::function<Initializer(absl::Span<const int64_t> shape)>;

  InitializerFn() = default;
  InitializerFn(std::nullptr_t) {}  // NOLINT: implicit
  // The names are zeros, ones, constant (0), random_uniform, random_normal, truncated_normal, variance_scaling,
  // glorot_uniform, glorot_normal, he_uniform, he_normal, lecun_uniform, lecun_normal, orthogonal and identity, and the
  // short forms zero, one, uniform and normal. For another name, Check() returns an error.
  InitializerFn(const char* name);         // NOLINT: implicit
  InitializerFn(const std::string& name);  // NOLINT: implicit
  template <typename F>
  requires(!std::same_as<std::remove_cvref_t<F>, InitializerFn> &&
           std::is_invocable_r_v<Initializer, F, absl::Span<const int64_t>>) InitializerFn(F&& recipe)  // NOLINT
      : recipe_(std::forward<F>(recipe)) {}
  // A recipe with its name and arguments in Keras.
  InitializerFn(PartConfig config, Recipe recipe) : config_(std::move(config)), recipe_(std::move(recipe)) {}
  // For values that no Initializer can describe, and variables with at least `min_rank` and at most `max_rank`
  // dimensions.
  InitializerFn(PartConfig config, FirstValueFn first_value, int min_rank, int max_rank)
      : config_(std::move(config)),
        first_value_(std::move(first_value)),
        recipe_([](absl::Span<const int64_t>) { return Initializer{}; }),
        min_rank_(min_rank),
        max_rank_(max_rank) {}

  explicit operator bool() const { return recipe_ != nullptr; }

  // Returns zeros if first_value() is set, which is then used instead; a number that variables refuse if Check() fails.
  Initializer operator()(absl::Span<const int64_t> shape) const;
  // InvalidArgument for an unknown name, invalid options, and a shape that does not fit.
  absl::Status Check(absl::Span<const int64_t> shape) const;

  // Keras' class and arguments; not named() if made from a function.
  const PartConfig& config() const { return config_; }
  // For VariableSpec.first_value: set for Orthogonal and Identity. Null if the recipe describes the values completely.
  const FirstValueFn& first_value() const { return first_value_; }

 private:
  PartConfig config_;
  FirstValueFn first_value_;
  Recipe recipe_;
  int min_rank_ = 0, max_rank_ = 1 << 20;
  std::string problem_;  // the error for an unknown name
};

struct Fans {
  double in = 1, out = 1;
};
// Number of inputs and outputs of one unit: [in, out] for a matrix; for a convolution's kernel (HWIO), [.., in, out]
// times the window size; a vector's size counts as both.
Fans ComputeFans(absl::Span<const int64_t> shape);

InitializerFn Zeros();
InitializerFn Ones();
InitializerFn Constant(double value);
// Uniform in [minval, maxval).
InitializerFn RandomUniform(double minval = -0.05, double maxval = 0.05);
InitializerFn RandomNormal(double mean = 0, double stddev = 0.05);
// Normal numbers; those beyond two standard deviations are drawn again. `stddev` is that before the cut.
InitializerFn TruncatedNormal(double mean = 0, double stddev = 0.05);

enum class FanMode : int8_t { kFanIn, kFanOut, kFanAverage };
enum class Distribution : int8_t { kTruncatedNormal, kUntruncatedNormal, kUniform };
struct VarianceScalingOptions {
  double scale = 1;  // positive
  FanMode mode = FanMode::kFanIn;
  Distribution distribution = Distribution::kTruncatedNormal;
};
// Mean 0 and variance scale / max(1, fan), as for all of the following. Before truncation, as in TensorFlow, the
// deviation is divided by 0.8796, so that the variance is right after it.
InitializerFn VarianceScaling(const VarianceScalingOptions& options = {});
// Glorot and Bengio 2010: variance 2 / (fan_in + fan_out).
InitializerFn GlorotUniform();
InitializerFn GlorotNormal();
// He et al. 2015: variance 2 / fan_in.
InitializerFn HeUniform();
InitializerFn HeNormal();
// LeCun et al. 1998, "Efficient BackProp": variance 1 / fan_in.
InitializerFn LecunUniform();
InitializerFn LecunNormal();

// Saxe et al. 2014: [..., columns] is seen as a matrix with `columns` columns; the shorter of its rows and columns are
// orthonormal, times `gain`. The values are the Q of a QR decomposition of normal numbers, where the diagonal of R is
// positive. The variable must have at least two dimensions.
InitializerFn Orthogonal(double gain = 1);
// `gain` on the diagonal of a matrix, which need not be square, 0 elsewhere.
InitializerFn Identity(double gain = 1);

}  // namespace tandem::initializers

#endif  // TANDEM_FRONTENDS_INITIALIZERS_H_
