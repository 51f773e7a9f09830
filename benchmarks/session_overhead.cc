// Measures what the runtime adds to its kernels and primitives: the time of an empty step in a map section (commands
// for each microbatch) and in a global section (commands once per device), and the speed of the library calls of
// scenario S0's convnet (no pooling, no update) through a session.
//
//   bazel run //benchmarks:session_overhead -- [threads] [batch] [lanes] [microbatch]
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "runtime/cpu/onednn/onednn_layout.h"
#include "runtime/device_classes/device_classes.h"
#include "runtime/library_calls/pack_weights.h"
#include "runtime/session/session.h"
#include "runtime/testing/compile_ir.h"
#include "runtime/testing/executable_builder.h"
#include "runtime/testing/library_calls.h"

namespace tandem {
namespace {

constexpr char kNothing[] = "define void @nothing(ptr %a, i64 %b, i64 %e, i64 %r) {\n  ret void\n}\n";

std::unique_ptr<Session> Start(format::Index index, std::shared_ptr<VariableStore> variables,
                               std::shared_ptr<ThreadPool> pool) {
  auto e = Executable::Parse(
      BuildExecutable(std::move(index), {{format::SegmentKind::kElfObject, "kernels", CompileIr(kNothing)}}));
  if (!e.ok()) std::printf("%s\n", e.status().ToString().c_str()), std::exit(1);
  auto session = CreateSession(*e, variables, {pool});
  if (!session.ok()) std::printf("%s\n", session.status().ToString().c_str()), std::exit(1);
  for (const auto& v : (*e)->index().variables) {
    format::Initializer init;
    init.kind = 2;
    init.a = -0.05, init.b = 0.05;
    if (!variables->Initialize(v.name, init, 1).ok()) std::exit(1);
  }
  return *std::move(session);
}

// Returns the microseconds of the fastest of `steps` steps.
double Time(Session& session, const StepInputs& inputs, int steps) {
  double best = 1e30;
  for (int i = 0; i < steps; ++i) {
    auto begin = std::chrono::steady_clock::now();
    auto result = session.Run(inputs, {});
    if (!result.ok()) std::printf("%s\n", result.status().ToString().c_str()), std::exit(1);
    best = std::min(best, std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count());
  }
  return best;
}

double EmptyCommands(std::shared_ptr<ThreadPool> pool, int map_commands, int global_commands, bool wake) {
  constexpr int kLanes = 16;
  ExecutableBuilder b(1, kLanes, 1, 1);
  int rows = b.Kernel("nothing", 0, format::Domain::kRows),
      elements = b.Kernel("nothing", 0, format::Domain::kElements);
  int x = b.Input("x", {kBatch, 4}), y = b.Microbatch("y", {kBatch, 4});
  int64_t n = wake ? 65536 : 16;
  int z = b.Step("z", {n});
  b.Map();
  for (int i = 0; i < map_commands; ++i) b.Launch("m", rows, {x, y, y}, {y});
  b.Global();
  for (int i = 0; i < global_commands; ++i) b.Launch("g", elements, {z}, {z}, n);
  auto session = Start(b.Take(), std::make_shared<VariableStore>(1), pool);
  StepInputs inputs;
  inputs.inputs.push_back({HostTensor::Zeros(DType::kFloat32, {kLanes, 4})});
  return Time(*session, inputs, 2000);
}

class Convnet {
 public:
  Convnet(int batch, int lanes, int microbatch) : b_(1, lanes, batch / lanes, microbatch), microbatch_(microbatch) {}

  format::Index Build() {
    int x = b_.Input("x", {kBatch, 28, 28, 1});
    pack_.reserve(16);
    Conv("conv2d", {28, 1, 32}, x, false);
    Conv("conv2d_1", {13, 32, 64}, b_.Microbatch("x1", {kBatch, 13, 13, 32}), true);
    Conv("conv2d_2", {5, 64, 64}, b_.Microbatch("x2", {kBatch, 5, 5, 64}), true);
    Dense("dense", 576, 64);
    Dense("dense_1", 64, 10);
    b_.Global();
    for (auto& p : pack_) b_.Library("pack", p.call, {p.from}, {p.to});
    b_.Map();
    for (auto& s : forward_) b_.Library(s.name, s.call, s.in, s.out);
    for (auto s = backward_.rbegin(); s != backward_.rend(); ++s) b_.Library(s->name, s->call, s->in, s->out);
    b_.Global();
    b_.LaneReduce(format::ReduceKind::kSum, gradients_, sums_);
    b_.CheckFinite(sums_);
    return b_.Take();
  }

