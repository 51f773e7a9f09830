// Measures the rounding error of Winograd's kernels and of oneDNN's direct convolution, compared with double precision.
// For each layer and tile size, prints the largest error of some thousand sampled elements and the root mean square
// error, both relative to the root mean square of the exact values. Images are normally distributed, kernels uniform as
// with Glorot's initialiser.
//
//   bazel run //benchmarks:winograd_error
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#include "oneapi/dnnl/dnnl.hpp"
#include "passes/codegen/kernel_test_util.h"
#include "passes/codegen/winograd_test_util.h"

extern "C" void omp_set_num_threads(int);

namespace tandem {
namespace {

using dnnl::memory;
using Tag = memory::format_tag;
using Type = memory::data_type;
using Floats = std::vector<float>;

struct Layer {
  const char* name;
  int64_t size, in, out, pad;
};
// The layers have the sizes of the models. Only large images are made smaller, because more pixels would show nothing
// new.
const Layer kLayers[] = {{"S0, 2nd layer", 13, 32, 64, 0},
                         {"S0, 3rd layer", 5, 64, 64, 0},
                         {"S2, 3rd layer", 22, 256, 128, 1},
                         {"VGG16, block 1", 32, 64, 64, 1},
                         {"VGG16, block 5", 14, 512, 512, 1}};
constexpr int kRows = 2, kSamples = 4000;

void RunKernel(const std::string& text, const std::vector<const Floats*>& operands, Floats& result) {
  auto kernel = TestKernel::Create(text, "native");
  if (!kernel.ok()) {
    std::fprintf(stderr, "%s\n", kernel.status().ToString().c_str());
    std::exit(1);
  }
  std::vector<void*> args;
  for (const Floats* o : operands) args.push_back(const_cast<float*>(o->data()));
  args.push_back(result.data());
  mlir::func::FuncOp f = (*kernel)->function();
  std::vector<char> scratch(f.getNumResults() > 1 ? NumElements(RunShape(f.getResultTypes()[1], kRows)) : 0);
  if (!scratch.empty()) args.push_back(scratch.data());
  const bool rows = td::IsBatched(f.getArgumentTypes()[0]);
  (*kernel)->entry()(args.data(), 0, rows ? kRows : static_cast<int64_t>(operands[0]->size()), 0);
}

struct Data {
  Layer l;
  int64_t out_size;
  Floats x, k, dy;

  explicit Data(const Layer& layer) : l(layer), out_size(layer.size + 2 * layer.pad - 2) {
    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    const float limit = std::sqrt(6.0f / static_cast<float>(9 * (l.in + l.out)));
    std::uniform_real_distribution<float> uniform(-limit, limit);
    x.resize(kRows * l.size * l.size * l.in);
    dy.resize(kRows * out_size * out_size * l.out);
    k.resize(9 * l.in * l.out);
    for (float& v : x) v = normal(random);
    for (float& v : dy) v = normal(random);
    for (float& v : k) v = uniform(random);
  }
  double X(int64_t n, int64_t y, int64_t x_, int64_t c) const {
    bool inside = y >= 0 && y < l.size && x_ >= 0 && x_ < l.size;
    return inside ? x[((n * l.size + y) * l.size + x_) * l.in + c] : 0;
  }
  double Dy(int64_t n, int64_t y, int64_t x_, int64_t c) const {
    bool inside = y >= 0 && y < out_size && x_ >= 0 && x_ < out_size;
    return inside ? dy[((n * out_size + y) * out_size + x_) * l.out + c] : 0;
  }
  double K(int64_t p, int64_t q, int64_t c, int64_t o) const { return k[((p * 3 + q) * l.in + c) * l.out + o]; }

