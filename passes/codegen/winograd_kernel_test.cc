// Kernels of Winograd convolutions against direct convolution in double precision.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>

#include "absl/strings/str_cat.h"
#include "base/bfloat16.h"
#include "graph/ir/dialect.h"
#include "gtest/gtest.h"
#include "mlir/Parser/Parser.h"
#include "passes/codegen/cpu_target.h"
#include "passes/codegen/kernel_test_util.h"
#include "passes/codegen/winograd_test_util.h"
#include "passes/exec/dialect.h"
#include "passes/exec/winograd.h"

namespace tandem {
namespace {

std::vector<double> Floats(const Bytes& bytes) {
  std::vector<double> values(bytes.size() / sizeof(float));
  for (size_t i = 0; i < values.size(); ++i) {
    float f;
    std::memcpy(&f, &bytes[i * sizeof(float)], sizeof(f));
    values[i] = f;
  }
  return values;
}

// The result of the direct op in double precision.
td::RefTensor Evaluate(const std::string& text, const std::vector<td::RefTensor>& operands, int64_t batch) {
  mlir::MLIRContext context;
  context.loadDialect<td::TdDialect, exec::ExecDialect, mlir::func::FuncDialect>();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  if (!module) {
    ADD_FAILURE() << text;
    return {};
  }
  auto results = EvaluateReference(*module->getOps<mlir::func::FuncOp>().begin(), operands, {.batch = batch});
  EXPECT_TRUE(results.ok()) << results.status();
  return (*results)[0];
}

// The largest error relative to the root mean square of the values.
double Error(const std::vector<double>& actual, const std::vector<double>& expected) {
  EXPECT_EQ(actual.size(), expected.size());
  double worst = 0, squares = 0;
  for (size_t i = 0; i < expected.size() && i < actual.size(); ++i) {
    double error = std::abs(actual[i] - expected[i]);
    worst = std::isnan(error) ? INFINITY : std::max(worst, error);
    squares += expected[i] * expected[i];
  }
  return worst / std::sqrt(squares / static_cast<double>(expected.size()));
}

DType ElementOf(const TestKernel& kernel, bool argument, unsigned i) {
  mlir::func::FuncOp f = const_cast<TestKernel&>(kernel).function();
  return td::ToDType(mlir::getElementTypeOrSelf(argument ? f.getArgumentTypes()[i] : f.getResultTypes()[i]));
}

std::vector<double> ResultOf(const TestKernel& kernel, const Bytes& bytes) {
  if (ElementOf(kernel, false, 0) == DType::kFloat32) return Floats(bytes);
  std::vector<double> values(bytes.size() / sizeof(uint16_t));
  for (size_t i = 0; i < values.size(); ++i) {
    uint16_t v;
    std::memcpy(&v, &bytes[i * sizeof(v)], sizeof(v));
    values[i] = FromBFloat16Bits(v);
  }
  return values;
}

struct PrecisionCase {
  const char* name;
  WinogradPrecision precision;
  const char* target;
};

class WinogradKernelTest : public testing::TestWithParam<std::tuple<int64_t, WinogradCase, PrecisionCase>> {
 protected:
  static bool Mixed() { return std::get<2>(GetParam()).precision != WinogradPrecision::kFloat32; }
  static bool Rounds() { return std::get<2>(GetParam()).precision == WinogradPrecision::kBFloat16; }

  // Compiled once for all batches.
  static std::unique_ptr<TestKernel> Compile(const std::string& text) {
    auto kernel = TestKernel::Create(text, std::get<2>(GetParam()).target);
    EXPECT_TRUE(kernel.ok()) << kernel.status() << text;
    return kernel.ok() ? *std::move(kernel) : nullptr;
  }

