// Layers for networks on images that also count their floating-point operations.
#ifndef TANDEM_BENCHMARKS_MODELS_IMAGE_LAYERS_H_
#define TANDEM_BENCHMARKS_MODELS_IMAGE_LAYERS_H_

#include "benchmarks/models/model.h"
#include "frontends/layers.h"

namespace tandem::benchmarks {

inline Tensor CountedConv2D(FlopCounter& flops, const Tensor& x, const layers::Conv2DOptions& options) {
  Tensor y = layers::Conv2D(x, options);
  if (!y.ok()) return y;
  Shape in = x.shape(), out = y.shape();
  flops.Layer(
      static_cast<double>(out[1] * out[2] * out[3] * in[3]) * options.kernel_size.height * options.kernel_size.width,
      options.trainable);
  return y;
}

inline Tensor CountedDense(FlopCounter& flops, const Tensor& x, const layers::DenseOptions& options) {
  Tensor y = layers::Dense(x, options);
  if (y.ok()) flops.Layer(static_cast<double>(x.shape()[1]) * options.units, options.trainable);
  return y;
}

}  // namespace tandem::benchmarks

#endif  // TANDEM_BENCHMARKS_MODELS_IMAGE_LAYERS_H_
