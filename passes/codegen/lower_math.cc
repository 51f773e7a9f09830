#include "passes/codegen/lower_math.h"

#include <utility>

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace tandem {
namespace {

struct LibmName {
  const char* op;
  const char* function;  // the C library's function on double; with an `f` appended, on float
};
// The functions that are called by name. An llvm.* intrinsic may not be used for any of them: LLVM would turn it into a
// call of the C library that is not seen here, or expand it inexactly.
constexpr LibmName kLibm[] = {{"math.exp", "exp"},     {"math.exp2", "exp2"},  {"math.expm1", "expm1"},
                              {"math.log", "log"},     {"math.log2", "log2"},  {"math.log1p", "log1p"},
                              {"math.tanh", "tanh"},   {"math.erf", "erf"},    {"math.powf", "pow"},
                              {"math.sin", "sin"},     {"math.cos", "cos"},    {"math.atan", "atan"},
                              {"math.atan2", "atan2"}, {"math.log10", "log10"}};

// Returns the kLibm entry of an op of dialect math, whether it works on a scalar or a vector; null if it has none.
const LibmName* FindLibm(mlir::Operation* op) {
  if (!mlir::isa<mlir::math::MathDialect>(op->getDialect())) return nullptr;
  const auto* found = llvm::find_if(kLibm, [&](const LibmName& n) { return op->getName().getStringRef() == n.op; });
  return found == std::end(kLibm) ? nullptr : found;
}

bool IsBFloat16(mlir::Type type) { return mlir::getElementTypeOrSelf(type).isBF16(); }

}  // namespace

absl::Status LowerMath(mlir::ModuleOp module, bool precise, bool native_bfloat16) {
  // Kernels without functions of floats and without bfloat16 skip the rewriter, since it visits every op more than
  // once.
  bool functions = false, bfloat16 = false;
  module.walk([&](mlir::Operation* op) {
    functions = functions || FindLibm(op) != nullptr;
    if (mlir::isa<mlir::arith::TruncFOp, mlir::arith::ExtFOp>(op)) {
      bfloat16 = bfloat16 || IsBFloat16(op->getResult(0).getType()) || IsBFloat16(op->getOperand(0).getType());
    }
  });
  mlir::RewritePatternSet patterns(module.getContext());
  if (functions && !precise) {
    // float32 functions become polynomials; those without one (pow) are left to the C library.
    mlir::populateExpandExp2FPattern(patterns);
    mlir::populateMathPolynomialApproximationPatterns(patterns, {});
  }
  // Without these patterns LLVM would call a function of the compiler's runtime library for each element.
  if (bfloat16 && !native_bfloat16) mlir::arith::populateExpandBFloat16Patterns(patterns);
  if (patterns.getNativePatterns().empty()) return absl::OkStatus();
  if (mlir::failed(mlir::applyPatternsAndFoldGreedily(module, std::move(patterns)))) {
    return absl::InternalError("the functions of a kernel could not be expanded");
  }
  return absl::OkStatus();
}

std::string LibmFunction(mlir::Operation* op) {
  const mlir::Type type = op->getResult(0).getType();
  if (!type.isF32() && !type.isF64()) return "";
  const LibmName* libm = FindLibm(op);
  return libm == nullptr ? "" : std::string(libm->function) + (type.isF32() ? "f" : "");
}

const std::vector<std::string>& LibmSymbols() {
  static const std::vector<std::string>& names = *[] {
    auto* all = new std::vector<std::string>();
    for (const LibmName& libm : kLibm) {
      all->push_back(libm.function);
      all->push_back(std::string(libm.function) + "f");
    }
    // LLVM turns loops that copy or fill memory into calls of these functions.
    for (const char* name : {"memcpy", "memset", "memmove"}) all->push_back(name);
    return all;
  }();
  return names;
}

}  // namespace tandem
