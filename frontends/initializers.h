// Initialisers of variables, named and computed as in Keras. Random ones are keyed by the variable's name and the
// run's seed, so that adding a layer does not change the first weights of another.
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

// Gives the graph's initialiser for a variable of a (static) shape: any function that does, one of those below, or one
// by Keras' name, such as "he_normal", or class, "HeNormal".
class InitializerFn {
 public:
  using Recipe = std::function<Initializer(absl::Span<const int64_t> shape)>;

  InitializerFn() = default;
  InitializerFn(std::nullptr_t) {}  // NOLINT: implicit
  // The names are zeros, ones, constant (0), random_uniform, random_normal, truncated_normal, variance_scaling,
  // glorot_uniform, glorot_normal, he_uniform, he_normal, lecun_uniform, lecun_normal, orthogonal and identity, and for
  // short zero, one, uniform and normal. Check() has the error of another.
  InitializerFn(const char* name);         // NOLINT: implicit
  InitializerFn(const std::string& name);  // NOLINT: implicit
  template <typename F>
  requires(!std::same_as<std::remove_cvref_t<F>, InitializerFn> &&
           std::is_invocable_r_v<Initializer, F, absl::Span<const int64_t>>) InitializerFn(F&& recipe)  // NOLINT
      : recipe_(std::forward<F>(recipe)) {}
  // With Keras' name for the recipe.
  InitializerFn(PartConfig config, Recipe recipe) : config_(std::move(config)), recipe_(std::move(recipe)) {}
  // Of values that no recipe of numbers describes, of variables with at least `min_rank` and at most `max_rank`
  // dimensions.
  InitializerFn(PartConfig config, FirstValueFn first_value, int min_rank, int max_rank)
      : config_(std::move(config)),
        first_value_(std::move(first_value)),
        recipe_([](absl::Span<const int64_t>) { return Initializer{}; }),
        min_rank_(min_rank),
        max_rank_(max_rank) {}

  explicit operator bool() const { return recipe_ != nullptr; }

  // Zeros where first_value() is set, which then counts; a number that no variable takes where Check() fails.
  Initializer operator()(absl::Span<const int64_t> shape) const;
  // InvalidArgument for a name that is not known, options that make no sense and a shape that does not fit.
  absl::Status Check(absl::Span<const int64_t> shape) const;

  // Keras' class and arguments; not named() for a function.
  const PartConfig& config() const { return config_; }
  // For VariableSpec.first_value: of Orthogonal and Identity. Null where the recipe says everything.
  const FirstValueFn& first_value() const { return first_value_; }

 private:
  PartConfig config_;
  FirstValueFn first_value_;
  Recipe recipe_;
  int min_rank_ = 0, max_rank_ = 1 << 20;
  std::string problem_;  // of an unknown name
};

struct Fans {
  double in = 1, out = 1;
};
// Inputs and outputs of one unit: [in, out] for a matrix, [.., in, out] times the window for a convolution's kernel
// (HWIO); a vector counts as both.
Fans ComputeFans(absl::Span<const int64_t> shape);

InitializerFn Zeros();
InitializerFn Ones();
InitializerFn Constant(double value);
// Uniform in [minval, maxval).
InitializerFn RandomUniform(double minval = -0.05, double maxval = 0.05);
InitializerFn RandomNormal(double mean = 0, double stddev = 0.05);
// Normal, drawn again beyond two standard deviations. `stddev` is that of the normal before the cut.
InitializerFn TruncatedNormal(double mean = 0, double stddev = 0.05);

enum class FanMode : int8_t { kFanIn, kFanOut, kFanAverage };
enum class Distribution : int8_t { kTruncatedNormal, kUntruncatedNormal, kUniform };
struct VarianceScalingOptions {
  double scale = 1;  // positive
  FanMode mode = FanMode::kFanIn;
  Distribution distribution = Distribution::kTruncatedNormal;
};
// Mean 0 and variance scale / max(1, fan), as all of the next ones; what is truncated is, as in TensorFlow, widened by
// 1 / 0.8796 before, so that the variance is right after it.
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

// Saxe et al. 2014: of [..., columns], seen as a matrix of `columns` columns, the shorter of rows and columns are
// orthonormal, times `gain`: the Q of the QR decomposition of normal numbers whose R has a positive diagonal. Of at
// least two dimensions.
InitializerFn Orthogonal(double gain = 1);
// `gain` on the diagonal of a matrix, which need not be square, 0 elsewhere.
InitializerFn Identity(double gain = 1);

}  // namespace tandem::initializers

#endif  // TANDEM_FRONTENDS_INITIALIZERS_H_
