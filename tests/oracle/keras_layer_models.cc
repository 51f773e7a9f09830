// Layers that only exist as Keras' objects.
#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "frontends/keras/layers.h"
#include "frontends/layers.h"
#include "graph/ops.h"
#include "tests/oracle/cover.h"
#include "tests/oracle/models.h"

namespace tandem::oracle {
namespace {

using ref::Array;
using ref::Forward;
using ref::Real;
using ref::Tape;

double ValueOf(Real x) { return Tape::Current().value(x); }

// Behind a convolution, so that the layer has to give its input's gradient: [b, 5, 4, 3].
Model OfConvolution(std::string name, std::function<Tensor(const Tensor&)> layer,
                    std::function<Array(const Forward&, const Array&)> reference) {
  return {std::move(name),
          [layer](GraphBuilder& g) {
            const Tensor x = g.Input("image", DType::kFloat32, {kBatch, 6, 5, 2});
            return Head(g, layer(TD_COVER(layers::Conv2D, x, {.filters = 3, .kernel_size = 2, .name = "first"})));
          },
          [reference](Forward& f) { return Head(f, reference(f, ref::Conv2D(f, f.Input("image"), "first"))); }};
}

// Of each element, over numbers in which every part of its formula is used.
Model OfElements(std::string name, std::function<Tensor(const Tensor&)> layer, std::function<Real(Real)> reference) {
  return {std::move(name),
          [layer](GraphBuilder& g) {
            const Tensor x = g.Input("x", DType::kFloat32, {kBatch, 5});
            return Head(g, layer(TD_COVER(layers::Dense, x, {.units = 6})));
          },
          [reference](Forward& f) { return Head(f, ref::Map(ref::Dense(f, f.Input("x"), "dense"), reference)); },
          {{"x", {-9, 9}}}};
}

// `x` and the arrays behind it along the last axis.
Array Joined(const std::vector<Array>& arrays) {
  Array y{arrays[0].shape, {}};
  y.shape.back() = 0;
  for (const Array& a : arrays) y.shape.back() += a.last();
  const int64_t rows = static_cast<int64_t>(arrays[0].values.size()) / arrays[0].last();
  for (int64_t r = 0; r < rows; ++r) {
    for (const Array& a : arrays) {
      y.values.insert(y.values.end(), a.values.begin() + r * a.last(), a.values.begin() + (r + 1) * a.last());
    }
  }
  return y;
}

// An image with zeros around it; a negative number takes away.
Array Framed(const Array& x, int64_t top, int64_t bottom, int64_t left, int64_t right) {
  const int64_t height = x.shape[1], width = x.shape[2], channels = x.shape[3];
  Array y{{x.rows(), height + top + bottom, width + left + right, channels}, {}};
  for (int64_t b = 0; b < x.rows(); ++b) {
    for (int64_t i = -top; i < height + bottom; ++i) {
      for (int64_t j = -left; j < width + right; ++j) {
        const bool inside = i >= 0 && i < height && j >= 0 && j < width;
        for (int64_t c = 0; c < channels; ++c) {
          y.values.push_back(inside ? x.values[((b * height + i) * width + j) * channels + c]
                                    : Tape::Current().Number(0));
        }
      }
    }
  }
  return y;
}

// [b, m, n] -> [b, n, m].
Array Transposed(const Array& x) {
  const int64_t m = x.shape[1], n = x.shape[2];
  Array y{{x.rows(), n, m}, {}};
  for (int64_t b = 0; b < x.rows(); ++b) {
    for (int64_t j = 0; j < n; ++j) {
      for (int64_t i = 0; i < m; ++i) y.values.push_back(x.values[(b * m + i) * n + j]);
    }
  }
  return y;
}

// Products of all rows of x [b, m, k] with all of y [b, n, k], each divided by its length where `normalize` is set:
// [b, m, n].
Array RowProducts(const Array& x, const Array& y, bool normalize) {
  const auto row = [&](const Array& a, int64_t i) {
    std::vector<Real> v(a.values.begin() + i * a.last(), a.values.begin() + (i + 1) * a.last());
    const Real length = ref::Sqrt(ref::Max(ref::Dot(v, v), 1e-12));
    for (Real& one : v) one = normalize ? one / length : one;
    return v;
  };
  const int64_t m = x.shape[1], n = y.shape[1];
  Array z{{x.rows(), m, n}, {}};
  for (int64_t b = 0; b < x.rows(); ++b) {
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j) z.values.push_back(ref::Dot(row(x, b * m + i), row(y, b * n + j)));
    }
  }
  return z;
}

