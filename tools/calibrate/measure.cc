#include "tools/calibrate/measure.h"

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/status_macros.h"
#include "oneapi/dnnl/dnnl.hpp"
#include "runtime/cpu/onednn/onednn_primitives.h"
#include "runtime/threads/thread_pool.h"
#include "runtime/variables/arena.h"
#include "tools/calibrate/loops.h"

namespace tandem {
namespace {

using Clock = std::chrono::steady_clock;
double Since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// Returns the seconds of one call, as in the fastest of several measurements that together take `seconds`.
double BestSeconds(double seconds, const std::function<void()>& fn) {
  fn();
  int calls = 1;
  double best = 1e30;
  const Clock::time_point start = Clock::now();
  do {
    const Clock::time_point begin = Clock::now();
    for (int i = 0; i < calls; ++i) fn();
    const double took = Since(begin);
    best = std::min(best, took / calls);
    // A measurement of about 1 ms is long enough for the clock, and short enough to fit between other programs' time
    // slices.
    if (took < 1e-3) calls *= 2;
  } while (Since(start) < seconds);
  return best;
}

// Returns the size of the data or unified cache of this level, which Linux describes in a file ("1024K"). sysconf is
// not used, because in virtual machines it may return the sum over the caches of a larger machine.
double CacheBytes(int level, double otherwise) {
  for (int index = 0; index < 8; ++index) {
    const std::string dir = absl::StrCat("/sys/devices/system/cpu/cpu0/cache/index", index, "/");
    auto read = [&](const char* name) {
      std::string word;
      std::ifstream(dir + name) >> word;
      return word;
    };
    int64_t kibi = 0;
    if (read("level") != absl::StrCat(level) || read("type") == "Instruction") continue;
    if (absl::SimpleAtoi(absl::StripSuffix(read("size"), "K"), &kibi) && kibi > 0) return 1024.0 * kibi;
  }
  return otherwise;
}

class Machine {
 public:
  Machine(int threads, double seconds) : pool_(threads), part_(seconds / 17) {}

  absl::StatusOr<MachineModel> Measure() {
    MachineModel m;
    m.l1_bytes = CacheBytes(1, 32 << 10);
    m.l2_bytes = CacheBytes(2, 512 << 10);
    m.l3_bytes = CacheBytes(3, 8 << 20);
    try {
      m.library_f32 = MatmulRate(dnnl::memory::data_type::f32);
      m.library_bf16 = MatmulRate(dnnl::memory::data_type::bf16, m.library_f32);
      m.library_tf32 = m.library_f32;  // a placeholder: only GPUs have this format
    } catch (const dnnl::error& error) {
      return absl::InternalError(absl::StrCat("oneDNN: ", error.what()));
    }
    constexpr int64_t kElements = 1024;  // x and y together take 8 KiB, which fits into L1
    m.vector_f32 = LoopRate(kElements, kPolynomialFlops, Polynomial);
    m.vector_f64 = m.vector_f32 / 2;
    m.vector_bf16 = PairRate(16 * kElements, m.vector_f32);
    m.transcendentals = LoopRate(kElements, 1, Exp);
    // Each bandwidth is measured with arrays that fill half of that cache, and are larger than the cache below it. For
    // L3, which other programs share, they are smaller.
    TD_ASSIGN_OR_RETURN(m.l1_bandwidth, StreamRate(m.l1_bytes / 2, 1));
    TD_ASSIGN_OR_RETURN(m.l2_bandwidth, StreamRate(m.l2_bytes / 2, 1));
    const double l3 = std::max(2 * m.l2_bytes, m.l3_bytes / 8), dram = 4 * m.l3_bytes;
    TD_ASSIGN_OR_RETURN(m.l3_bandwidth, StreamRate(l3, 1));
    TD_ASSIGN_OR_RETURN(m.dram_bandwidth, StreamRate(dram, 1));
    TD_ASSIGN_OR_RETURN(m.l3_bandwidth_machine, StreamRate(l3, pool_.num_threads()));
    TD_ASSIGN_OR_RETURN(m.dram_bandwidth_machine, StreamRate(dram, pool_.num_threads()));
    m.l3_bandwidth_machine = std::max(m.l3_bandwidth_machine, m.l3_bandwidth);
    m.dram_bandwidth_machine = std::max(m.dram_bandwidth_machine, m.dram_bandwidth);
    TD_ASSIGN_OR_RETURN(m.library_call_overhead, LibraryCallSeconds(m));
    m.kernel_call_overhead = KernelCallSeconds();
    m.section_overhead = BarrierSeconds();
    TD_ASSIGN_OR_RETURN(m.direct_filter_grad_width, DirectFilterGradWidth());
    return m;
  }

