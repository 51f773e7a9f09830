// benchmarks/contractions: times one convolution or matrix product, or a gradient of it, with several algorithms.
//
// Compiles a program for each algorithm (the compiler's option --choose in TANDEM_FLAGS forces it), and runs the
// programs in turns on one thread, measured in that thread's CPU time. Prints microseconds per row, the median of all
// turns. The step's result is the sum of the elements, because a step needs one number.
//
//   bazel run -c opt //benchmarks:contractions -- --op=filter_grad --x=32,32,64 --kernel=3,3,64,1
//       --algorithms=library,single_channel

#include <cstdio>
#include <iostream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/exit_code.h"
#include "base/flags.h"
#include "base/median.h"
#include "base/processor_time.h"
#include "base/status_macros.h"
#include "benchmarks/bench_program.h"
#include "graph/ops.h"
#include "passes/compile/compile.h"

ABSL_FLAG(std::string, op, "forward", "forward, input_grad or filter_grad");
ABSL_FLAG(std::vector<std::string>, x, (std::vector<std::string>{"32", "32", "64"}),
          "sizes of an example: height, width and channels, or the columns of a matrix");
ABSL_FLAG(std::vector<std::string>, kernel, (std::vector<std::string>{"3", "3", "64", "64"}),
          "sizes of the kernel: height, width, channels in and out, or rows and columns of a matrix");
ABSL_FLAG(std::string, padding, "SAME", "of a convolution: SAME or VALID");
ABSL_FLAG(int, stride, 1, "of a convolution");
ABSL_FLAG(int, batch, 32, "examples of a step");
ABSL_FLAG(std::string, precision, "float32", "float32, strict_float32 or mixed_bfloat16");
ABSL_FLAG(std::vector<std::string>, algorithms, (std::vector<std::string>{"library"}),
          "the algorithms to compare; docs/developers/add_a_candidate.md");
ABSL_FLAG(int, turns, 15, "how often each is timed, in turn with the others");

namespace tandem::benchmarks {
namespace {

absl::StatusOr<Shape> SizesOf(const std::vector<std::string>& words) {
  Shape shape;
  for (const std::string& word : words) {
    int64_t size = 0;
    if (!absl::SimpleAtoi(word, &size) || size < 1) {
      return WithExitCode(absl::InvalidArgumentError(absl::StrCat("\"", word, "\" is no size")), kExitUsage);
    }
    shape.push_back(size);
  }
  return shape;
}

// Returns a model whose loss is the sum of the requested result.
BenchModel ModelOf(const Shape& x, const Shape& kernel, const std::string& op) {
  const bool convolution = kernel.size() == 4;
  const int64_t stride = absl::GetFlag(FLAGS_stride), columns = kernel.back();
  const Padding padding = absl::GetFlag(FLAGS_padding) == "VALID" ? Padding::kValid : Padding::kSame;
  Shape y = x;
  y.back() = columns;
  for (int i = 0; convolution && i < 2; ++i) {
    y[i] = (padding == Padding::kSame ? x[i] + stride - 1 : x[i] - kernel[i] + stride) / stride;
  }
  BenchModel model;
  model.training = false;
  model.inputs = {{"x", DType::kFloat32, x}, {"dy", DType::kFloat32, y}};
  model.build = [=](GraphBuilder& g, FlopCounter&) {
    const auto batched = [](Shape shape) {
      shape.insert(shape.begin(), kBatch);
      return shape;
    };
    Tensor input = g.Input("x", DType::kFloat32, batched(x));
    VariableSpec spec;
    spec.name = "kernel";
    spec.shape = kernel;
    spec.initializer = {Initializer::Kind::kUniform, -0.1, 0.1};
    Tensor weights = g.Variable(spec);
    Tensor result = convolution ? Conv2DOp(input, weights, {.strides = {stride, stride}, .padding = padding})
                                : MatMul(input, weights);
    if (op != "forward") {
      Tensor loss = ReduceSum(result * g.Input("dy", DType::kFloat32, batched(y)));
      result = g.Gradients(loss, {op == "input_grad" ? input : weights})[0];
    }
    g.Output("loss", ReduceSum(result));
  };
  return model;
}

struct Candidate {
  std::string name;
  BenchProgram program;
  std::vector<double> seconds = {};  // seconds of a step, one measurement per turn
};

// Returns the thread's processor time per step, measured over at least 20 ms.
absl::StatusOr<double> SecondsOfAStep(BenchProgram& program) {
  const double start = ThreadProcessorSeconds();
  for (int steps = 1;; ++steps) {
    TD_RETURN_IF_ERROR(program.Step().status());
    if (const double seconds = ThreadProcessorSeconds() - start; seconds > 0.02) return seconds / steps;
  }
}

absl::Status Run() {
  const std::string op = absl::GetFlag(FLAGS_op);
  TD_ASSIGN_OR_RETURN(const Shape x, SizesOf(absl::GetFlag(FLAGS_x)));
  TD_ASSIGN_OR_RETURN(const Shape kernel, SizesOf(absl::GetFlag(FLAGS_kernel)));
  const bool known = op == "forward" || op == "input_grad" || op == "filter_grad";
  if (!known || !((x.size() == 3 && kernel.size() == 4) || (x.size() == 1 && kernel.size() == 2))) {
    return WithExitCode(absl::InvalidArgumentError("--op is forward, input_grad or filter_grad; --x has 3 sizes and "
                                                   "--kernel 4, or 1 and 2"),
                        kExitUsage);
  }
  std::vector<Candidate> candidates;
  for (const std::string& algorithm : absl::GetFlag(FLAGS_algorithms)) {
    CompileOptions options;
    options.batch_per_replica = absl::GetFlag(FLAGS_batch);
    options.contractions = {absl::StrCat("*:", algorithm)};
    TD_ASSIGN_OR_RETURN(options.precision, PrecisionFromName(absl::GetFlag(FLAGS_precision)));
    TD_ASSIGN_OR_RETURN(BenchProgram program, PrepareProgram(ModelOf(x, kernel, op), options, /*time_commands=*/false));
    candidates.push_back({algorithm, std::move(program)});
  }
  for (int turn = 0; turn < absl::GetFlag(FLAGS_turns); ++turn) {
    for (Candidate& c : candidates) {
      TD_ASSIGN_OR_RETURN(const double seconds, SecondsOfAStep(c.program));
      c.seconds.push_back(seconds);
    }
  }
  for (Candidate& c : candidates) {
    std::printf("%-20s %10.2f us a row\n", c.name.c_str(), 1e6 * Median(c.seconds) / absl::GetFlag(FLAGS_batch));
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace tandem::benchmarks

int main(int argc, char** argv) {
  if (std::optional<int> code = tandem::ParseFlags(argc, argv, "one contraction by several algorithms")) return *code;
  const absl::Status status = tandem::benchmarks::Run();
  if (!status.ok()) std::cerr << "contractions: " << status.message() << "\n";
  return tandem::ExitCodeFor(status);
}
