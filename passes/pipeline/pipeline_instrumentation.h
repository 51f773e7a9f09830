// What the pipeline does before and after each pass: it measures time, prints the module and keeps its text.
#ifndef TANDEM_PASSES_PIPELINE_PIPELINE_INSTRUMENTATION_H_
#define TANDEM_PASSES_PIPELINE_PIPELINE_INSTRUMENTATION_H_

#include <chrono>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"
#include "passes/pipeline/phases.h"
#include "passes/pipeline/pipeline.h"
#include "passes/serialize/constant_names.h"

namespace tandem {

// Watches passes over modules: says which one runs, measures it, prints the module around it, and keeps the text of the
// module at the end of every phase.
class PipelineInstrumentation : public mlir::PassInstrumentation {
 public:
  // Both arguments must outlive this object; `snapshots` may be null.
  PipelineInstrumentation(const PipelineOptions& options, PhaseTexts* snapshots)
      : options_(options), snapshots_(snapshots) {}

  // Adds `phase`. `passes` are those of its passes that will run. Call it for all phases in their order.
  void AddPhase(const Phase& phase, llvm::iterator_range<mlir::OpPassManager::pass_iterator> passes);

  // Records the module's text for the first phases if none of their passes runs, because all are disabled. Call it
  // before the passes run.
  void BeforePasses(mlir::ModuleOp module) { EndPhases(nullptr, module); }

  // Names the pass that runs or was the last to run: "phase fusion, pass td-form-fusions".
  std::string Running() const;

  void runBeforePass(mlir::Pass* pass, mlir::Operation* op) override;
  void runAfterPass(mlir::Pass* pass, mlir::Operation* op) override;

 private:
  void EndPhases(const mlir::Pass* last, mlir::ModuleOp module);
  void PrintFor(const std::vector<std::string>& passes, const char* where, mlir::Pass* pass, mlir::Operation* op);
  std::string Print(mlir::ModuleOp module, int64_t max_elements, ConstantPrinter::ByName* named);

  const PipelineOptions& options_;
  PhaseTexts* snapshots_;
  std::map<const mlir::Pass*, const Phase*> phases_;
  // For each phase the last pass that was added before it ended.
  std::vector<std::pair<const mlir::Pass*, const Phase*>> ends_;
  const mlir::Pass* last_ = nullptr;  // the last pass that was added
  const mlir::Pass* running_ = nullptr;
  std::chrono::steady_clock::time_point start_;
  ConstantPrinter printer_;
};

}  // namespace tandem

#endif  // TANDEM_PASSES_PIPELINE_PIPELINE_INSTRUMENTATION_H_
