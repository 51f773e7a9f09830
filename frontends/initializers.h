// Initialisers of variables, with Keras' names and formulas. Random values depend only on the variable's name and the
// run's seed, so adding a layer does not change the initial weights of another layer.
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
#include "tandem/base/api.h"
#include "tandem/frontends/part_config.h"
#include "tandem/graph/graph_builder.h"

namespace TANDEM_API tandem {
namespace initializers {

// Makes the graph's initialiser for a variable of a given static shape. It is constructed from a function that does
// this, or from Keras' name for such a function ("he_normal") or class ("HeNormal"). The functions below return the
// usual ones.
class InitializerFn {
 public:
  // From a shape to the graph's initialiser.
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
  // An initialiser whose name and arguments in Keras are `config`. `recipe` makes the graph's initialiser from a shape.
  InitializerFn(PartConfig config, Recipe recipe) : config_(std::move(config)), recipe_(std::move(recipe)) {}
  // An initialiser whose values no graph Initializer can describe, so that the function `first_value` computes them.
  // The variable must have at least `min_rank` and at most `max_rank` dimensions.
  InitializerFn(PartConfig config, FirstValueFn first_value, int min_rank, int max_rank)
      : config_(std::move(config)),
        first_value_(std::move(first_value)),
        recipe_([](absl::Span<const int64_t>) { return Initializer{}; }),
        min_rank_(min_rank),
        max_rank_(max_rank) {}

  // False for an initialiser that was not set.
  explicit operator bool() const { return recipe_ != nullptr; }

  // Returns the graph's initialiser for a variable of this shape. It is zeros if first_value() is set, which is used
  // instead, and a value that GraphBuilder::Variable rejects if Check() fails.
  Initializer operator()(absl::Span<const int64_t> shape) const;
  // Returns InvalidArgument for an unknown name, invalid options, and a shape that the initialiser does not support.
  absl::Status Check(absl::Span<const int64_t> shape) const;

  // Keras' class and arguments; config().named() is false if this was made from a function.
  const PartConfig& config() const { return config_; }
  // The function for VariableSpec.first_value, which Orthogonal and Identity set. Null if the graph's Initializer
  // describes the values completely.
  const FirstValueFn& first_value() const { return first_value_; }

 private:
  PartConfig config_;
  FirstValueFn first_value_;
  Recipe recipe_;
  int min_rank_ = 0, max_rank_ = 1 << 20;
  std::string problem_;  // the text of the error for an unknown name
};

// The result of ComputeFans.
struct Fans {
  double in = 1, out = 1;
};
// The numbers of inputs and outputs of one unit. They are [in, out] for a matrix. For a convolution's kernel (HWIO),
// the last two sizes are multiplied by the window size; for a vector both are its size.
Fans ComputeFans(absl::Span<const int64_t> shape);

// The same value everywhere.
InitializerFn Zeros();
InitializerFn Ones();
InitializerFn Constant(double value);
// Uniform in [minval, maxval).
InitializerFn RandomUniform(double minval = -0.05, double maxval = 0.05);
// Normal numbers.
InitializerFn RandomNormal(double mean = 0, double stddev = 0.05);
// Normal numbers; those further than two standard deviations from the mean are drawn again. `stddev` is the standard
// deviation before this truncation.
InitializerFn TruncatedNormal(double mean = 0, double stddev = 0.05);

// Which number of connections VarianceScaling divides by, and which distribution it draws from.
enum class FanMode : int8_t { kFanIn, kFanOut, kFanAverage };
enum class Distribution : int8_t { kTruncatedNormal, kUntruncatedNormal, kUniform };
struct VarianceScalingOptions {
  double scale = 1;  // positive factor of the variance
  FanMode mode = FanMode::kFanIn;
  Distribution distribution = Distribution::kTruncatedNormal;
};
// Random numbers of mean 0 and variance scale / max(1, fan); the initialisers below are special cases. For a truncated
// normal distribution the deviation is first divided by 0.8796, as in TensorFlow, so that the variance is right after
// the truncation.
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

// Saxe et al. 2014: a shape [..., columns] is treated as a matrix with `columns` columns. Its rows, or its columns if
// they are fewer, are orthonormal and multiplied by `gain`. The values are the Q of a QR decomposition of normal
// numbers, where the diagonal of R is positive. The variable must have at least two dimensions.
InitializerFn Orthogonal(double gain = 1);
// `gain` on the diagonal of a matrix, which need not be square, 0 elsewhere.
InitializerFn Identity(double gain = 1);

}  // namespace initializers
}  // namespace tandem

#endif  // TANDEM_FRONTENDS_INITIALIZERS_H_
