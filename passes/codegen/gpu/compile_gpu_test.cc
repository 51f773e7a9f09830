// Compiling for GPUs: guards, determinism, the cache, errors; and the functions that GPUs lack.
#include "passes/codegen/gpu/compile_gpu.h"

#include <cmath>
#include <cstring>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/env.h"
#include "graph/ir/dialect.h"
#include "gtest/gtest.h"
#include "mlir/Parser/Parser.h"
#include "passes/codegen/gpu/test_kernels.h"
#include "passes/codegen/kernel_test_util.h"
#include "runtime/gpu_launch.h"

namespace tandem {
namespace {

class CompileGpuTest : public testing::Test {
 protected:
  CompileGpuTest() { context_.loadDialect<td::TdDialect, mlir::func::FuncDialect>(); }

  // All test kernels in one module.
  mlir::OwningOpRef<mlir::ModuleOp> Module() {
    std::string text;
    for (const GpuTestCase& c : kGpuTestCases) {
      std::string kernel = c.text;
      kernel.replace(kernel.find("@k("), 3, absl::StrCat("@", c.name, "("));
      absl::StrAppend(&text, kernel, "\n");
    }
    return mlir::parseSourceString<mlir::ModuleOp>(text, &context_);
  }

  mlir::MLIRContext context_;
};

TEST_F(CompileGpuTest, AnyNumberOfThreadsGivesTheSameBytes) {
  auto module = Module();
  ASSERT_TRUE(module);
  GpuCompileOptions options;
  options.rows = 64;
  auto serial = CompileGpuKernels(*module, options);
  options.threads = 3;
  auto parallel = CompileGpuKernels(*module, options);
  ASSERT_TRUE(serial.ok() && parallel.ok()) << serial.status() << parallel.status();
  ASSERT_EQ(serial->images.size(), 2);
  EXPECT_EQ(serial->images[0].arch, 75);
  EXPECT_EQ(serial->images[1].arch, 90);
  for (int i : {0, 1}) EXPECT_EQ(serial->images[i].ptx, parallel->images[i].ptx);
  for (const CompiledGpuKernel& kernel : serial->kernels) {
    EXPECT_TRUE(absl::StrContains(serial->images[0].ptx, absl::StrCat(".visible .entry ", kernel.symbol, "(")));
  }
}

TEST_F(CompileGpuTest, CacheKeepsRowsArchitecturesAndBuildsApart) {
  const std::string dir = JoinPath(testing::TempDir(), "gpu_kernels");
  Env::Default()->DeleteRecursively(dir).IgnoreError();
  auto module = Module();
  ASSERT_TRUE(module);
  GpuCompileOptions options;
  options.rows = 64;
  options.cache = KernelCache(dir);
  auto count_cached = [&] {
    auto compiled = CompileGpuKernels(*module, options);
    EXPECT_TRUE(compiled.ok()) << compiled.status();
    int cached = 0;
    for (const CompiledGpuKernel& kernel : compiled->kernels) cached += kernel.cached;
    return cached;
  };
  auto fresh = CompileGpuKernels(*module, options), again = CompileGpuKernels(*module, options);
  ASSERT_TRUE(fresh.ok() && again.ok()) << fresh.status() << again.status();
  EXPECT_EQ(fresh->images[1].ptx, again->images[1].ptx);
  for (size_t i = 0; i < fresh->kernels.size(); ++i) {
    const CompiledGpuKernel &a = fresh->kernels[i], &b = again->kernels[i];
    EXPECT_FALSE(a.cached);
    EXPECT_TRUE(b.cached);
    EXPECT_EQ(a.symbol, b.symbol);
    EXPECT_EQ(a.launch.block, b.launch.block);
    EXPECT_EQ(a.launch.items_per_block, b.launch.items_per_block);
    EXPECT_EQ(a.launch.split, b.launch.split);
    EXPECT_EQ(a.launch.scratch_bytes, b.launch.scratch_bytes);
    EXPECT_EQ(a.launch.finish_symbol, b.launch.finish_symbol);
    EXPECT_EQ(a.launch.finish_block, b.launch.finish_block);
    EXPECT_EQ(a.launch.finish_grid, b.launch.finish_grid);
  }
  EXPECT_EQ(count_cached(), static_cast<int>(fresh->kernels.size()));
  options.build = "another";
  EXPECT_EQ(count_cached(), 0);
  options.build = "";
  options.rows = 65;
  EXPECT_EQ(count_cached(), 0);
  options.rows = 64;
  options.archs = {75};
  EXPECT_EQ(count_cached(), 0);
}

TEST_F(CompileGpuTest, UnknownArchitecturesAndKindsAreErrors) {
  auto module = Module();
  ASSERT_TRUE(module);
  GpuCompileOptions options;
  options.archs = {75, 100};
  EXPECT_EQ(CompileGpuKernels(*module, options).status().code(), absl::StatusCode::kInvalidArgument);
  options.archs = {75};
  auto tiles = mlir::parseSourceString<mlir::ModuleOp>(R"(
    func.func private @tiles(%x: tensor<?x4xf32>) -> tensor<?x4xf32> attributes {td.kernel = "tile"} {
      %0 = td.relu %x : tensor<?x4xf32>
      return %0 : tensor<?x4xf32>
    })",
                                                       &context_);
  absl::Status status = CompileGpuKernels(*tiles, options).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_TRUE(absl::StrContains(std::string(status.message()), "tiles")) << status;
}

TEST(GuardTest, AKernelBehindAFailedCheckWritesNothing) {
  for (const GpuTestCase& c : kGpuTestCases) {
    if (c.name != "Relu" && c.name != "BiasGradient" && c.name != "SoftmaxByWarps") continue;
    auto kernel = TestKernel::Create(c.text, "gpu");
    ASSERT_TRUE(kernel.ok()) << kernel.status();
    std::mt19937 random(1);
    auto operands = (*kernel)->RandomOperands(2, random);
    for (int32_t guard : {0, 1}) {
      (*kernel)->guard = &guard;
      for (const Bytes& result : (*kernel)->Run(operands, 2, {0, 2})) {
        EXPECT_EQ(result == Bytes(result.size(), '\x7f'), guard == 1) << c.name;
      }
      EXPECT_TRUE((*kernel)->gpu_status().ok()) << (*kernel)->gpu_status();
    }
  }
}

// float64 functions against the C library, over all magnitudes and at special values.
TEST(ExpandMathTest, MatchesTheLibrary) {
  struct Function {
    const char* op;
    double (*reference)(double);
    double tolerance;  // relative
  };
  const double infinity = std::numeric_limits<double>::infinity();
  for (const Function& f : {Function{"exp", std::exp, 1e-15}, Function{"log", std::log, 1e-15},
                            Function{"tanh", std::tanh, 1e-15}, Function{"erf", std::erf, 1e-15}}) {
    auto kernel = TestKernel::Create(absl::StrCat(R"(
      func.func private @k(%x: tensor<?xf64>) -> tensor<?xf64> attributes {td.kernel = "flat"} {
        %0 = td.)",
                                                  f.op, R"( %x : tensor<?xf64>
        return %0 : tensor<?xf64> })"),
                                     "gpu");
    ASSERT_TRUE(kernel.ok()) << kernel.status();
    td::RefTensor x{DType::kFloat64, {}, {0, -0.0, 1, -1, infinity, -infinity, std::nan(""), 710, -746, 1e-310, 1e308}};
    std::mt19937 random(2);
    std::uniform_real_distribution<double> exponent(-18, 3), sign(-1, 1);
    for (int i = 0; i < 4000; ++i) x.values.push_back(std::copysign(std::pow(10, exponent(random)), sign(random)));
    for (double v = -8; v < 8; v += 0.0078125) x.values.push_back(v);
    const auto n = static_cast<int64_t>(x.values.size());
    x.shape = {n};
    std::vector<td::RefTensor> y = (*kernel)->RunOnce({x}, {{n}}, n);
    for (int64_t i = 0; i < n; ++i) {
      const double expected = f.reference(x.values[i]), actual = y[0].values[i];
      if (std::isnan(expected)) {
        EXPECT_TRUE(std::isnan(actual)) << f.op << " " << x.values[i];
      } else if (actual != expected) {
        EXPECT_LE(std::abs(actual - expected), f.tolerance * std::abs(expected) + 1e-323) << f.op << " " << x.values[i];
      }
    }
  }
}

