// Initialisers of variables, named and computed as in Keras. Random ones are keyed by the variable's name and the
// run's seed, so that adding a layer does not change the first weights of another.
#ifndef TANDEM_FRONTENDS_INITIALIZERS_H_
#define TANDEM_FRONTENDS_INITIALIZERS_H_

#include <cstdint>
#include <functional>

#include "absl/types/span.h"
#include "graph/graph_builder.h"

namespace tandem::initializers {

// Gives the graph's initialiser for a variable of a (static) shape.
using InitializerFn = std::function<Initializer(absl::Span<const int64_t> shape)>;

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
// Normal, drawn again beyond two standard deviations. `stddev` is that of the normal before the cut.
InitializerFn TruncatedNormal(double mean = 0, double stddev = 0.05);

// Glorot and Bengio 2010: variance 2 / (fan_in + fan_out).
InitializerFn GlorotUniform();
InitializerFn GlorotNormal();
// He et al. 2015: variance 2 / fan_in.
InitializerFn HeUniform();
InitializerFn HeNormal();
// The normal ones are truncated and, as in TensorFlow, widened by 1 / 0.8796 so that the variance is right after it.

}  // namespace tandem::initializers

#endif  // TANDEM_FRONTENDS_INITIALIZERS_H_
