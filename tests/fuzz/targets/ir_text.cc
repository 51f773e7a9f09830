// td IR as tandem-opt reads it: parsed, verified, taken through the phases, printed.
#include <memory>

#include "base/logging.h"
#include "graph/ir/dialect.h"
#include "graph/ir/text_check.h"
#include "llvm/Support/raw_ostream.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "passes/exec/dialect.h"
#include "passes/pipeline/pipeline.h"
#include "tests/fuzz/fuzz_target.h"
#include "tools/dump/ir_graph.h"

namespace tandem::fuzz {

std::vector<std::string> Seeds() { return {}; }

}  // namespace tandem::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  tandem::ParseIrGraph(text);  // as the page shows it: not with MLIR's parser
  if (!tandem::td::CheckText(text, "fuzz.mlir").ok()) return 0;
  // What a context has seen it keeps.
  static std::unique_ptr<mlir::MLIRContext> context;
  static int uses = 0;
  if (uses++ % 1000 == 0) {
    tandem::SetMinLogSeverity(tandem::LogSeverity::kError);
    context = std::make_unique<mlir::MLIRContext>(mlir::MLIRContext::Threading::DISABLED);
    context->loadDialect<mlir::func::FuncDialect, tandem::td::TdDialect, tandem::exec::ExecDialect>();
  }
  mlir::ScopedDiagnosticHandler handler(context.get(), [](mlir::Diagnostic&) { return mlir::success(); });
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, context.get());
  if (!module) return 0;
  tandem::fuzz::NoteAccepted();
  std::string printed;
  llvm::raw_string_ostream(printed) << *module;
  for (const char* from : {"", "distribute", "memory", "commands"}) {
    mlir::OwningOpRef<mlir::ModuleOp> copy(module->clone());
    (void)tandem::RunPipeline(*copy, {.compile_from = from, .verify_each = true}, nullptr);
  }
  return 0;
}