TEST(ExpandMathTest, PowerMatchesTheLibrary) {
  auto kernel = TestKernel::Create(R"(
    func.func private @k(%x: tensor<?xf64>, %y: tensor<?xf64>) -> tensor<?xf64> attributes {td.kernel = "flat"} {
      %0 = td.pow %x, %y : tensor<?xf64>
      return %0 : tensor<?xf64>
    })",
                                   "gpu");
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  td::RefTensor x{DType::kFloat64, {}, {}}, y = x;
  auto add = [&](double a, double b) {
    x.values.push_back(a);
    y.values.push_back(b);
  };
  for (double a : {-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 3.0, std::numeric_limits<double>::infinity(), std::nan("")}) {
    for (double b : {-3.0, -2.0, -0.5, 0.0, 0.5, 1.0, 2.0, 3.0}) add(a, b);
  }
  for (int step = 1; step < 100000; step = step * 3 + 1) {
    add(0.9, step);
    add(0.999, step);
  }
  const auto n = static_cast<int64_t>(x.values.size());
  x.shape = y.shape = {n};
  std::vector<td::RefTensor> z = (*kernel)->RunOnce({x, y}, {{n}}, n);
  for (int64_t i = 0; i < n; ++i) {
    const double expected = std::pow(x.values[i], y.values[i]), actual = z[0].values[i];
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(actual)) << x.values[i] << " " << y.values[i];
    } else if (actual != expected) {
      const double scale = 1 + std::abs(y.values[i] * std::log(std::abs(x.values[i])));
      EXPECT_LE(std::abs(actual - expected), 1e-15 * scale * std::abs(expected)) << x.values[i] << " " << y.values[i];
    }
  }
}

}  // namespace
}  // namespace tandem