void AddImages(std::vector<Model>& models) {
  models.push_back(OfConvolution(
      "keras_global_pooling",
      [](const Tensor& x) {
        const Tensor mean = TD_COVER(keras::layers::GlobalAveragePooling2D)(x);
        const Tensor largest = TD_COVER(keras::layers::GlobalMaxPooling2D)(x);
        return TD_COVER(keras::layers::Concatenate)(std::vector<Tensor>{mean, largest});
      },
      [](const Forward&, const Array& x) {
        const ref::Window all{.height = x.shape[1], .width = x.shape[2]};
        return Joined({ref::Reshaped(ref::AveragePool(x, all), {x.rows(), x.last()}),
                       ref::Reshaped(ref::MaxPool(x, all), {x.rows(), x.last()})});
      }));
  models.push_back(OfConvolution(
      "keras_global_pooling_keepdims",
      [](const Tensor& x) {
        const Tensor mean = TD_COVER(keras::layers::GlobalAveragePooling2D, {.keepdims = true})(x);
        const Tensor largest = TD_COVER(keras::layers::GlobalMaxPooling2D, {.keepdims = true})(x);
        // Each of the image's elements with its channel's mean and largest.
        const Tensor product = TD_COVER(keras::layers::Multiply)(std::vector<Tensor>{x, mean});
        return TD_COVER(keras::layers::Subtract)(std::vector<Tensor>{largest, product});
      },
      [](const Forward&, const Array& x) {
        const ref::Window all{.height = x.shape[1], .width = x.shape[2]};
        const Array mean = ref::AveragePool(x, all), largest = ref::MaxPool(x, all);
        const int64_t channels = x.last(), per_row = x.shape[1] * x.shape[2] * channels;
        Array y{x.shape, {}};
        for (int64_t i = 0; i < static_cast<int64_t>(x.values.size()); ++i) {
          const int64_t of = i / per_row * channels + i % channels;
          y.values.push_back(largest.values[of] - x.values[i] * mean.values[of]);
        }
        return y;
      }));
  models.push_back(OfConvolution(
      "keras_edges",
      [](const Tensor& x) {
        const Tensor padded = TD_COVER(keras::layers::ZeroPadding2D, {.padding = {{1, 0}, {2, 1}}})(x);  // 6 x 7
        const Tensor mixed = TD_COVER(layers::Conv2D, padded, {.filters = 2, .kernel_size = 2, .name = "second"});
        return TD_COVER(keras::layers::Cropping2D, {.cropping = {{0, 2}, {1, 0}}})(mixed);
      },
      [](const Forward& f, const Array& x) {
        return Framed(ref::Conv2D(f, Framed(x, 1, 0, 2, 1), "second"), 0, -2, -1, 0);
      }));
  Model dropout = OfConvolution(
      "keras_spatial_dropout",
      [](const Tensor& x) {
        return TD_COVER(keras::layers::SpatialDropout2D, 0.4, {.name = "drop"})(x, {.training = true});
      },
      [](const Forward& f, const Array& x) {
        const ref::Numbers& uniform = f.Uniform("drop/RandomUniform");  // [b, 1, 1, channels]
        const int64_t channels = x.last(), per_row = x.shape[1] * x.shape[2] * channels;
        Array y{x.shape, {}};
        for (int64_t i = 0; i < static_cast<int64_t>(x.values.size()); ++i) {
          const bool kept = uniform.values.at(i / per_row * channels + i % channels) >= 0.4;
          y.values.push_back(kept ? x.values[i] / 0.6 : Tape::Current().Number(0));
        }
        return y;
      });
  dropout.randoms = {"drop/RandomUniform"};
  models.push_back(std::move(dropout));
}

