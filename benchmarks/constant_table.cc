// Measures what a large constant in the graph costs, compared with the same numbers as a feature (an input of the
// step): the time to compile a program that adds them to a batch, and the time of its step. Both should take at most
// 1.2 times as long.
//
//   bazel run //benchmarks:constant_table -- [numbers] [examples of the batch] [turns]
//
// The two programs are measured in turns in one process. Prints the medians of the turns and of the ratios within a
// turn.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "base/median.h"
#include "base/status_macros.h"
#include "graph/graph_builder.h"
#include "graph/ops.h"
#include "passes/compile/compile.h"
#include "runtime/device_classes/device_classes.h"
#include "runtime/session/session.h"

namespace tandem {
namespace {

struct Seconds {
  double compile = 0, step = 0;
};

double Now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

HostTensor Numbers(const Shape& shape) {
  HostTensor numbers(DType::kFloat32, shape);
  for (int64_t i = 0; i < numbers.num_elements(); ++i) numbers.data<float>()[i] = static_cast<float>(i % 1009);
  return numbers;
}

absl::StatusOr<Seconds> Measure(bool constant, int64_t n, int64_t batch) {
  constexpr int kSteps = 30;
  GraphBuilder graph;
  const Tensor x = graph.Input("x", DType::kFloat32, {kBatch, n});
  const Tensor table = constant ? graph.Constant(Numbers({n})) : graph.Input("y", DType::kFloat32, {kBatch, n});
  graph.Output("z", ReduceSum(Square(x + table), {1}));
  CompileOptions options;
  options.devices = {"cpu:0"};
  options.batch_per_replica = batch;
  Seconds seconds;
  const double begin = Now();
  TD_ASSIGN_OR_RETURN(const std::shared_ptr<const Executable> executable, CompileGraph(graph, "predict", options));
  seconds.compile = Now() - begin;
  auto variables = std::make_shared<VariableStore>(1);
  TD_ASSIGN_OR_RETURN(const std::unique_ptr<Session> session,
                      CreateSession(executable, variables, {std::make_shared<ThreadPool>(2)}));
  StepInputs inputs;
  inputs.inputs.resize(1);  // the program has one replica
  for (int i = 0; i < (constant ? 1 : 2); ++i) inputs.inputs[0].push_back(Numbers({batch, n}));
  std::vector<double> steps;
  for (int i = 0; i < kSteps; ++i) {
    const double start = Now();
    TD_RETURN_IF_ERROR(session->Run(inputs, {}).status());
    steps.push_back(Now() - start);
  }
  seconds.step = Median(steps);
  return seconds;
}

absl::Status Run(int64_t n, int64_t batch, int turns) {
  std::vector<double> compile[2], step[2], compile_ratio, step_ratio;
  for (int turn = 0; turn < turns; ++turn) {
    Seconds seconds[2];
    for (int i = 0; i < 2; ++i) {
      const int kind = (i + turn) % 2;
      TD_ASSIGN_OR_RETURN(seconds[kind], Measure(kind == 1, n, batch));
      compile[kind].push_back(seconds[kind].compile);
      step[kind].push_back(seconds[kind].step);
    }
    compile_ratio.push_back(seconds[1].compile / seconds[0].compile);
    step_ratio.push_back(seconds[1].step / seconds[0].step);
  }
  std::printf("%lld numbers, %lld examples, %d turns\n", static_cast<long long>(n), static_cast<long long>(batch),
              turns);
  std::printf("compile: feature %.1f ms, constant %.1f ms, ratio %.2f (bar 1.20)\n", 1e3 * Median(compile[0]),
              1e3 * Median(compile[1]), Median(compile_ratio));
  std::printf("step:    feature %.3f ms, constant %.3f ms, ratio %.2f (bar 1.20)\n", 1e3 * Median(step[0]),
              1e3 * Median(step[1]), Median(step_ratio));
  return absl::OkStatus();
}

int Main(int argc, char** argv) {
  const int64_t n = argc > 1 ? std::atoll(argv[1]) : 1000000, batch = argc > 2 ? std::atoll(argv[2]) : 8;
  const int turns = argc > 3 ? std::atoi(argv[3]) : 11;
  if (n < 1 || batch < 1 || turns < 1) {
    std::fprintf(stderr, "constant_table: the arguments must be at least 1\n");
    return 2;
  }
  const absl::Status status = Run(n, batch, turns);
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}

}  // namespace
}  // namespace tandem

int main(int argc, char** argv) { return tandem::Main(argc, argv); }