  // Returns one element of the result in double precision, computed by the definition of the convolution.
  double Exact(int role, int64_t element) const {
    double sum = 0;
    if (role == 0) {
      int64_t o = element % l.out, x_ = element / l.out % out_size, y = element / l.out / out_size % out_size;
      int64_t n = element / l.out / out_size / out_size;
      for (int64_t t = 0; t < 9 * l.in; ++t) {
        int64_t c = t % l.in, p = t / l.in / 3, q = t / l.in % 3;
        sum += X(n, y + p - l.pad, x_ + q - l.pad, c) * K(p, q, c, o);
      }
    } else if (role == 1) {
      int64_t c = element % l.in, x_ = element / l.in % l.size, y = element / l.in / l.size % l.size;
      int64_t n = element / l.in / l.size / l.size;
      for (int64_t t = 0; t < 9 * l.out; ++t) {
        int64_t o = t % l.out, p = t / l.out / 3, q = t / l.out % 3;
        sum += Dy(n, y - p + l.pad, x_ - q + l.pad, o) * K(p, q, c, o);
      }
    } else {
      int64_t o = element % l.out, c = element / l.out % l.in, tap = element / l.out / l.in;
      for (int64_t n = 0; n < kRows; ++n) {
        for (int64_t y = 0; y < out_size; ++y) {
          for (int64_t x_ = 0; x_ < out_size; ++x_)
            sum += X(n, y + tap / 3 - l.pad, x_ + tap % 3 - l.pad, c) * Dy(n, y, x_, o);
        }
      }
    }
    return sum;
  }
};

// Returns the largest and the root mean square error as text: "1.2e-06 (3.4e-07)".
std::string Error(const Data& d, int role, const Floats& result) {
  std::mt19937_64 random(2);
  double largest = 0, errors = 0, squares = 0;
  for (int i = 0; i < kSamples; ++i) {
    int64_t at = static_cast<int64_t>(random() % result.size());
    double exact = d.Exact(role, at), error = result[at] - exact;
    largest = std::max(largest, std::abs(error));
    errors += error * error;
    squares += exact * exact;
  }
  char text[64];
  std::snprintf(text, sizeof(text), "%.1e (%.1e)", largest / std::sqrt(squares / kSamples),
                std::sqrt(errors / squares));
  return text;
}

void RunDirect(Data& d, int role, Floats& result) {
  dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  dnnl::stream stream(engine);
  const memory::dims strides = {1, 1}, pads = {d.l.pad, d.l.pad};
  const auto algorithm = dnnl::algorithm::convolution_direct;
  memory::desc x({kRows, d.l.in, d.l.size, d.l.size}, Type::f32, Tag::nhwc);
  memory::desc y({kRows, d.l.out, d.out_size, d.out_size}, Type::f32, Tag::nhwc);
  memory::desc w({d.l.out, d.l.in, 3, 3}, Type::f32, Tag::hwio);
  dnnl::convolution_forward::primitive_desc f(engine, dnnl::prop_kind::forward_training, algorithm, x, w, y, strides,
                                              pads, pads);
  auto at = [&](const memory::desc& desc, Floats& data) { return memory(desc, engine, data.data()); };
  std::unordered_map<int, memory> args;
  if (role == 0) {
    dnnl::convolution_forward(f).execute(
        stream, {{DNNL_ARG_SRC, at(x, d.x)}, {DNNL_ARG_WEIGHTS, at(w, d.k)}, {DNNL_ARG_DST, at(y, result)}});
  } else if (role == 1) {
    dnnl::convolution_backward_data::primitive_desc b(engine, algorithm, x, w, y, strides, pads, pads, f);
    dnnl::convolution_backward_data(b).execute(
        stream, {{DNNL_ARG_DIFF_DST, at(y, d.dy)}, {DNNL_ARG_WEIGHTS, at(w, d.k)}, {DNNL_ARG_DIFF_SRC, at(x, result)}});
  } else {
    dnnl::convolution_backward_weights::primitive_desc b(engine, algorithm, x, w, y, strides, pads, pads, f);
    dnnl::convolution_backward_weights(b).execute(
        stream, {{DNNL_ARG_SRC, at(x, d.x)}, {DNNL_ARG_DIFF_DST, at(y, d.dy)}, {DNNL_ARG_DIFF_WEIGHTS, at(w, result)}});
  }
  stream.wait();
}

void Run(const Layer& l) {
  Data d(l);
  const char* names[] = {"forward", "input gradient", "filter gradient"};
  Floats results[] = {Floats(d.dy.size()), Floats(d.x.size()), Floats(d.k.size())};
  for (int role = 0; role < 3; ++role) {
    std::printf("| %s | %s |", l.name, names[role]);
    RunDirect(d, role, results[role]);
    std::printf(" %s |", Error(d, role, results[role]).c_str());
    for (int tile = 2; tile <= 4; ++tile) {
      const WinogradTexts texts({l.size, l.size, l.in, l.out, l.pad, l.pad, 36}, tile);
      if (role == 2) {
        RunKernel(texts.FilterGrad(), {&d.x, &d.dy}, results[role]);
      } else {
        const bool adjoint = role == 1;
        Floats u(texts.shape().points() * (adjoint ? l.out * PadChannels(l.in) : l.in * PadChannels(l.out)));
        RunKernel(texts.Transform(adjoint), {&d.k}, u);
        RunKernel(adjoint ? texts.InputGrad() : texts.Forward(false), {adjoint ? &d.dy : &d.x, &u}, results[role]);
      }
      std::printf(" %s |", Error(d, role, results[role]).c_str());
    }
    std::printf("\n");
    std::fflush(stdout);
  }
}

}  // namespace
}  // namespace tandem

int main() {
  omp_set_num_threads(1);
  std::printf("| layer | result | direct | F(2x2, 3x3) | F(3x3, 3x3) | F(4x4, 3x3) |\n|---|---|---|---|---|---|\n");
  for (const tandem::Layer& l : tandem::kLayers) tandem::Run(l);
}