 private:
  struct Size {
    int h, c, o;
  };
  struct Call {
    std::string name;
    format::LibraryCall call;
    std::vector<int> in, out;
  };
  struct Packing {
    format::LibraryCall call;
    int from, to;
  };

  int Pack(const format::LibraryCall& call, int w) {
    int64_t bytes = static_cast<int64_t>(*PackedWeightsBytes(call));
    int packed = b_.Step("packed", {bytes / 4});
    pack_.push_back({PackingFor(call), w, packed});
    return packed;
  }

  void Gradient(const std::string& name, Shape shape, format::LibraryCall call, std::vector<int> in) {
    gradients_.push_back(b_.Lane(name + "/gradient", shape, format::ReduceKind::kSum));
    sums_.push_back(b_.Step(name + "/sum", shape));
    backward_.push_back({name + "/gradient", call, std::move(in), {gradients_.back()}});
  }

  void Conv(const std::string& name, Size s, int x, bool input_gradient) {
    int w = b_.Variable(name + "/kernel", {3, 3, s.c, s.o}), bias = b_.Variable(name + "/bias", {s.o});
    int y = b_.Microbatch(name, {kBatch, s.h - 2, s.h - 2, s.o});
    format::Conv2D conv = tandem::Conv(microbatch_, s.h, s.h, s.c, 3, 3, s.o, 1, 0, 0);
    conv.packed = true;
    conv.epilogue = {.bias = true, .activation = format::Activation::kRelu};
    forward_.push_back({name, CallOf(conv), {x, Pack(CallOf(conv), w), bias}, {y}});
    conv.epilogue = {};
    if (input_gradient) {
      conv.direction = format::Direction::kInputGrad;
      backward_.push_back({name + "/dx", CallOf(conv), {y, Pack(CallOf(conv), w)}, {x}});
    }
    conv.direction = format::Direction::kFilterGrad;
    conv.packed = false;
    Gradient(name, conv.kernel_shape, CallOf(conv), {x, y});
  }

  void Dense(const std::string& name, int in, int out) {
    int w = b_.Variable(name + "/kernel", {in, out}), x = b_.Microbatch(name + "/x", {kBatch, in});
    int y = b_.Microbatch(name, {kBatch, out});
    forward_.push_back({name, CallOf(MatMulOf(microbatch_, in, out)), {x, w}, {y}});
    backward_.push_back(
        {name + "/dx", CallOf(MatMulOf(microbatch_, out, in, false, /*transpose_b=*/true)), {y, w}, {x}});
    format::MatMul gradient = MatMulOf(in, microbatch_, out, /*transpose_a=*/true);
    gradient.reduces_batch = true;
    Gradient(name, gradient.y_shape, CallOf(gradient), {x, y});
  }

  ExecutableBuilder b_;
  int microbatch_;
  std::vector<Packing> pack_;
  std::vector<Call> forward_, backward_;
  std::vector<int> gradients_, sums_;
};

int Main(int argc, char** argv) {
  int threads = argc > 1 ? std::atoi(argv[1]) : 2, batch = argc > 2 ? std::atoi(argv[2]) : 512;
  int lanes = argc > 3 ? std::atoi(argv[3]) : 16, microbatch = argc > 4 ? std::atoi(argv[4]) : 16;
  auto pool = std::make_shared<ThreadPool>(threads);
  double none = EmptyCommands(pool, 1, 1, false);
  std::printf("empty step                  %8.2f us\n", none);
  std::printf("map command, per microbatch %8.3f us\n", (EmptyCommands(pool, 101, 1, false) - none) / 1600 * threads);
  std::printf("global command, small       %8.3f us\n", (EmptyCommands(pool, 1, 101, false) - none) / 100);
  std::printf("global command, all threads %8.3f us\n", (EmptyCommands(pool, 1, 101, true) - none) / 100);

  auto variables = std::make_shared<VariableStore>(1);
  auto session = Start(Convnet(batch, lanes, microbatch).Build(), variables, pool);
  StepInputs inputs;
  inputs.inputs.push_back({HostTensor::Zeros(DType::kFloat32, {batch, 28, 28, 1})});
  for (int64_t i = 0; i < inputs.inputs[0][0].num_elements(); ++i)
    inputs.inputs[0][0].data<float>()[i] = (i % 7) * 0.1f;
  double us = Time(*session, inputs, 20);
  std::printf(
      "S0's library calls, batch %d, %d lanes, microbatches of %d, %d threads: %.0f us, %.0f images/s, %.1f MiB\n",
      batch, lanes, microbatch, threads, us, batch / us * 1e6, session->memory().total() / 1048576.0);
  return 0;
}

}  // namespace
}  // namespace tandem

int main(int argc, char** argv) { return tandem::Main(argc, argv); }