  // Checks a kernel against the direct op, in one call and (where rows are apart) in several. What products of rounded
  // factors may be off: some times bfloat16's unit, more for larger tiles (docs/developers/winograd.md).
  void Check(TestKernel& kernel, const std::vector<td::RefTensor>& operands, const td::RefTensor& expected,
             int64_t batch, bool rows_apart) {
    std::vector<Bytes> whole = kernel.Run(operands, batch, {0, batch});
    std::vector<double> actual = ResultOf(kernel, whole[0]);
    ASSERT_EQ(actual.size(), expected.values.size());
    if (ElementOf(kernel, false, 0) == DType::kBFloat16) {
      // Half a unit of a result is its rounding.
      for (size_t i = 0; i < actual.size(); ++i) {
        const double error = actual[i] - expected.values[i], half = std::abs(expected.values[i]) / 256;
        actual[i] -= std::clamp(error, -half, half);
      }
    }
    EXPECT_LT(Error(actual, expected.values), Rounds() ? 0.15 : 4e-5);
    if (Rounds()) {
      // Against the op's own rounding of transformed values, of which few fall the other way in float32.
      auto reference = EvaluateReference(kernel.function(), operands, {.batch = batch});
      ASSERT_TRUE(reference.ok());
      const std::vector<double> result = ResultOf(kernel, whole[0]), &rounded = (*reference)[0].values;
      double errors = 0, squares = 0;
      for (size_t i = 0; i < rounded.size(); ++i) {
        errors += (result[i] - rounded[i]) * (result[i] - rounded[i]);
        squares += rounded[i] * rounded[i];
      }
      EXPECT_LT(std::sqrt(errors / squares), 1.5e-3);
    }
    if (!rows_apart || batch < 2) return;
    std::vector<Bytes> parts = kernel.Run(operands, batch, {0, 1, batch});
    EXPECT_TRUE(parts[0] == whole[0]) << "bits depend on the rows of a call";
  }

