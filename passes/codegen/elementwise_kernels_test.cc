// Every elementwise op that has a gradient, as a kernel of its own for CPUs and GPUs, in float32 and float64: on
// numbers of its case in graph/gradient_cases_*.cc, and on what is special.
#include <cmath>
#include <limits>
#include <random>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "graph/gradients/gradient_cases.h"
#include "graph/ir/dialect.h"
#include "graph/ir/interfaces.h"
#include "gtest/gtest.h"
#include "mlir/Parser/Parser.h"
#include "passes/codegen/kernel_test_util.h"
#include "passes/exec/dialect.h"
#include "passes/exec/kernel_kind.h"

namespace tandem {
namespace {

constexpr int64_t kBatch = 24;

// The function of a case in element type `type`.
mlir::OwningOpRef<mlir::ModuleOp> Parse(mlir::MLIRContext& context, const GradientCase& c, const char* type) {
  return mlir::parseSourceString<mlir::ModuleOp>(absl::StrReplaceAll(c.function, {{"f64", type}}), &context);
}

bool IsElementwise(mlir::func::FuncOp function) {
  mlir::Operation& op = function.getBody().front().front();
  auto elemental = mlir::dyn_cast<td::ElementalOp>(op);
  return elemental && elemental.getFusionKind() == td::FusionKind::kElementwise &&
         op.getNextNode() == function.getBody().front().getTerminator();
}

// Numbers of the case's range, of the kernel's type.
std::vector<td::RefTensor> Operands(TestKernel& kernel, const GradientCase& c) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> number(c.low, c.high);
  std::vector<td::RefTensor> operands = kernel.RandomOperands(kBatch, random);
  for (td::RefTensor& t : operands) {
    if (t.dtype != DType::kFloat32 && t.dtype != DType::kFloat64) continue;
    for (double& v : t.values) {
      v = number(random);
      if (t.dtype == DType::kFloat32) v = static_cast<float>(v);
    }
  }
  return operands;
}

// Runs every op's kernels on numbers of its case as `change` leaves them. Returns the number of kernels.
int RunAll(absl::FunctionRef<void(std::vector<td::RefTensor>& operands)> change) {
  mlir::MLIRContext context;
  context.loadDialect<td::TdDialect, exec::ExecDialect, mlir::func::FuncDialect>();
  int kernels = 0;
  for (const GradientCase& c : GradientCases()) {
    for (const char* type : {"f32", "f64"}) {
      mlir::OwningOpRef<mlir::ModuleOp> module = Parse(context, c, type);
      if (!module) {
        ADD_FAILURE() << c.op << " has a case that cannot be parsed";
        continue;
      }
      mlir::func::FuncOp function = *module->getOps<mlir::func::FuncOp>().begin();
      if (!IsElementwise(function)) continue;
      exec::SetKernelKind(function, exec::KernelKind::kLoop);
      const bool wide = mlir::getElementTypeOrSelf(function.getResultTypes()[0]).isF64();
      for (const char* target : {"native", "gpu"}) {
        SCOPED_TRACE(absl::StrCat(c.function, " ", type, " ", target));
        auto kernel = TestKernel::Create(function, target);
        EXPECT_TRUE(kernel.ok()) << kernel.status();
        if (!kernel.ok()) continue;
        std::vector<td::RefTensor> operands = Operands(**kernel, c);
        change(operands);
        absl::StatusOr<double> error = (*kernel)->Error(operands, kBatch);
        EXPECT_TRUE(error.ok()) << error.status();
        if (!error.ok()) continue;
        EXPECT_LE(*error, wide ? 2e-14 : 3e-6);
        ++kernels;
      }
    }
  }
  return kernels;
}

TEST(ElementwiseKernelsTest, MatchTheReference) {
  EXPECT_GT(RunAll([](std::vector<td::RefTensor>&) {}), 100);
}

TEST(ElementwiseKernelsTest, SpecialNumbersGiveWhatTheReferenceSays) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double special[] = {std::nan(""), kInfinity, -kInfinity, 0.0, -0.0};
  RunAll([&](std::vector<td::RefTensor>& operands) {
    for (td::RefTensor& t : operands) {
      if (t.dtype != DType::kFloat32 && t.dtype != DType::kFloat64) continue;
      for (size_t i = 0; i < t.values.size(); ++i) t.values[i] = special[i % std::size(special)];
      break;
    }
  });
}

}  // namespace
}  // namespace tandem
