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
#include "passes/exec/dialect.h"
#include "runtime/commands/gpu_launch.h"
#include "runtime/cuda/kernels/group_table.h"
#include "runtime/cuda/testing/kernel_walk.h"

namespace tandem {
namespace {

class CompileGpuTest : public testing::Test {
 protected:
  CompileGpuTest() { context_.loadDialect<td::TdDialect, exec::ExecDialect, mlir::func::FuncDialect>(); }

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
    func.func private @tiles(%x: tensor<?x4xf32>) -> tensor<?x4xf32> attributes {exec.kernel = #exec.kernel_kind<tile>} {
      %0 = td.relu %x : tensor<?x4xf32>
      return %0 : tensor<?x4xf32>
    })",
                                                       &context_);
  absl::Status status = CompileGpuKernels(*tiles, options).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_TRUE(absl::StrContains(std::string(status.message()), "tiles")) << status;
}

const char kGroupedModule[] = R"(
  func.func private @momentum(%w: tensor<?xf32>, %m: tensor<?xf32>, %g: tensor<?xf32>, %rate: tensor<f32>)
      -> (tensor<?xf32>, tensor<?xf32>) attributes {exec.kernel = #exec.kernel_kind<flat>, exec.alias = array<i64: 0, 1>} {
    %0 = td.add %m, %g : tensor<?xf32>
    %1 = td.apply_sgd %w, %0, %rate : (tensor<?xf32>, tensor<?xf32>, tensor<f32>) -> (tensor<?xf32>)
    return %1, %0 : tensor<?xf32>, tensor<?xf32>
  }
  func.func private @alone(%x: tensor<?xf32>) -> tensor<?xf32> attributes {exec.kernel = #exec.kernel_kind<flat>} {
    %0 = td.relu %x : tensor<?xf32>
    return %0 : tensor<?xf32>
  }
  func.func @step(%w: tensor<4xf32>, %m: tensor<4xf32>, %g: tensor<4xf32>, %rate: tensor<f32>)
      -> (tensor<4xf32>, tensor<4xf32>) {
    %0:2 = exec.grouped_launch @momentum x 1(%w, %m, %g, %rate)
      : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>)
    return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
  })";

int CountOf(const std::string& text, const std::string& part) {
  int n = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

TEST_F(CompileGpuTest, OnlyGroupedKernelsGetAnEntryForGroups) {
  auto module = mlir::parseSourceString<mlir::ModuleOp>(kGroupedModule, &context_);
  ASSERT_TRUE(module);
  auto compiled = CompileGpuKernels(*module, {});
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  for (const GpuImageText& image : compiled->images) EXPECT_EQ(CountOf(image.ptx, ".visible .entry"), 3);
  for (const std::string& ptx : compiled->kernels[0].ptx) {
    const std::string group = ptx.substr(ptx.find(GpuGroupSymbol(compiled->kernels[0].symbol) + "("));
    EXPECT_EQ(CountOf(ptx, ".maxntid 256"), 2);
    // In place: both are read and written. Loads of neighbours are one, and none has to find out which memory it is of.
    EXPECT_EQ(CountOf(group, "ld.global.v4.f32"), 3) << group;
    EXPECT_EQ(CountOf(group, "st.global.v4.f32"), 2) << group;
    for (const char* bad : {"ld.f32", "ld.v4", "st.f32", "call", ".local"}) EXPECT_EQ(CountOf(group, bad), 0) << group;
  }
}

// A group's launch has the bits of launches one by one, for members of any size, and is kept back by a guard.
TEST_F(CompileGpuTest, AGroupComputesWhatItsMembersDo) {
  auto module = mlir::parseSourceString<mlir::ModuleOp>(kGroupedModule, &context_);
  ASSERT_TRUE(module);
  GpuCompileOptions options;
  options.walk = true;
  options.walk_target = *HostCpuTarget();
  auto compiled = CompileGpuKernels(*module, options);
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  const CompiledGpuKernel& kernel = compiled->kernels[0];
  const format::GpuLaunch& l = kernel.launch;
  const std::string group_symbol = GpuGroupSymbol(kernel.symbol);
  auto walked = WalkedKernels::Load({kernel.walk_object}, {kernel.symbol, group_symbol});
  ASSERT_TRUE(walked.ok()) << walked.status();

  const std::vector<uint64_t> counts = {5, 1, 1024, 0, 4099, 1025};
  constexpr int kArgs = 6;  // w, m, g, rate, and w and m again as results
  struct Member {
    std::vector<float> data[3];
  };
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<Member> start(counts.size());
  for (size_t m = 0; m < counts.size(); ++m) {
    for (auto& data : start[m].data) {
      data.resize(counts[m] + 8, 7.0f);
      for (uint64_t i = 0; i < counts[m]; ++i) data[i] = normal(random);
    }
  }
  float rate = 0.3f;
  auto addresses = [&](Member& m) {
    std::vector<uint64_t> all;
    for (int i : {0, 1, 2, 3, 0, 1}) all.push_back(reinterpret_cast<uint64_t>(i == 3 ? &rate : m.data[i].data()));
    return all;
  };
  std::vector<Member> one_by_one = start, grouped = start;
  for (size_t m = 0; m < counts.size(); ++m) {
    std::vector<uint64_t> values = addresses(one_by_one[m]);
    for (uint64_t v : {uint64_t{0}, counts[m], uint64_t{0}, uint64_t{0}, uint64_t{0}}) values.push_back(v);
    std::vector<void*> params;
    for (uint64_t& v : values) params.push_back(&v);
    ASSERT_TRUE((*walked)->Launch(kernel.symbol, GpuGrid(l, counts[m]), l.block, 0, params.data()).ok());
  }
  format::GroupedLaunch group;
  group.num_args = kArgs;
  group.counts = counts;
  for (uint32_t i = 0; i < counts.size() * kArgs; ++i) group.args.push_back(i);
  const GroupTable table =
      MakeGroupTable(l, group, [&](uint32_t arg) { return addresses(grouped[arg / kArgs])[arg % kArgs]; });
  for (int32_t stopped : {1, 0}) {
    const uint64_t* members = table.members.data();
    const int32_t *blocks = table.blocks.data(), *guard = &stopped;
    void* params[] = {&members, &blocks, &guard};
    ASSERT_TRUE((*walked)->Launch(group_symbol, static_cast<uint32_t>(table.blocks.size()), l.block, 0, params).ok());
    for (size_t m = 0; m < counts.size(); ++m) {
      for (int i = 0; i < 3; ++i) EXPECT_EQ(grouped[m].data[i], (stopped ? start : one_by_one)[m].data[i]) << m;
    }
  }
  EXPECT_NE(one_by_one[4].data[0], start[4].data[0]);
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
      func.func private @k(%x: tensor<?xf64>) -> tensor<?xf64> attributes {exec.kernel = #exec.kernel_kind<flat>} {
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
    func.func private @k(%x: tensor<?xf64>, %y: tensor<?xf64>) -> tensor<?xf64> attributes {exec.kernel = #exec.kernel_kind<flat>} {
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
