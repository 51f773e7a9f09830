#include "passes/codegen/lower_to_llvm.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"

namespace tandem {
namespace {

namespace LLVM = mlir::LLVM;

struct LibmName {
  const char* op;
  const char* function;  // of double; with an `f` appended, of float
};
// No llvm.* intrinsic may stand for one of these: LLVM would call the C library behind our back, or expand loosely.
constexpr LibmName kLibm[] = {{"math.exp", "exp"},     {"math.exp2", "exp2"},  {"math.expm1", "expm1"},
                              {"math.log", "log"},     {"math.log2", "log2"},  {"math.log1p", "log1p"},
                              {"math.tanh", "tanh"},   {"math.erf", "erf"},    {"math.powf", "pow"},
                              {"math.sin", "sin"},     {"math.cos", "cos"},    {"math.atan", "atan"},
                              {"math.atan2", "atan2"}, {"math.log10", "log10"}};

void CallLibm(mlir::ModuleOp module) {
  mlir::OpBuilder b(module.getContext());
  llvm::SmallVector<std::pair<mlir::Operation*, std::string>> calls;
  module.walk([&](mlir::Operation* op) {
    for (const LibmName& libm : kLibm) {
      if (op->getName().getStringRef() != libm.op) continue;
      mlir::Type type = op->getResult(0).getType();
      if (type.isF32() || type.isF64()) calls.emplace_back(op, std::string(libm.function) + (type.isF32() ? "f" : ""));
    }
  });
  for (auto& [op, name] : calls) {
    auto function = module.lookupSymbol<LLVM::LLVMFuncOp>(name);
    if (!function) {
      b.setInsertionPointToStart(module.getBody());
      llvm::SmallVector<mlir::Type> arguments(op->getOperandTypes());
      function = b.create<LLVM::LLVMFuncOp>(op->getLoc(), name,
                                            LLVM::LLVMFunctionType::get(op->getResult(0).getType(), arguments));
    }
    b.setInsertionPoint(op);
    auto call = b.create<LLVM::CallOp>(op->getLoc(), function, op->getOperands());
    op->replaceAllUsesWith(call);
    op->erase();
  }
}

// Polynomials for float32; what has none (pow) is left to the C library.
mlir::LogicalResult ApproximateMath(mlir::ModuleOp module) {
  mlir::RewritePatternSet patterns(module.getContext());
  mlir::populateExpandExp2FPattern(patterns);
  mlir::populateMathPolynomialApproximationPatterns(patterns, {});
  return mlir::applyPatternsAndFoldGreedily(module, std::move(patterns));
}

// LLVM would call a function of the compiler's library per element.
mlir::LogicalResult ExpandBFloat16(mlir::ModuleOp module) {
  mlir::RewritePatternSet patterns(module.getContext());
  mlir::arith::populateExpandBFloat16Patterns(patterns);
  return mlir::applyPatternsAndFoldGreedily(module, std::move(patterns));
}

// Loop variables are block arguments of type index; nothing but the function they are in can convert those.
class ConvertBlocks : public mlir::ConvertOpToLLVMPattern<LLVM::LLVMFuncOp> {
 public:
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  mlir::LogicalResult matchAndRewrite(LLVM::LLVMFuncOp f, OpAdaptor,
                                      mlir::ConversionPatternRewriter& rewriter) const override {
    rewriter.startOpModification(f);
    if (mlir::failed(rewriter.convertRegionTypes(&f.getBody(), *getTypeConverter()))) return mlir::failure();
    rewriter.finalizeOpModification(f);
    return mlir::success();
  }
};

bool HasLlvmBlocks(LLVM::LLVMFuncOp f) {
  return llvm::all_of(f.getBody(), [](mlir::Block& block) {
    return llvm::none_of(block.getArgumentTypes(), [](mlir::Type t) { return t.isIndex(); });
  });
}

class LowerPass : public mlir::PassWrapper<LowerPass, mlir::OperationPass<mlir::ModuleOp>> {
 public:
  LowerPass(bool precise, bool native_bfloat16, int index_bits)
      : precise_(precise), native_bfloat16_(native_bfloat16), index_bits_(index_bits) {}
  void getDependentDialects(mlir::DialectRegistry& registry) const override { registry.insert<LLVM::LLVMDialect>(); }
  void runOnOperation() override {
    if (!precise_ && mlir::failed(ApproximateMath(getOperation()))) return signalPassFailure();
    if (!native_bfloat16_ && mlir::failed(ExpandBFloat16(getOperation()))) return signalPassFailure();
    CallLibm(getOperation());
    mlir::MLIRContext* context = &getContext();
    mlir::LLVMConversionTarget target(*context);
    target.addLegalOp<mlir::ModuleOp>();
    target.addDynamicallyLegalOp<LLVM::LLVMFuncOp>(HasLlvmBlocks);
    mlir::LowerToLLVMOptions options(context);
    options.overrideIndexBitwidth(index_bits_);
    mlir::LLVMTypeConverter types(context, options);
    mlir::RewritePatternSet patterns(context);
    patterns.add<ConvertBlocks>(types);
    mlir::cf::populateControlFlowToLLVMConversionPatterns(types, patterns);
    mlir::arith::populateArithToLLVMConversionPatterns(types, patterns);
    mlir::populateMathToLLVMConversionPatterns(types, patterns);
    if (mlir::failed(mlir::applyFullConversion(getOperation(), target, std::move(patterns)))) signalPassFailure();
  }

 private:
  bool precise_, native_bfloat16_;
  int index_bits_;
};

}  // namespace

void RegisterLlvmTranslation(mlir::MLIRContext& context) {
  mlir::DialectRegistry registry;
  mlir::registerBuiltinDialectTranslation(registry);
  mlir::registerLLVMDialectTranslation(registry);
  context.appendDialectRegistry(registry);
}

absl::Status LowerToLlvmDialect(mlir::ModuleOp module, bool precise, bool native_bfloat16, int index_bits) {
  mlir::PassManager passes(module.getContext());
  passes.addPass(mlir::createCanonicalizerPass());
  passes.addPass(mlir::createCSEPass());
  passes.addPass(mlir::createConvertSCFToCFPass());
  passes.addPass(std::make_unique<LowerPass>(precise, native_bfloat16, index_bits));
  passes.addPass(mlir::createCSEPass());
  if (mlir::failed(passes.run(module))) return absl::InternalError("a kernel could not be lowered to LLVM");
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<llvm::Module>> TranslateToLlvmIr(mlir::ModuleOp module, llvm::LLVMContext& context) {
  std::unique_ptr<llvm::Module> result = mlir::translateModuleToLLVMIR(module, context);
  if (result == nullptr) return absl::InternalError("a kernel could not be translated to LLVM IR");
  return result;
}

const std::vector<std::string>& LibmSymbols() {
  static const std::vector<std::string>& names = *[] {
    auto* all = new std::vector<std::string>();
    for (const LibmName& libm : kLibm) {
      all->push_back(libm.function);
      all->push_back(std::string(libm.function) + "f");
    }
    // LLVM makes these out of loops that copy or fill.
    for (const char* name : {"memcpy", "memset", "memmove"}) all->push_back(name);
    return all;
  }();
  return names;
}

}  // namespace tandem