 private:
  // Returns the operations per second of a 1024^3 matmul of this type on one thread. If oneDNN has no implementation
  // for the CPU (for bfloat16: without AVX-512), returns `otherwise`, unless that is 0.
  double MatmulRate(dnnl::memory::data_type type, double otherwise = 0) {
    constexpr int64_t n = 1024;
    omp_set_num_threads(1);
    dnnl::engine engine(dnnl::engine::kind::cpu, 0);
    dnnl::stream stream(engine);
    const dnnl::memory::desc md({n, n}, type, dnnl::memory::format_tag::ab);
    dnnl::memory a(md, engine), b(md, engine), c(md, engine);
    for (dnnl::memory* m : {&a, &b}) {
      // These 32 bits are a pair of bfloat16 numbers near 0.5, and also a float near 0.5.
      std::fill_n(static_cast<uint32_t*>(m->get_data_handle()), md.get_size() / 4, 0x3f003f00u);
    }
    const dnnl::matmul::primitive_desc descriptor(engine, md, md, md, dnnl::primitive_attr(),
                                                  /*allow_empty=*/otherwise > 0);
    if (!descriptor) return otherwise;
    dnnl::matmul matmul(descriptor);
    const double seconds = BestSeconds(part_, [&] {
      matmul.execute(stream, {{DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, b}, {DNNL_ARG_DST, c}});
      stream.wait();
    });
    return 2.0 * n * n * n / seconds;
  }

  double LoopRate(int64_t elements, double per_element, void (*loop)(const float*, float*, int64_t)) {
    std::vector<float> x(elements, 0.75f), y(elements);
    return per_element * elements / BestSeconds(part_, [&] { loop(x.data(), y.data(), elements); });
  }

  // Returns the operations per second of products of pairs of bfloat16 numbers; each operand has `elements` numbers.
  // Returns `otherwise` if the CPU has no such instruction.
  double PairRate(int64_t elements, double otherwise) {
    std::vector<uint16_t> x(elements, 0x3f00);  // the bfloat16 number 0.5
    std::vector<float> y(16 * kPairSums);
    if (!PairProducts(x.data(), y.data(), elements)) return otherwise;
    return 2.0 * elements / BestSeconds(part_, [&] { PairProducts(x.data(), y.data(), elements); });
  }

  // Returns the bytes per second that `threads` threads reach together. The arrays of each thread take `bytes` bytes.
  absl::StatusOr<double> StreamRate(double bytes, int threads) {
    const int64_t n = static_cast<int64_t>(bytes) / 2 / 64 * 16;
    std::vector<Arena> arenas;
    for (int t = 0; t < threads; ++t) {
      TD_ASSIGN_OR_RETURN(Arena arena, Arena::Create(2 * n * sizeof(float), "streams"));
      arenas.push_back(std::move(arena));
    }
    auto stream = [&](int64_t t) {
      float* x = reinterpret_cast<float*>(arenas[t].data());
      AddScaled(x, x + n, 0.5f, n);
    };
    pool_.ParallelFor(threads,
                      [&](int64_t t, int) { std::fill_n(reinterpret_cast<float*>(arenas[t].data()), 2 * n, 1e-3f); });
    double seconds = BestSeconds(part_, [&] {
      if (threads == 1) return stream(0);
      pool_.ParallelFor(threads, [&](int64_t t, int) { stream(t); });
    });
    return threads * 3.0 * n * sizeof(float) / seconds;
  }