void AddElements(std::vector<Model>& models) {
  models.push_back(OfElements(
      "keras_relu_cut",
      [](const Tensor& x) { return TD_COVER(keras::layers::ReLU, {.max_value = 2.5, .negative_slope = 0.2})(x); },
      [](Real x) { return ref::Min(ref::Max(x, 0.0), 2.5) + ref::Min(x, 0.0) * 0.2; }));
  models.push_back(OfElements(
      "keras_relu_threshold",
      [](const Tensor& x) { return TD_COVER(keras::layers::ReLU, {.negative_slope = 0.3, .threshold = 0.5})(x); },
      [](Real x) {
        Tape::Current().NoteChoice(ValueOf(x) - 0.5);
        return ValueOf(x) >= 0.5 ? x : (x - 0.5) * 0.3;
      }));
  models.push_back(OfElements(
      "keras_leaky_relu", [](const Tensor& x) { return TD_COVER(keras::layers::LeakyReLU, {.alpha = 0.1})(x); },
      [](Real x) { return ref::LeakyRelu(x, 0.1); }));
  models.push_back(OfElements(
      "keras_elu", [](const Tensor& x) { return TD_COVER(keras::layers::ELU, {.alpha = 0.4})(x); },
      [](Real x) {
        Tape::Current().NoteChoice(ValueOf(x));
        return ValueOf(x) > 0 ? x : (ref::Exp(x) - 1) * 0.4;
      }));
  models.push_back(OfElements(
      "keras_rescaling",
      [](const Tensor& x) {
        const Tensor scaled = TD_COVER(keras::layers::Rescaling, {.scale = 0.25, .offset = -0.5})(x);
        const Tensor squashed = TD_COVER(keras::layers::Activation, "tanh")(scaled);
        const Tensor same = TD_COVER(keras::layers::Identity)(squashed);
        return TD_COVER(keras::layers::Lambda, [](const Tensor& y) { return y * y; })(same);
      },
      [](Real x) {
        const Real y = ref::Tanh(x * 0.25 - 0.5);
        return y * y;
      }));
}

void AddMoves(std::vector<Model>& models) {
  models.push_back({"keras_moves",
                    [](GraphBuilder& g) {
                      Tensor x = g.Input("x", DType::kFloat32, {kBatch, 5});
                      x = TD_COVER(layers::Dense, x, {.units = 6});
                      x = TD_COVER(keras::layers::Reshape, {2, -1})(x);
                      x = TD_COVER(keras::layers::Permute, {2, 1})(x);
                      x = TD_COVER(layers::Dense, x, {.units = 4, .activation = Tanh});  // [b, 3, 4]
                      return Head(g, TD_COVER(keras::layers::RepeatVector, 2)(TD_COVER(layers::Flatten, x)));
                    },
                    [](Forward& f) {
                      Array x = ref::Dense(f, f.Input("x"), "dense");
                      x = Transposed(ref::Reshaped(x, {x.rows(), 2, 3}));
                      x = ref::Flatten(ref::Map(ref::Dense(f, x, "dense_1"), ref::Tanh));
                      return Head(f, Joined({x, x}));
                    }});
}

