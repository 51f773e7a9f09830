// td-to-stablehlo: replaces the module's content by what TranslateStep makes of @step (translate_step.h has an
// example). The weights are arguments. Run tandem-opt with --allow-unregistered-dialect.
#include "passes/stablehlo/to_stablehlo_pass.h"

#include <string>

#include "mlir/Pass/Pass.h"
#include "passes/base/pass_util.h"
#include "passes/base/step_signature.h"
#include "passes/stablehlo/translate_step.h"
#include "passes/translation/step_values.h"

namespace tandem::stablehlo {
namespace {

class ToStableHloPass : public mlir::PassWrapper<ToStableHloPass, mlir::OperationPass<mlir::ModuleOp>> {
 public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ToStableHloPass)

  ToStableHloPass() = default;
  ToStableHloPass(const ToStableHloPass& other) : PassWrapper(other) {}

  llvm::StringRef getArgument() const override { return "td-to-stablehlo"; }
  llvm::StringRef getDescription() const override { return "Translate a step for predictions to StableHLO"; }

  void runOnOperation() override {
    mlir::ModuleOp module = getOperation();
    mlir::func::FuncOp step = StepFunction(module);
    if (!step) return Fail("there is no function @step");
    if (mlir::failed(VerifyStepSignature(step))) return signalPassFailure();
    auto translated = TranslateStep(step, translation::ValuesOfStep(step), {.rows = rows_});
    if (!translated.ok()) return Fail(std::string(translated.status().message()));
    module.getBodyRegion().takeBody(translated->module->getBodyRegion());
  }

 private:
  void Fail(const std::string& message) {
    getOperation().emitError() << message;
    signalPassFailure();
  }

  Option<int64_t> rows_{*this, "rows", llvm::cl::desc("The size of the batch"), llvm::cl::init(1)};
};

}  // namespace

void RegisterToStableHloPass() { mlir::PassRegistration<ToStableHloPass>(); }

}  // namespace tandem::stablehlo
