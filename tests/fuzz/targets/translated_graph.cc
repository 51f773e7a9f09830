// Graphs in text, as executables keep them, as ONNX models and StableHLO: parsed, checked, translated, encoded.
#include <memory>

#include "estimator/onnx/encode_model.h"
#include "graph/ir/dialect.h"
#include "graph/ir/text_check.h"
#include "llvm/Support/raw_ostream.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "passes/base/step_signature.h"
#include "passes/onnx/translate_step.h"
#include "passes/stablehlo/translate_step.h"
#include "passes/translation/step_values.h"
#include "tests/fuzz/fuzz_target.h"

namespace tandem::fuzz {
namespace {

// A changed size may ask for more memory than there is, which a program answers with an exit code.
constexpr int64_t kMaxElements = 1 << 16;

bool HasLargeValue(mlir::func::FuncOp step) {
  const auto is_large = [](mlir::Value value) {
    auto type = mlir::dyn_cast<mlir::RankedTensorType>(value.getType());
    int64_t elements = 1;
    for (int64_t size : type ? type.getShape() : llvm::ArrayRef<int64_t>()) {
      if (mlir::ShapedType::isDynamic(size) || size == 0) continue;
      if (elements > kMaxElements / size) return true;
      elements *= size;
    }
    return false;
  };
  bool found = llvm::any_of(step.getArguments(), is_large);
  step.walk([&](mlir::Operation* op) { found = found || llvm::any_of(op->getResults(), is_large); });
  return found;
}

// A translation changes the step, so that each but the last gets a copy.
template <typename Translate>
void OnCopy(mlir::func::FuncOp step, const Translate& translate) {
  mlir::OwningOpRef<mlir::func::FuncOp> copy = step.clone();
  translate(*copy);
}

void ToOnnx(mlir::func::FuncOp step, const translation::ProgramValues& values) {
  for (bool fold : {false, true}) {
    const absl::StatusOr<onnx::Model> model = onnx::TranslateStep(step, values, {.fold_batch_norm = fold});
    const auto place = fold ? onnx::WeightsPlace::kData : onnx::WeightsPlace::kModel;
    if (model.ok()) onnx::EncodeModel(*model, place, "weights");
  }
}

void ToStableHlo(mlir::func::FuncOp step, const translation::ProgramValues& values) {
  mlir::MLIRContext* context = step.getContext();
  context->allowUnregisteredDialects(true);
  for (bool constants : {false, true}) {
    auto translated = stablehlo::TranslateStep(step, values, {.rows = 3, .weights_as_constants = constants});
    if (!translated.ok()) continue;
    std::string text;
    llvm::raw_string_ostream os(text);
    translated->module->print(os);
  }
  context->allowUnregisteredDialects(false);
}

}  // namespace

std::vector<std::string> Seeds() { return {}; }

}  // namespace tandem::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (!tandem::td::CheckText(text, "fuzz.mlir").ok()) return 0;
  // What a context has seen it keeps.
  static std::unique_ptr<mlir::MLIRContext> context;
  static int uses = 0;
  if (uses++ % 1000 == 0) {
    context = std::make_unique<mlir::MLIRContext>(mlir::MLIRContext::Threading::DISABLED);
    context->loadDialect<mlir::func::FuncDialect, tandem::td::TdDialect>();
  }
  mlir::ScopedDiagnosticHandler handler(context.get(), [](mlir::Diagnostic&) { return mlir::success(); });
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, context.get());
  if (!module) return 0;
  auto step = module->lookupSymbol<mlir::func::FuncOp>("step");
  if (!step || mlir::failed(tandem::VerifyStepSignature(step)) || tandem::fuzz::HasLargeValue(step)) return 0;
  tandem::fuzz::NoteAccepted();
  tandem::translation::ProgramValues values = tandem::translation::ValuesOfStep(step);
  values.scalars["global_step"] = 3;
  tandem::fuzz::OnCopy(step, [&](mlir::func::FuncOp copy) { tandem::fuzz::ToOnnx(copy, values); });
  tandem::fuzz::ToStableHlo(step, values);
  return 0;
}