void AddMerges(std::vector<Model>& models) {
  models.push_back(
      {"keras_merges",
       [](GraphBuilder& g) {
         const Tensor x = g.Input("x", DType::kFloat32, {kBatch, 5});
         const Tensor a = TD_COVER(layers::Dense, x, {.units = 4}), b = TD_COVER(layers::Dense, x, {.units = 4});
         const Tensor c = TD_COVER(layers::Dense, x, {.units = 1});
         const std::vector<Tensor> all = {a, b, c};
         return Head(g, TD_COVER(keras::layers::Concatenate, {.axis = 1})(std::vector<Tensor>{
                            TD_COVER(keras::layers::Add)(all), TD_COVER(keras::layers::Average)(all),
                            TD_COVER(keras::layers::Maximum)(all), TD_COVER(keras::layers::Minimum)(all), c}));
       },
       [](Forward& f) {
         const Array a = ref::Dense(f, f.Input("x"), "dense"), b = ref::Dense(f, f.Input("x"), "dense_1");
         const Array c = ref::Dense(f, f.Input("x"), "dense_2");
         Array wide{a.shape, {}};
         for (size_t i = 0; i < a.values.size(); ++i) wide.values.push_back(c.values[i / 4]);
         const auto merged = [&](const std::function<Real(Real, Real)>& merge) {
           return ref::Map(ref::Map(a, b, merge), wide, merge);
         };
         const Array sum = merged([](Real x, Real y) { return x + y; });
         return Head(f, Joined({sum, ref::Map(sum, [](Real x) { return x / 3; }),
                                merged([](Real x, Real y) { return ref::Max(x, y); }),
                                merged([](Real x, Real y) { return ref::Min(x, y); }), c}));
       }});
  models.push_back(
      {"keras_dot_of_vectors",
       [](GraphBuilder& g) {
         const Tensor x = g.Input("x", DType::kFloat32, {kBatch, 5});
         const Tensor a = TD_COVER(layers::Dense, x, {.units = 4});
         const Tensor b = TD_COVER(layers::Dense, x, {.units = 4});
         return Head(g, TD_COVER(keras::layers::Dot, {.axes = {1}})(std::vector<Tensor>{a, b}));
       },
       [](Forward& f) {
         const Array a = ref::Dense(f, f.Input("x"), "dense"), b = ref::Dense(f, f.Input("x"), "dense_1");
         return Head(f, RowProducts(ref::Reshaped(a, {a.rows(), 1, 4}), ref::Reshaped(b, {b.rows(), 1, 4}), false));
       }});
  models.push_back(
      {"keras_dot_of_sequences",
       [](GraphBuilder& g) {
         const Tensor x = g.Input("x", DType::kFloat32, {kBatch, 3, 2});
         const Tensor a = TD_COVER(layers::Dense, x, {.units = 4});  // [b, 3, 4]
         const Tensor b = TD_COVER(keras::layers::Permute, {2, 1})(
             TD_COVER(layers::Dense, g.Input("y", DType::kFloat32, {kBatch, 2, 3}), {.units = 4}));  // [b, 4, 2]
         return Head(g, TD_COVER(keras::layers::Dot, {.axes = {2, 1}, .normalize = true})(std::vector<Tensor>{a, b}));
       },
       [](Forward& f) {
         return Head(f,
                     RowProducts(ref::Dense(f, f.Input("x"), "dense"), ref::Dense(f, f.Input("y"), "dense_1"), true));
       }});
}

// Options that the functions of frontends/layers.h do not have.
void AddObjects(std::vector<Model>& models) {
  models.push_back(
      {"keras_norms",
       [](GraphBuilder& g) {
         Tensor x = TD_COVER(layers::Dense, g.Input("x", DType::kFloat32, {kBatch, 2, 1, 2, 3}), {.units = 4});
         x = TD_COVER(keras::layers::BatchNormalization, {.axis = 4})(x, {.training = true});
         x = TD_COVER(keras::layers::LayerNormalization, {.axis = -1})(Tanh(x));
         return Head(g, TD_COVER(keras::layers::Softmax, {.axis = 4})(x));
       },
       [](Forward& f) {
         Array x = ref::BatchNorm(f, ref::Dense(f, f.Input("x"), "dense"), "batch_normalization", {});
         x = ref::LayerNorm(f, ref::Map(x, ref::Tanh), "layer_normalization", 1e-3);
         return Head(f, ref::Softmax(x));
       }});
}

}  // namespace

std::vector<Model> KerasLayerModels() {
  std::vector<Model> models;
  AddImages(models);
  AddElements(models);
  AddMoves(models);
  AddMerges(models);
  AddObjects(models);
  return models;
}

}  // namespace tandem::oracle
