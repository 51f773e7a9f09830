// CompileGraph as frontends call it: errors about the user's graph, and what a program from the cache still says.
#include "passes/compile/compile.h"

#include <string>
#include <vector>

#include "base/env.h"
#include "base/exit_code.h"
#include "base/logging.h"
#include "base/temporary_name.h"
#include "gmock/gmock.h"
#include "graph/ops.h"
#include "gtest/gtest.h"
#include "runtime/format/index.h"

namespace tandem {
namespace {

using ::testing::HasSubstr;

CompileOptions Cached(const std::string& name) {
  const std::string dir = ::testing::TempDir() + "/" + name;
  Env::Default()->DeleteRecursively(dir).IgnoreError();
  return {.batch_per_replica = 64, .cache_dir = dir};
}

std::vector<std::string> Warnings(const LogCapture& log) {
  std::vector<std::string> warnings;
  for (const LogEntry& e : log.entries()) {
    if (e.severity == LogSeverity::kWarning) warnings.push_back(e.message);
  }
  return warnings;
}

// A program is compiled once and started many times; whoever starts it wants to know.
TEST(CompileTest, WarningsComeFromTheCacheToo) {
  const CompileOptions options = Cached("warnings");
  const int line = __LINE__ + 4;
  const auto compile = [&] {
    GraphBuilder graph;
    const Tensor x = graph.Input("x", DType::kFloat32, {kBatch, 4});
    graph.Output("loss", ReduceSum(x) * (1.0 / 64));
    return CompileGraph(graph, "eval", options);
  };
  const int64_t before = CompileCount();
  LogCapture first;
  ASSERT_TRUE(compile().ok());
  const std::vector<std::string> warnings = Warnings(first);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_THAT(warnings[0], HasSubstr("compile_test.cc:" + std::to_string(line)));
  EXPECT_THAT(warnings[0], HasSubstr("scales a sum over the batch by a constant 1/64"));
  LogCapture second;
  ASSERT_TRUE(compile().ok());
  EXPECT_EQ(CompileCount(), before + 1);
  EXPECT_EQ(Warnings(second), warnings);
}

// Of processes that were killed, in whatever directory they kept what they compiled.
TEST(CompileTest, LeftoversOfCachesGo) {
  Env* env = Env::Default();
  CompileOptions options = Cached("leftovers");
  options.kernel_cache_dir = options.cache_dir + "/shared";
  const std::string kernel = TemporaryPath(env, options.kernel_cache_dir + "/0123.tdk"),
                    program = TemporaryPath(env, options.cache_dir + "/eval-0123.tdx"),
                    other = TemporaryPath(env, options.kernel_cache_dir + "/notes.txt"),
                    written = TemporaryPath(env, options.kernel_cache_dir + "/4567.tdk");
  ASSERT_TRUE(env->CreateDirs(options.kernel_cache_dir).ok());
  for (const std::string& file : {kernel, program, other}) ASSERT_TRUE(env->WriteFile(file, {"x"}).ok());
  const auto writer = env->CreateLockedFile(written);
  ASSERT_TRUE(writer.ok()) << writer.status();
  GraphBuilder graph;
  const Tensor x = graph.Input("x", DType::kFloat32, {kBatch, 4});
  graph.Output("y", x + x);
  ASSERT_TRUE(CompileGraph(graph, "predict", options).ok());
  EXPECT_FALSE(env->Exists(kernel));
  EXPECT_FALSE(env->Exists(program));
  EXPECT_TRUE(env->Exists(other)) << "somebody else's";
  EXPECT_TRUE(env->Exists(written)) << "another process writes it";
}

// Elementwise float64 runs; what a library would have to compute does not, and the user can do something about that.
TEST(CompileTest, ProductsInFloat64NameTheUsersLine) {
  const CompileOptions options = Cached("float64");
  const auto run = [&](DType dtype, int* line) {
    GraphBuilder graph;
    const Tensor x = graph.Input("x", dtype, {kBatch, 64}), w = graph.Input("w", dtype, {kBatch, 64});
    const Tensor kernel = graph.Variable({.name = "kernel", .dtype = dtype, .shape = {64, 32}});
    *line = __LINE__ + 1;
    graph.Output("y", MatMul(x * w, kernel));
    return CompileGraph(graph, "predict", options).status();
  };
  int line = 0;
  EXPECT_TRUE(run(DType::kFloat32, &line).ok());
  const absl::Status status = run(DType::kFloat64, &line);
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented) << status;
  EXPECT_EQ(ExitCodeFor(status), kExitCompileError);
  EXPECT_THAT(std::string(status.message()), HasSubstr("compile_test.cc:" + std::to_string(line)));
  EXPECT_THAT(std::string(status.message()), HasSubstr("Cast the operands to float32"));
  GraphBuilder graph;
  const Tensor x = graph.Input("x", DType::kFloat64, {kBatch, 64});
  graph.Output("y", Tanh(x) * x);
  EXPECT_TRUE(CompileGraph(graph, "predict", options).ok());
}

// Inputs that ops take as indices are said to be that, with how many there are.
TEST(CompileTest, IndicesHaveARange) {
  GraphBuilder graph;
  const Tensor ids = graph.Input("ids", DType::kInt64, {kBatch}), x = graph.Input("x", DType::kFloat32, {kBatch, 3});
  const Tensor table = graph.Variable({.name = "table", .shape = {8, 3}});
  graph.Output("y", Gather(table, ids) + x);
  const auto executable = CompileGraph(graph, "predict", Cached("indices"));
  ASSERT_TRUE(executable.ok()) << executable.status();
  for (const auto& input : (*executable)->index().inputs) EXPECT_EQ(input.indices, input.name == "ids" ? 8 : 0);
}

TEST(CompileTest, CrossDeviceOpsAreForCpus) {
  GraphBuilder graph("train");
  graph.Output("y", graph.Input("x", DType::kFloat32, {kBatch, 2}));
  const absl::Status status =
      CompileGraph(graph, "eval",
                   {.devices = {"gpu:0", "gpu:1"}, .target = "cuda:sm_90", .cross_device_ops = "ReductionToOneDevice"})
          .status();
  EXPECT_EQ(ExitCodeFor(status), kExitUsage);
  EXPECT_EQ(status.message(), "cross-device ops \"ReductionToOneDevice\" are for CPUs; target \"cuda:sm_90\" is none");
}

}  // namespace
}  // namespace tandem