  // Returns the overhead of a call of oneDNN, measured with a product so small that its operations hardly take time.
  absl::StatusOr<double> LibraryCallSeconds(const MachineModel& m) {
    constexpr int64_t n = 16;
    format::MatMul product;
    product.a_shape = product.b_shape = product.y_shape = {n, n};
    format::LibraryCall call;
    call.operation = std::move(product);
    TD_ASSIGN_OR_RETURN(std::unique_ptr<OneDnnPrimitive> matmul, OneDnnPrimitive::Create(call, 1));
    std::vector<float> a(n * n, 0.5f), b(n * n, 0.5f), c(n * n);
    TD_ASSIGN_OR_RETURN(Arena scratch, Arena::Create(matmul->scratch_bytes(), "scratch"));
    void* in[] = {a.data(), b.data()};
    absl::Status status;
    const double seconds = BestSeconds(part_, [&] { status.Update(matmul->Run(0, in, c.data(), scratch.data())); });
    if (!status.ok()) return status;
    return std::max(seconds - 2.0 * n * n * n / m.library_f32, 1e-9);
  }

  // Returns the seconds that the algorithm takes for the gradient of a 3x3 kernel. The convolution is padded and has 8
  // images of `width` x `width` pixels with 64 channels. Negative if the CPU does not support the algorithm.
  absl::StatusOr<double> FilterGradSeconds(format::Algorithm algorithm, int64_t width) {
    constexpr int64_t kImages = 8, kChannels = 64;
    format::Conv2D conv;
    conv.direction = format::Direction::kFilterGrad;
    conv.x_shape = conv.y_shape = {kImages, width, width, kChannels};
    conv.kernel_shape = {3, 3, kChannels, kChannels};
    conv.strides = conv.pad_low = conv.pad_high = {1, 1};
    format::LibraryCall call;
    call.operation = std::move(conv);
    call.algorithm = algorithm;
    absl::StatusOr<std::unique_ptr<OneDnnPrimitive>> gradient = OneDnnPrimitive::Create(call, 1);
    if (absl::IsFailedPrecondition(gradient.status())) return -1;
    if (!gradient.ok()) return gradient.status();
    std::vector<float> x(kImages * width * width * kChannels, 0.5f), dy = x, dw(9 * kChannels * kChannels);
    TD_ASSIGN_OR_RETURN(Arena scratch, Arena::Create((*gradient)->scratch_bytes() + 64, "scratch"));
    void* in[] = {x.data(), dy.data()};
    absl::Status status;
    const double seconds =
        BestSeconds(part_, [&] { status.Update((*gradient)->Run(0, in, dw.data(), scratch.data())); });
    if (!status.ok()) return status;
    return seconds;
  }

  // Returns the largest width of images for which the compiler should choose the algorithm kDirectFilterGrad
  // (passes/contraction/direct_filter_grad.cc): kSmall if it is not faster than oneDNN for images of 28 pixels,
  // otherwise any width.
  absl::StatusOr<double> DirectFilterGradWidth() {
    constexpr double kSmall = 13, kAny = 4096;
    TD_ASSIGN_OR_RETURN(const double direct, FilterGradSeconds(format::Algorithm::kDirectFilterGrad, 28));
    TD_ASSIGN_OR_RETURN(const double library, FilterGradSeconds(format::Algorithm::kLibrary, 28));
    return direct > 0 && direct < library ? kAny : kSmall;
  }

  // Returns the overhead of a kernel call: the seconds of a call with four operands that does nothing.
  double KernelCallSeconds() {
    static void (*volatile kernel)(void* const*, int64_t, int64_t, int64_t) = [](void* const*, int64_t, int64_t,
                                                                                 int64_t) {};
    std::vector<void*> args(4);
    int64_t row = 0;
    return BestSeconds(part_, [&] {
      for (void*& a : args) a = reinterpret_cast<uint8_t*>(&args) + ++row;
      kernel(args.data(), 0, 16, row);
    });
  }

  // Returns the overhead of a section, a list of commands that all threads run: the seconds of an empty loop over all
  // threads. Each thread waits for all others, so that no thread can do the work of two.
  double BarrierSeconds() {
    const int threads = pool_.num_threads();
    return BestSeconds(part_, [&] {
      std::atomic<int> arrived{0};
      pool_.ParallelFor(threads, [&](int64_t, int) {
        ++arrived;
        const Clock::time_point start = Clock::now();
        while (arrived < threads && Since(start) < 1e-4) {
        }
      });
    });
  }

  ThreadPool pool_;
  double part_;  // seconds for each measurement
};

}  // namespace

absl::StatusOr<MachineModel> MeasureMachine(int threads, double seconds) { return Machine(threads, seconds).Measure(); }

}  // namespace tandem
