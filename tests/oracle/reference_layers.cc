#include "tests/oracle/reference_layers.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

#include "absl/types/span.h"

namespace tandem::ref {
namespace {

std::map<std::string, Array> OnTape(const NumbersMap& numbers) {
  std::map<std::string, Array> arrays;
  for (const auto& [name, n] : numbers) {
    Array& array = arrays[name];
    array.shape = n.shape;
    for (double v : n.values) array.values.push_back(Tape::Current().Number(v));
  }
  return arrays;
}

double V(Real x) { return Tape::Current().value(x); }

// The rows of the last axis one by one.
Array ByRow(const Array& x, const std::function<std::vector<Real>(absl::Span<const Real>)>& f) {
  Array y{x.shape, {}};
  for (size_t i = 0; i < x.values.size(); i += x.last()) {
    std::vector<Real> row = f(absl::MakeConstSpan(x.values).subspan(i, x.last()));
    y.values.insert(y.values.end(), row.begin(), row.end());
  }
  return y;
}

Real LogSumExp(absl::Span<const Real> row) {
  // Shifted by a constant, which changes nothing but the range.
  double largest = V(row[0]);
  for (Real x : row) largest = std::max(largest, V(x));
  std::vector<Real> terms;
  for (Real x : row) terms.push_back(Exp(x - largest));
  return Log(Sum(terms)) + largest;
}

// Calls f(output place, list of input places inside the image with their place in the window) for every output pixel.
struct Taps {
  struct Tap {
    int64_t y, x, ky, kx;
  };
  int64_t out_height, out_width;
  std::vector<std::vector<Tap>> taps;  // by output pixel
};

Taps TapsOf(int64_t height, int64_t width, const Window& w) {
  auto out = [&](int64_t size, int64_t window, int64_t stride) {
    return w.same ? (size + stride - 1) / stride : (size - window) / stride + 1;
  };
  // TensorFlow's "SAME": the odd pixel of padding comes last.
  auto low = [&](int64_t size, int64_t outputs, int64_t window, int64_t stride) {
    return w.same ? std::max<int64_t>((outputs - 1) * stride + window - size, 0) / 2 : 0;
  };
  Taps t{out(height, w.height, w.stride_y), out(width, w.width, w.stride_x), {}};
  const int64_t low_y = low(height, t.out_height, w.height, w.stride_y);
  const int64_t low_x = low(width, t.out_width, w.width, w.stride_x);
  for (int64_t i = 0; i < t.out_height; ++i) {
    for (int64_t j = 0; j < t.out_width; ++j) {
      t.taps.emplace_back();
      for (int64_t ky = 0; ky < w.height; ++ky) {
        for (int64_t kx = 0; kx < w.width; ++kx) {
          const int64_t y = i * w.stride_y + ky - low_y, x = j * w.stride_x + kx - low_x;
          if (y >= 0 && y < height && x >= 0 && x < width) t.taps.back().push_back({y, x, ky, kx});
        }
      }
    }
  }
  return t;
}

// Every channel of every window becomes one number.
Array Pool(const Array& x, const Window& window, const std::function<Real(absl::Span<const Real>)>& f) {
  const int64_t height = x.shape[1], width = x.shape[2], channels = x.shape[3];
  const Taps taps = TapsOf(height, width, window);
  Array y{{x.rows(), taps.out_height, taps.out_width, channels}, {}};
  for (int64_t b = 0; b < x.rows(); ++b) {
    for (const std::vector<Taps::Tap>& pixel : taps.taps) {
      for (int64_t c = 0; c < channels; ++c) {
        std::vector<Real> inside;
        for (const Taps::Tap& t : pixel) {
          inside.push_back(x.values[((b * height + t.y) * width + t.x) * channels + c]);
        }
        y.values.push_back(f(inside));
      }
    }
  }
  return y;
}

void AddBias(const Forward& f, const std::string& name, Array& y) {
  const Array& bias = f.Variable(name);
  for (size_t i = 0; i < y.values.size(); ++i) y.values[i] = y.values[i] + bias.values[i % bias.values.size()];
}

// x [..., in] times a kernel [in, out].
Array Times(const Array& x, const Array& kernel, int64_t in, int64_t out) {
  Array y{x.shape, {}};
  y.shape.back() = out;
  std::vector<std::vector<Real>> columns(out);
  for (int64_t o = 0; o < out; ++o) {
    for (int64_t i = 0; i < in; ++i) columns[o].push_back(kernel.values[i * out + o]);
  }
  for (size_t r = 0; r < x.values.size(); r += in) {
    for (int64_t o = 0; o < out; ++o) {
      y.values.push_back(Dot(absl::MakeConstSpan(x.values).subspan(r, in), columns[o]));
    }
  }
  return y;
}

}  // namespace

Forward::Forward(const NumbersMap& variables, const NumbersMap& inputs, const std::vector<int64_t>& rows_per_replica,
                 const NumbersMap& uniforms)
    : variables_(OnTape(variables)),
      inputs_(OnTape(inputs)),
      rows_per_replica_(rows_per_replica),
      uniforms_(uniforms) {}

std::vector<int64_t> Forward::Integers(const std::string& name) const {
  std::vector<int64_t> integers;
  for (Real x : inputs_.at(name).values) integers.push_back(static_cast<int64_t>(V(x)));
  return integers;
}

int64_t Forward::rows() const {
  return std::accumulate(rows_per_replica_.begin(), rows_per_replica_.end(), int64_t{0});
}

Array Map(const Array& x, const std::function<Real(Real)>& f) {
  Array y{x.shape, {}};
  for (Real v : x.values) y.values.push_back(f(v));
  return y;
}

Array Map(const Array& x, const Array& y, const std::function<Real(Real, Real)>& f) {
  Array z{x.shape, {}};
  for (size_t i = 0; i < x.values.size(); ++i) z.values.push_back(f(x.values[i], y.values[i]));
  return z;
}

Array Reshaped(const Array& x, Shape shape) { return {std::move(shape), x.values}; }

Real Relu(Real x) { return Max(x, 0.0); }
Real LeakyRelu(Real x, double alpha) {
  Tape::Current().NoteChoice(V(x));
  return V(x) >= 0 ? x : x * alpha;
}
Real Relu6(Real x) { return Min(Max(x, 0.0), 6.0); }
Real Elu(Real x) {
  Tape::Current().NoteChoice(V(x));
  return V(x) >= 0 ? x : Exp(x) - 1;
}
// Both in the form whose exponential does not overflow.
Real Softplus(Real x) { return V(x) > 0 ? x + Log(Exp(x * -1) + 1) : Log(Exp(x) + 1); }
Real Sigmoid(Real x) { return V(x) > 0 ? Tape::Current().Number(1) / (Exp(x * -1) + 1) : Exp(x) / (Exp(x) + 1); }
Real Swish(Real x) { return x * Sigmoid(x); }
Real Gelu(Real x) { return x * (Erf(x / std::numbers::sqrt2) + 1) * 0.5; }

Real Selu(Real x) {
  Tape::Current().NoteChoice(V(x));
  return (V(x) >= 0 ? x : (Exp(x) - 1) * 1.67326324235437728482) * 1.05070098735548049342;
}
Real Softsign(Real x) { return x / (Max(x, x * -1) + 1); }
Real Mish(Real x) { return x * Tanh(Softplus(x)); }
Real HardSigmoid(Real x) { return Min(Max(x * 0.2 + 0.5, 0.0), 1.0); }

Array Softmax(const Array& x) { return Map(LogSoftmax(x), Exp); }

Array LogSoftmax(const Array& x) {
  return ByRow(x, [](absl::Span<const Real> row) {
    Real sum = LogSumExp(row);
    std::vector<Real> y;
    for (Real v : row) y.push_back(v - sum);
    return y;
  });
}

Array Flatten(const Array& x) { return Reshaped(x, {x.rows(), NumElements(absl::MakeConstSpan(x.shape).subspan(1))}); }

Array Dense(const Forward& f, const Array& x, const std::string& name, bool bias) {
  const Array& kernel = f.Variable(name + "/kernel");
  Array y = Times(x, kernel, kernel.shape[0], kernel.shape[1]);
  if (bias) AddBias(f, name + "/bias", y);
  return y;
}

Array DepthwiseConv2D(const Forward& f, const Array& x, const std::string& name, Window window, bool bias) {
  const Array& kernel = f.Variable(name + "/depthwise_kernel");
  window.height = kernel.shape[0];
  window.width = kernel.shape[1];
  const int64_t height = x.shape[1], width = x.shape[2], in = x.shape[3], multiplier = kernel.shape[3];
  const Taps taps = TapsOf(height, width, window);
  Array y{{x.rows(), taps.out_height, taps.out_width, in * multiplier}, {}};
  std::vector<Real> values, weights;
  for (int64_t b = 0; b < x.rows(); ++b) {
    for (const std::vector<Taps::Tap>& pixel : taps.taps) {
      for (int64_t o = 0; o < in * multiplier; ++o) {
        const int64_t c = o / multiplier, m = o % multiplier;
        values.clear();
        weights.clear();
        for (const Taps::Tap& t : pixel) {
          values.push_back(x.values[((b * height + t.y) * width + t.x) * in + c]);
          weights.push_back(kernel.values[((t.ky * window.width + t.kx) * in + c) * multiplier + m]);
        }
        y.values.push_back(Dot(values, weights));
      }
    }
  }
  if (bias) AddBias(f, name + "/bias", y);
  return y;
}

Array SeparableConv2D(const Forward& f, const Array& x, const std::string& name, Window window, bool bias) {
  const Array channels = DepthwiseConv2D(f, x, name, window, /*bias=*/false);
  const Array& kernel = f.Variable(name + "/pointwise_kernel");
  Array y = Times(channels, kernel, kernel.shape[2], kernel.shape[3]);
  if (bias) AddBias(f, name + "/bias", y);
  return y;
}

Array Conv2D(const Forward& f, const Array& x, const std::string& name, Window window, bool bias) {
  const Array& kernel = f.Variable(name + "/kernel");
  window.height = kernel.shape[0];
  window.width = kernel.shape[1];
  const int64_t height = x.shape[1], width = x.shape[2], in = x.shape[3], out = kernel.shape[3];
  const Taps taps = TapsOf(height, width, window);
  Array y{{x.rows(), taps.out_height, taps.out_width, out}, {}};
  std::vector<Real> values, weights;
  for (int64_t b = 0; b < x.rows(); ++b) {
    for (const std::vector<Taps::Tap>& pixel : taps.taps) {
      values.clear();
      for (const Taps::Tap& t : pixel) {
        for (int64_t c = 0; c < in; ++c) values.push_back(x.values[((b * height + t.y) * width + t.x) * in + c]);
      }
      for (int64_t o = 0; o < out; ++o) {
        weights.clear();
        for (const Taps::Tap& t : pixel) {
          for (int64_t c = 0; c < in; ++c) {
            weights.push_back(kernel.values[((t.ky * window.width + t.kx) * in + c) * out + o]);
          }
        }
        y.values.push_back(Dot(values, weights));
      }
    }
  }
  if (bias) AddBias(f, name + "/bias", y);
  return y;
}

Array Conv1D(const Forward& f, const Array& x, const std::string& name, int64_t stride, bool same, bool bias) {
  const Array& kernel = f.Variable(name + "/kernel");
  const int64_t steps = x.shape[1], in = x.shape[2], window = kernel.shape[0], out = kernel.shape[2];
  const int64_t outputs = same ? (steps + stride - 1) / stride : (steps - window) / stride + 1;
  // TensorFlow's "SAME": the odd step of padding comes last.
  const int64_t low = same ? std::max<int64_t>((outputs - 1) * stride + window - steps, 0) / 2 : 0;
  Array y{{x.rows(), outputs, out}, {}};
  std::vector<Real> values, weights;
  for (int64_t b = 0; b < x.rows(); ++b) {
    for (int64_t i = 0; i < outputs; ++i) {
      for (int64_t o = 0; o < out; ++o) {
        values.clear();
        weights.clear();
        for (int64_t k = 0; k < window; ++k) {
          const int64_t t = i * stride + k - low;
          if (t < 0 || t >= steps) continue;
          for (int64_t c = 0; c < in; ++c) {
            values.push_back(x.values[(b * steps + t) * in + c]);
            weights.push_back(kernel.values[(k * in + c) * out + o]);
          }
        }
        y.values.push_back(Dot(values, weights));
      }
    }
  }
  if (bias) AddBias(f, name + "/bias", y);
  return y;
}

Array MaxPool(const Array& x, const Window& window) {
  return Pool(x, window, [](absl::Span<const Real> inside) {
    Real largest = inside[0];
    for (Real v : inside.subspan(1)) largest = Max(largest, v);
    return largest;
  });
}

Array AveragePool(const Array& x, const Window& window) {
  return Pool(x, window,
              [](absl::Span<const Real> inside) { return Sum(inside) / static_cast<double>(inside.size()); });
}

Array UpSampled(const Array& x, int64_t rows, int64_t columns) {
  const int64_t height = x.shape[1], width = x.shape[2], channels = x.shape[3];
  Array y{{x.rows(), height * rows, width * columns, channels}, {}};
  for (int64_t b = 0; b < x.rows(); ++b) {
    for (int64_t i = 0; i < height * rows; ++i) {
      for (int64_t j = 0; j < width * columns; ++j) {
        for (int64_t c = 0; c < channels; ++c) {
          y.values.push_back(x.values[((b * height + i / rows) * width + j / columns) * channels + c]);
        }
      }
    }
  }
  return y;
}

Array Dropout(const Forward& f, const Array& x, const std::string& uniform_op, double rate) {
  const Numbers& uniform = f.Uniform(uniform_op);
  Array y{x.shape, {}};
  for (size_t i = 0; i < x.values.size(); ++i) {
    y.values.push_back(uniform.values.at(i) >= rate ? x.values[i] / (1 - rate) : Tape::Current().Number(0));
  }
  return y;
}

Moments MomentsOf(const Array& x, int64_t begin, int64_t end) {
  const int64_t channels = x.last(), per_row = static_cast<int64_t>(x.values.size()) / x.rows();
  Moments moments{{{channels}, {}}, {{channels}, {}}};
  for (int64_t c = 0; c < channels; ++c) {
    std::vector<Real> values, squares;
    for (int64_t i = begin * per_row + c; i < end * per_row; i += channels) values.push_back(x.values[i]);
    const double n = static_cast<double>(values.size());
    const Real mean = Sum(values) / n;
    for (Real v : values) squares.push_back((v - mean) * (v - mean));
    moments.mean.values.push_back(mean);
    moments.variance.values.push_back(Sum(squares) / n);
  }
  return moments;
}

Array BatchNorm(Forward& f, const Array& x, const std::string& name, const BatchNormOptions& o) {
  const int64_t channels = x.last(), per_row = static_cast<int64_t>(x.values.size()) / x.rows();
  const Array& moving_mean = f.Variable(name + "/moving_mean");
  const Array& moving_variance = f.Variable(name + "/moving_variance");
  const Array* gamma = o.scale ? &f.Variable(name + "/gamma") : nullptr;
  const Array* beta = o.center ? &f.Variable(name + "/beta") : nullptr;
  Array y = x;
  auto normalise = [&](int64_t begin, int64_t end, const Array& mean, const Array& variance) {
    for (int64_t i = begin * per_row; i < end * per_row; ++i) {
      const int64_t c = i % channels;
      Real v = (x.values[i] - mean.values[c]) / Sqrt(variance.values[c] + o.epsilon);
      if (gamma != nullptr) v = v * gamma->values[c];
      if (beta != nullptr) v = v + beta->values[c];
      y.values[i] = v;
    }
  };
  if (!o.training) {
    normalise(0, x.rows(), moving_mean, moving_variance);
    return y;
  }
  const std::vector<int64_t> groups = o.sync ? std::vector<int64_t>{x.rows()} : f.rows_per_replica();
  Numbers next_mean{{channels}, std::vector<double>(channels)}, next_variance = next_mean;
  const double with_rows =
      static_cast<double>(std::count_if(groups.begin(), groups.end(), [](int64_t rows) { return rows > 0; }));
  int64_t begin = 0;
  for (int64_t rows : groups) {
    if (rows == 0) continue;
    const Moments batch = MomentsOf(x, begin, begin + rows);
    normalise(begin, begin + rows, batch.mean, batch.variance);
    begin += rows;
    // As TensorFlow's fused kernel: images and volumes keep the unbiased variance.
    const double n = static_cast<double>(rows * per_row / channels);
    const double unbiased = (x.shape.size() == 4 || x.shape.size() == 5) && n > 1 ? n / (n - 1) : 1;
    auto moved = [&](Real old, double now) { return (V(old) * o.momentum + now * (1 - o.momentum)) / with_rows; };
    for (int64_t c = 0; c < channels; ++c) {
      next_mean.values[c] += moved(moving_mean.values[c], V(batch.mean.values[c]));
      next_variance.values[c] += moved(moving_variance.values[c], V(batch.variance.values[c]) * unbiased);
    }
  }
  f.Assign(name + "/moving_mean", next_mean);
  f.Assign(name + "/moving_variance", next_variance);
  return y;
}

Array LayerNorm(const Forward& f, const Array& x, const std::string& name, double epsilon, bool center, bool scale) {
  return ByRow(x, [&](absl::Span<const Real> row) {
    const double n = static_cast<double>(row.size());
    const Real mean = Sum(row) / n;
    std::vector<Real> squares, y;
    for (Real v : row) squares.push_back((v - mean) * (v - mean));
    const Real deviation = Sqrt(Sum(squares) / n + epsilon);
    for (size_t i = 0; i < row.size(); ++i) {
      Real v = (row[i] - mean) / deviation;
      if (scale) v = v * f.Variable(name + "/gamma").values[i];
      if (center) v = v + f.Variable(name + "/beta").values[i];
      y.push_back(v);
    }
    return y;
  });
}

Array Embedding(const Forward& f, const std::string& indices, Shape row_shape, const std::string& name) {
  const Array& table = f.Variable(name + "/embeddings");
  Array y{std::move(row_shape), {}};
  y.shape.insert(y.shape.begin(), f.rows());
  y.shape.push_back(table.last());
  for (int64_t index : f.Integers(indices)) {
    for (int64_t c = 0; c < table.last(); ++c) y.values.push_back(table.values[index * table.last() + c]);
  }
  return y;
}

Array Attention(const Forward& f, const Array& x, const std::string& name, const AttentionOptions& o) {
  const int64_t rows = x.rows(), positions = x.shape[1], width = x.shape[2];
  // [b, s, heads * size]
  auto project = [&](const std::string& which) {
    const Array& kernel = f.Variable(name + "/" + which + "/kernel");
    Array y = Times(x, kernel, width, kernel.shape[1] * kernel.shape[2]);
    if (o.bias) AddBias(f, name + "/" + which + "/bias", y);
    return y;
  };
  const Array query = project("query"), key = project("key"), value = project("value");
  const int64_t heads = f.Variable(name + "/query/kernel").shape[1], size = query.last() / heads,
                value_size = value.last() / heads;
  std::vector<int64_t> mask;
  if (!o.mask.empty()) mask = f.Integers(o.mask);
  const bool by_query = static_cast<int64_t>(mask.size()) == rows * positions * positions;
  auto attends = [&](int64_t b, int64_t from, int64_t to) {
    if (o.causal && to > from) return false;
    return mask.empty() || mask[by_query ? (b * positions + from) * positions + to : b * positions + to] != 0;
  };
  auto part = [&](const Array& a, int64_t b, int64_t s, int64_t h, int64_t n) {
    return absl::MakeConstSpan(a.values).subspan((b * positions + s) * a.last() + h * n, n);
  };
  Array weights{{rows, heads, positions, positions}, {}};
  for (int64_t b = 0; b < rows; ++b) {
    for (int64_t h = 0; h < heads; ++h) {
      for (int64_t s = 0; s < positions; ++s) {
        for (int64_t t = 0; t < positions; ++t) {
          const Real score = Dot(part(query, b, s, h, size), part(key, b, t, h, size)) / std::sqrt(size);
          weights.values.push_back(attends(b, s, t) ? score : Tape::Current().Number(-1e9));
        }
      }
    }
  }
  weights = Softmax(weights);
  if (o.dropout > 0) weights = Dropout(f, weights, o.uniform_op, o.dropout);
  Array context{{rows, positions, heads * value_size}, {}};
  for (int64_t b = 0; b < rows; ++b) {
    for (int64_t s = 0; s < positions; ++s) {
      for (int64_t h = 0; h < heads; ++h) {
        for (int64_t c = 0; c < value_size; ++c) {
          std::vector<Real> column;
          for (int64_t t = 0; t < positions; ++t) column.push_back(part(value, b, t, h, value_size)[c]);
          const int64_t row = ((b * heads + h) * positions + s) * positions;
          context.values.push_back(Dot(absl::MakeConstSpan(weights.values).subspan(row, positions), column));
        }
      }
    }
  }
  Array y = Times(context, f.Variable(name + "/attention_output/kernel"), heads * value_size, width);
  if (o.bias) AddBias(f, name + "/attention_output/bias", y);
  return y;
}

}  // namespace tandem::ref
