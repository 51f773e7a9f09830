// Shows which oneDNN implementations the convnet of scenario S0 gets with plain NHWC activations, and how fast one
// thread runs them: forward, input gradient and filter gradient for each microbatch size. A compiled program must never
// contain an implementation named "ref" (oneDNN's slow fallback).
//
//   bazel run -c opt //benchmarks:onednn_shapes
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <unordered_map>
#include <vector>

#include "oneapi/dnnl/dnnl.hpp"

extern "C" void omp_set_num_threads(int);

namespace {

using dnnl::memory;
using Tag = memory::format_tag;
using Type = memory::data_type;

struct Conv {
  const char* name;
  int h, c, k, o;  // input size, input channels, kernel size, output channels; no padding, stride 1
};
const Conv kConvs[] = {{"conv2d", 28, 1, 3, 32}, {"conv2d_1", 13, 32, 3, 64}, {"conv2d_2", 5, 64, 3, 64}};

struct Dense {
  const char* name;
  int in, out;
};
const Dense kDense[] = {{"dense", 576, 64}, {"dense_1", 64, 10}};

dnnl::engine& Engine() {
  static dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

// Returns the microseconds of one run, as in the fastest of several batches of runs.
double Time(const dnnl::primitive& p, const std::unordered_map<int, memory>& args) {
  dnnl::stream stream(Engine());
  double best = 1e30;
  for (int repeat = 0; repeat < 7; ++repeat) {
    constexpr int kRuns = 20;
    auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < kRuns; ++i) p.execute(stream, args);
    stream.wait();
    double us = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count() / kRuns;
    if (repeat > 0) best = std::min(best, us);
  }
  return best;
}

void Print(const char* layer, const char* what, int microbatch, double flops, double us, const char* implementation) {
  std::printf("%-9s %-12s %5d %9.2f us  %7.3f us/image  %6.1f GFLOP/s  %s\n", layer, what, microbatch, us,
              us / microbatch, flops / us / 1e3, implementation);
}

memory Make(const memory::desc& desc) {
  memory m(desc, Engine());
  float* p = static_cast<float*>(m.get_data_handle());
  for (size_t i = 0; i < desc.get_size() / 4; ++i) p[i] = static_cast<float>(i % 17) - 8;
  return m;
}

// Measures one convolution. `kernel` is the memory format of the weights; with Tag::any oneDNN chooses it.
void RunConv(const Conv& l, int n, Tag kernel, const char* note) {
  int out = l.h - l.k + 1;
  memory::desc x({n, l.c, l.h, l.h}, Type::f32, Tag::nhwc), y({n, l.o, out, out}, Type::f32, Tag::nhwc);
  memory::desc w({l.o, l.c, l.k, l.k}, Type::f32, kernel), b({l.o}, Type::f32, Tag::a);
  double flops = 2.0 * n * out * out * l.o * l.c * l.k * l.k;
  std::string suffix = note;
  dnnl::post_ops relu;
  relu.append_eltwise(dnnl::algorithm::eltwise_relu, 0, 0);
  dnnl::primitive_attr attr;
  attr.set_post_ops(relu);
  auto algorithm = dnnl::algorithm::convolution_direct;
  dnnl::convolution_forward::primitive_desc fwd(Engine(), dnnl::prop_kind::forward_training, algorithm, x, w, b, y,
                                                {1, 1}, {0, 0}, {0, 0}, attr);
  memory mx = Make(x), my = Make(y), mb = Make(b);
  double us =
      Time(dnnl::convolution_forward(fwd),
           {{DNNL_ARG_SRC, mx}, {DNNL_ARG_WEIGHTS, Make(fwd.weights_desc())}, {DNNL_ARG_BIAS, mb}, {DNNL_ARG_DST, my}});
  Print(l.name, ("fwd" + suffix).c_str(), n, flops, us, fwd.impl_info_str());
  dnnl::convolution_forward::primitive_desc hint(Engine(), dnnl::prop_kind::forward_training, algorithm, x, w, y,
                                                 {1, 1}, {0, 0}, {0, 0});
  dnnl::convolution_backward_data::primitive_desc data(Engine(), algorithm, x, w, y, {1, 1}, {0, 0}, {0, 0}, hint);
  us = Time(dnnl::convolution_backward_data(data),
            {{DNNL_ARG_DIFF_SRC, mx}, {DNNL_ARG_WEIGHTS, Make(data.weights_desc())}, {DNNL_ARG_DIFF_DST, my}});
  Print(l.name, ("dinput" + suffix).c_str(), n, flops, us, data.impl_info_str());
  dnnl::convolution_backward_weights::primitive_desc weights(Engine(), algorithm, x, w, y, {1, 1}, {0, 0}, {0, 0},
                                                             hint);
  us = Time(dnnl::convolution_backward_weights(weights),
            {{DNNL_ARG_SRC, mx}, {DNNL_ARG_DIFF_WEIGHTS, Make(weights.diff_weights_desc())}, {DNNL_ARG_DIFF_DST, my}});
  Print(l.name, ("dfilter" + suffix).c_str(), n, flops, us, weights.impl_info_str());
}

void RunMatMul(const char* layer, const char* what, int microbatch, int m, int k, int n, Tag a, Tag b) {
  memory::desc ad({m, k}, Type::f32, a), bd({k, n}, Type::f32, b), cd({m, n}, Type::f32, Tag::ab);
  dnnl::matmul::primitive_desc pd(Engine(), ad, bd, cd);
  double us = Time(dnnl::matmul(pd),
                   {{DNNL_ARG_SRC, Make(ad)}, {DNNL_ARG_WEIGHTS, Make(pd.weights_desc())}, {DNNL_ARG_DST, Make(cd)}});
  Print(layer, what, microbatch, 2.0 * m * n * k, us, pd.impl_info_str());
}

}  // namespace

int main() {
  omp_set_num_threads(1);
  for (int microbatch : {8, 16, 32}) {
    for (const Conv& l : kConvs) {
      RunConv(l, microbatch, Tag::any, "");
      RunConv(l, microbatch, Tag::hwio, " hwio");
    }
    for (const Dense& l : kDense) {
      RunMatMul(l.name, "fwd", microbatch, microbatch, l.in, l.out, Tag::ab, Tag::ab);
      RunMatMul(l.name, "fwd packed", microbatch, microbatch, l.in, l.out, Tag::ab, Tag::any);
      RunMatMul(l.name, "dinput", microbatch, microbatch, l.out, l.in, Tag::ab, Tag::ba);
      RunMatMul(l.name, "dweights", microbatch, l.in, microbatch, l.out, Tag::ba, Tag::ab);
    }
  }
  RunMatMul("peak", "1024^3", 1, 1024, 1024, 1024, Tag::ab, Tag::ab);
  return 0;
}