  // Runs the kernel transform.
  td::RefTensor Transformed(const WinogradTexts& texts, const td::RefTensor& k, bool adjoint) {
    auto kernel = Compile(texts.Transform(adjoint));
    auto error = kernel->Error({k}, 1);
    EXPECT_TRUE(error.ok() && *error < (Rounds() ? 8e-3 : 1e-6)) << error.status() << *error;
    const int64_t points = texts.shape().points();
    const int64_t count = NumElements(RunShape(kernel->function().getArgumentTypes()[0], 1));
    std::vector<Bytes> whole = kernel->Run({k}, 1, {0, count});
    EXPECT_TRUE(kernel->Run({k}, 1, {0, 1, count / 3, count - 1, count})[0] == whole[0]);
    std::vector<double> values = ResultOf(*kernel, whole[0]);
    return {ElementOf(*kernel, false, 0), {points, static_cast<int64_t>(values.size()) / points}, values};
  }
};

TEST_P(WinogradKernelTest, MatchesDirectConvolution) {
  const auto& [tile, c, precision] = GetParam();
  const WinogradTexts texts(c, tile, precision.precision);
  const WinogradShape& s = texts.shape();
  std::mt19937 random(3);
  std::normal_distribution<float> normal;
  auto tensor = [&](Shape shape) {
    td::RefTensor t{Mixed() ? DType::kBFloat16 : DType::kFloat32, shape, std::vector<double>(NumElements(shape))};
    for (double& v : t.values) v = Mixed() ? RoundToBFloat16(normal(random)) : normal(random);
    return t;
  };
  const td::RefTensor k = tensor({3, 3, c.in, c.out}), bias = tensor({c.out});
  const td::RefTensor u = Transformed(texts, k, false), adjoint = Transformed(texts, k, true);
  auto forward = Compile(texts.Forward(false)), epilogue = Compile(texts.Forward(true));
  auto residual = Compile(texts.Forward(false, /*residual=*/true)), all = Compile(texts.Forward(true, true));
  auto input_grad = Compile(texts.InputGrad()), filter_grad = Compile(texts.FilterGrad());
  auto float32_dx = Compile(texts.InputGrad(/*float32_dx=*/true));
  ASSERT_TRUE(forward && epilogue && residual && all && input_grad && filter_grad && float32_dx);
  for (int64_t batch : {1, 3}) {
    SCOPED_TRACE(batch);
    const td::RefTensor x = tensor({batch, s.height, s.width, c.in});
    const td::RefTensor dy = tensor({batch, s.out_height, s.out_width, c.out});
    td::RefTensor y = Evaluate(texts.Direct("conv2d"), {x, k}, batch);
    Check(*forward, {x, u}, y, batch, true);
    td::RefTensor sum = y, rectified = y;
    for (size_t i = 0; i < y.values.size(); ++i) sum.values[i] += dy.values[i];
    Check(*residual, {x, u, dy}, sum, batch, true);
    for (size_t i = 0; i < y.values.size(); ++i) {
      y.values[i] = std::max(0.0, y.values[i] + bias.values[i % c.out]);
      rectified.values[i] = std::max(0.0, sum.values[i] + bias.values[i % c.out]);
    }
    Check(*epilogue, {x, u, bias}, y, batch, true);
    Check(*all, {x, u, bias, dy}, rectified, batch, true);
    const td::RefTensor dx = Evaluate(texts.Direct("conv2d_input_grad"), {dy, k}, batch);
    Check(*input_grad, {dy, adjoint}, dx, batch, true);
    Check(*float32_dx, {dy, adjoint}, dx, batch, true);
    Check(*filter_grad, {x, dy}, Evaluate(texts.Direct("conv2d_filter_grad"), {x, dy}, batch), batch, false);
    // The first block of tiles writes the sum; without rows there is none.
    for (double sum : ResultOf(*filter_grad, filter_grad->Run({x, dy}, batch, {0, 0})[0])) ASSERT_EQ(sum, 0);
  }
}

constexpr PrecisionCase kFloat32Case = {"", WinogradPrecision::kFloat32, "native"};
const WinogradCase kCases[] = {{5, 5, 3, 5, 0, 0, 4},       // all channels in a tail
                               {7, 9, 16, 40, 1, 1, 7},     // blocks that cut images
                               {13, 13, 32, 64, 0, 0, 12},  // S0's second layer
                               {6, 4, 5, 80, 2, 2, 30},     // more columns than a panel
                               {4, 7, 40, 3, 1, 2, 5}};     // uneven pads

std::string CaseName(const testing::TestParamInfo<WinogradKernelTest::ParamType>& info) {
  const auto& [tile, c, precision] = info.param;
  return absl::StrCat("Tile", tile, "Image", c.height, "x", c.width, "x", c.in, "To", c.out, precision.name);
}

INSTANTIATE_TEST_SUITE_P(Sizes, WinogradKernelTest,
                         testing::Combine(testing::Values(2, 3, 4), testing::ValuesIn(kCases),
                                          testing::Values(kFloat32Case)),
                         CaseName);

// Each way of bfloat16 with some tile; without the instructions products are emulated.
INSTANTIATE_TEST_SUITE_P(
    BFloat16, WinogradKernelTest,
    testing::Combine(testing::Values(3, 4), testing::ValuesIn(kCases),
                     testing::Values(PrecisionCase{"Images", WinogradPrecision::kBFloat16Images, "native-bf16"},
                                     PrecisionCase{"Products", WinogradPrecision::kBFloat16, "native-bf16"},
                                     PrecisionCase{"Emulated", WinogradPrecision::kBFloat16, "native"})),
    CaseName);

TEST(WinogradKernelTest, ReferenceIsConvolution) {
  // The ops' own evaluation, in double precision, is exact up to rounding of doubles.
  const WinogradTexts texts({5, 6, 2, 3, 1, 1, 4}, 4);
  std::mt19937 random(5);
  td::RefTensor x{DType::kFloat32, {2, 5, 6, 2}, {}}, k{DType::kFloat32, {3, 3, 2, 3}, {}};
  td::RefTensor dy{DType::kFloat32, {2, 5, 6, 3}, {}};
  for (td::RefTensor* t : {&x, &k, &dy}) {
    t->values.resize(NumElements(t->shape));
    for (double& v : t->values) v = static_cast<double>(random() % 9) - 4;
  }
  auto compare = [](const td::RefTensor& a, const td::RefTensor& b) {
    EXPECT_EQ(a.shape, b.shape);
    EXPECT_LT(Error(a.values, b.values), 1e-12);
  };
  compare(Evaluate(texts.Forward(false), {x, Evaluate(texts.Transform(false), {k}, 1)}, 2),
          Evaluate(texts.Direct("conv2d"), {x, k}, 2));
  compare(Evaluate(texts.InputGrad(), {dy, Evaluate(texts.Transform(true), {k}, 1)}, 2),
          Evaluate(texts.Direct("conv2d_input_grad"), {dy, k}, 2));
  compare(Evaluate(texts.FilterGrad(), {x, dy}, 2), Evaluate(texts.Direct("conv2d_filter_grad"), {x, dy}, 2));
}

// Transformed kernels that no cache holds are stored past them, and say so before others may read them.
TEST(WinogradKernelTest, LargeKernelsAreStreamed) {
  const WinogradTexts small({7, 7, 32, 64, 1, 1, 8}, 4), large({7, 7, 328, 384, 1, 1, 8}, 4);
  for (bool adjoint : {false, true}) {
    auto kept = TestKernel::Create(small.Transform(adjoint), "native");
    auto streamed = TestKernel::Create(large.Transform(adjoint), "native");
    ASSERT_TRUE(kept.ok() && streamed.ok()) << kept.status() << streamed.status();
    EXPECT_EQ((*kept)->llvm_ir().find("!nontemporal"), std::string::npos);
    const int64_t vector = HostCpuTarget()->vector_bits / 32;
    const bool whole_vectors = (adjoint ? 328 : 384) % vector == 0;  // of the result's columns
    EXPECT_EQ((*streamed)->llvm_ir().find("!nontemporal") != std::string::npos, whole_vectors);
    EXPECT_EQ((*streamed)->llvm_ir().find("fence seq_cst") != std::string::npos, whole_vectors);
    // Such stores need what the runtime gives: buffers that begin at a multiple of 64 bytes.
    std::mt19937 random(7);
    const td::RefTensor k = (*streamed)->RandomOperands(1, random)[0];
    std::vector<float> from(k.values.begin(), k.values.end());
    const td::RefTensor expected = Evaluate(large.Transform(adjoint), {k}, 1);
    for (const std::vector<int64_t>& splits : {std::vector<int64_t>{0, 9 * 328 * 384}, {0, 7, 500000, 9 * 328 * 384}}) {
      std::vector<float> memory(expected.values.size() + 16);
      void* to = memory.data();
      size_t space = memory.size() * sizeof(float);
      ASSERT_NE(std::align(64, expected.values.size() * sizeof(float), to, space), nullptr);
      void* args[] = {from.data(), to};
      for (size_t i = 0; i + 1 < splits.size(); ++i) (*streamed)->entry()(args, splits[i], splits[i + 1], 0);
      const float* made = static_cast<const float*>(to);
      EXPECT_LT(Error({made, made + expected.values.size()}, expected.values), 1e-6);
    }
  }
}

// A kernel that the second-level cache does not hold is fetched ahead, a smaller one is there already.
TEST(WinogradKernelTest, LargeKernelsAreFetchedAhead) {
  for (auto [channels, fetched] : {std::pair<int64_t, bool>(64, false), {256, true}}) {
    const WinogradTexts texts({14, 14, channels, channels, 1, 1, 36}, 4);
    for (const std::string& text : {texts.Forward(false), texts.InputGrad()}) {
      auto kernel = TestKernel::Create(text, "x86-64-v4");
      ASSERT_TRUE(kernel.ok()) << kernel.status();
      EXPECT_EQ((*kernel)->llvm_ir().find("call void @llvm.prefetch") != std::string::npos, fetched) << channels;
    }
  }
}

TEST(WinogradKernelTest, AllIsVectors) {
  const WinogradTexts texts({13, 13, 32, 64, 0, 0, 36}, 4);
  for (const std::string& text : {texts.Forward(true), texts.InputGrad(), texts.FilterGrad()}) {
    for (const char* target : {"x86-64-v4", "x86-64-v3"}) {
      auto kernel = TestKernel::Create(text, target);
      ASSERT_TRUE(kernel.ok()) << kernel.status();
      const std::string& ir = (*kernel)->llvm_ir();
      EXPECT_NE(ir.find(absl::StrCat("@llvm.fma.v", std::string(target) == "x86-64-v3" ? 8 : 16, "f32")),
                std::string::npos);
      EXPECT_EQ(ir.find("fmul float"), std::string::npos) << ir;
      EXPECT_EQ(ir.find("fadd float"), std::string::npos) << ir;
      EXPECT_EQ(ir.find("@llvm.fma.f32"), std::string::npos) << ir;
    }
  }
}

}  // namespace
}  // namespace tandem
