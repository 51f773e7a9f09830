// Compares Winograd's kernels with oneDNN's direct convolution, layer by layer, on one thread: microseconds per image
// of the forward pass, the input gradient and the filter gradient, in processor time, so that other programs matter
// less. The two alternate; the best of several runs of each counts.
//
//   bazel run //benchmarks:winograd_layers [-- LAYER [TILE [BLOCK]]]    LAYER: a part of the name, "" for all

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/processor_time.h"
#include "oneapi/dnnl/dnnl.hpp"
#include "passes/codegen/kernel_test_util.h"
#include "passes/codegen/winograd_test_util.h"

extern "C" void omp_set_num_threads(int);

namespace tandem {
namespace {

using dnnl::memory;
using Tag = memory::format_tag;
using Type = memory::data_type;

struct Layer {
  const char* name;
  int rows;  // number of images per call
  int size, in, out, pad;
};
const Layer kLayers[] = {
    {"s0_conv2", 32, 13, 32, 64, 0},   {"s0_conv3", 32, 5, 64, 64, 0},  {"s2_conv2", 8, 24, 32, 256, 1},
    {"s2_conv3", 8, 22, 256, 128, 1},  {"vgg_224", 1, 224, 64, 64, 1},  {"vgg_112", 1, 112, 128, 128, 1},
    {"vgg_56", 1, 56, 256, 256, 1},    {"vgg_28", 1, 28, 512, 512, 1},  {"vgg_14", 1, 14, 512, 512, 1},
    {"vgg_14x4", 4, 14, 512, 512, 1},  {"resnet_56", 1, 56, 64, 64, 1}, {"resnet_28", 2, 28, 128, 128, 1},
    {"resnet_14", 4, 14, 256, 256, 1}, {"resnet_7", 4, 7, 512, 512, 1},
};

double Seconds(const std::function<void()>& run, int repeats) {
  const double begin = ThreadProcessorSeconds();
  for (int i = 0; i < repeats; ++i) run();
  return (ThreadProcessorSeconds() - begin) / repeats;
}

dnnl::engine& Engine() {
  static dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

memory Make(const memory::desc& desc) {
  memory m(desc, Engine());
  float* p = static_cast<float*>(m.get_data_handle());
  for (size_t i = 0; i < desc.get_size() / 4; ++i) p[i] = static_cast<float>(i % 17) - 8;
  return m;
}

// Returns calls of oneDNN's direct forward, input gradient and filter gradient, with the layouts that a compiled
// program uses. The filter gradient does not include the reorder of its result.
std::vector<std::function<void()>> Direct(const Layer& l) {
  const int out = l.size + 2 * l.pad - 2;
  const memory::dims strides = {1, 1}, pads = {l.pad, l.pad};
  const auto algorithm = dnnl::algorithm::convolution_direct;
  memory::desc x({l.rows, l.in, l.size, l.size}, Type::f32, Tag::nhwc),
      y({l.rows, l.out, out, out}, Type::f32, Tag::nhwc);
  memory::desc any({l.out, l.in, 3, 3}, Type::f32, Tag::any);
  using Args = std::unordered_map<int, memory>;
  auto call = [](dnnl::primitive p, Args args) {
    return [p, args] {
      static dnnl::stream stream(Engine());
      p.execute(stream, args);
      stream.wait();
    };
  };
  memory mx = Make(x), my = Make(y);
  dnnl::convolution_forward::primitive_desc f(Engine(), dnnl::prop_kind::forward_training, algorithm, x, any, y,
                                              strides, pads, pads);
  dnnl::convolution_backward_data::primitive_desc d(Engine(), algorithm, x, any, y, strides, pads, pads, f);
  dnnl::convolution_backward_weights::primitive_desc w(Engine(), algorithm, x, any, y, strides, pads, pads, f);
  return {call(dnnl::convolution_forward(f),
               {{DNNL_ARG_SRC, mx}, {DNNL_ARG_WEIGHTS, Make(f.weights_desc())}, {DNNL_ARG_DST, my}}),
          call(dnnl::convolution_backward_data(d),
               {{DNNL_ARG_DIFF_DST, my}, {DNNL_ARG_WEIGHTS, Make(d.weights_desc())}, {DNNL_ARG_DIFF_SRC, mx}}),
          call(dnnl::convolution_backward_weights(w),
               {{DNNL_ARG_SRC, mx}, {DNNL_ARG_DIFF_DST, my}, {DNNL_ARG_DIFF_WEIGHTS, Make(w.diff_weights_desc())}})};
}

// Compiles a kernel and returns a function that calls it over all rows, with its own buffers.
std::function<void()> Call(const std::string& text, int rows) {
  auto kernel = TestKernel::Create(text, "native");
  if (!kernel.ok()) {
    std::fprintf(stderr, "%s\n", kernel.status().ToString().c_str());
    std::exit(1);
  }
  auto function = (*kernel)->function();
  auto buffers = std::make_shared<std::vector<memory>>();
  auto add = [&](mlir::Type type) {
    Shape shape = RunShape(type, rows);
    int64_t bytes = NumElements(shape) * SizeOf(td::ToDType(mlir::getElementTypeOrSelf(type)));
    buffers->push_back(Make(memory::desc({bytes / 4}, Type::f32, Tag::a)));
  };
  for (mlir::Type t : function.getArgumentTypes()) add(t);
  for (mlir::Type t : function.getResultTypes()) add(t);
  std::shared_ptr<TestKernel> shared = std::move(*kernel);
  return [shared, buffers, rows] {
    std::vector<void*> args;
    for (memory& m : *buffers) args.push_back(m.get_data_handle());
    shared->entry()(args.data(), 0, rows, 0);
  };
}

void Run(const Layer& l, int tile, int block) {
  const WinogradCase c = {l.size, l.size, l.in, l.out, l.pad, l.pad, block};
  const WinogradTexts texts(c, tile);
  const char* names[] = {"forward", "input grad", "filter grad"};
  std::vector<std::function<void()>> direct = Direct(l);
  std::vector<std::function<void()>> winograd = {Call(texts.Forward(false), l.rows), Call(texts.InputGrad(), l.rows),
                                                 Call(texts.FilterGrad(), l.rows)};
  const double flops = 2.0 * 9 * texts.shape().out_height * texts.shape().out_width * l.in * l.out;
  for (int role = 0; role < 3; ++role) {
    double best[2] = {1e30, 1e30};
    const int repeats = std::max(1, static_cast<int>(2e9 / (flops * l.rows)));
    for (int i = 0; i < 7; ++i) {
      best[0] = std::min(best[0], Seconds(direct[role], repeats));
      best[1] = std::min(best[1], Seconds(winograd[role], repeats));
    }
    for (double& b : best) b /= l.rows;
    std::printf("%-10s F(%d) block %3d %-11s direct %9.2f us %6.1f GFLOP/s   winograd %9.2f us %6.1f   ratio %.2f\n",
                l.name, tile, block, names[role], best[0] * 1e6, flops / best[0] / 1e9, best[1] * 1e6,
                flops / best[1] / 1e9, best[0] / best[1]);
    std::fflush(stdout);
  }
}

}  // namespace
}  // namespace tandem

int main(int argc, char** argv) {
  omp_set_num_threads(1);
  const std::string layer = argc > 1 ? argv[1] : "";
  const int tile = argc > 2 ? std::atoi(argv[2]) : 4, block = argc > 3 ? std::atoi(argv[3]) : 36;
  for (const tandem::Layer& l : tandem::kLayers) {
    if (std::string(l.name).find(layer) != std::string::npos) tandem::Run(l, tile, block);
  }
}
