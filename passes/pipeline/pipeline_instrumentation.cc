#include "passes/pipeline/pipeline_instrumentation.h"

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "base/timing.h"
#include "llvm/Support/raw_ostream.h"
#include "passes/base/report_segments.h"
#include "passes/contraction/reports.h"
#include "passes/exec/dialect.h"
#include "passes/phases/fusion/explain_fusion.h"
#include "passes/phases/precision/precision_decisions.h"

namespace tandem {
namespace {

constexpr int64_t kShownElements = 64;     // largest constants that are printed in full for people, in elements
constexpr int64_t kStoredElements = 4096;  // largest constants that the executable's texts print in full, in elements

// True if the reference interpreter runs the IR of this phase to check a program: the graph, with the types it computes
// in.
bool IsReference(mlir::ModuleOp module, const std::string& phase) {
  const bool mixed = exec::CompileConfigAttr::of(module).getPrecision() == Precision::kMixedBfloat16;
  return phase == (mixed ? "precision" : "input");
}

}  // namespace

// Prints the module with the location of each op behind it, not in a list of aliases at the end.
std::string PipelineInstrumentation::Print(mlir::ModuleOp module, int64_t max_elements,
                                           ConstantPrinter::ByName* named) {
  return printer_.Print(module, max_elements, mlir::OpPrintingFlags().enableDebugInfo(true).useLocalScope(), named);
}

void PipelineInstrumentation::PrintFor(const std::vector<std::string>& passes, const char* where, mlir::Pass* pass,
                                       mlir::Operation* op) {
  const std::string name = pass->getArgument().str();
  if (!absl::c_linear_search(passes, name)) return;
  llvm::errs() << "// IR " << where << " " << name << "\n"
               << Print(mlir::cast<mlir::ModuleOp>(op), kShownElements, nullptr) << "\n";
}

void PipelineInstrumentation::AddPhase(const Phase& phase,
                                       llvm::iterator_range<mlir::OpPassManager::pass_iterator> passes) {
  for (mlir::Pass& pass : passes) {
    phases_[&pass] = &phase;
    last_ = &pass;
  }
  ends_.push_back({last_, &phase});
}

std::string PipelineInstrumentation::Running() const {
  if (running_ == nullptr) return "the pass manager";
  return absl::StrCat("phase ", phases_.at(running_)->name, ", pass ", running_->getArgument().str());
}

void PipelineInstrumentation::runBeforePass(mlir::Pass* pass, mlir::Operation* op) {
  running_ = pass;
  PrintFor(options_.print_before, "before", pass, op);
  start_ = std::chrono::steady_clock::now();
}

void PipelineInstrumentation::runAfterPass(mlir::Pass* pass, mlir::Operation* op) {
  if (options_.times != nullptr) {
    options_.times->Add(absl::StrCat(phases_.at(pass)->name, ": ", pass->getArgument().str()), SecondsSince(start_));
  }
  PrintFor(options_.print_after, "after", pass, op);
  EndPhases(pass, mlir::cast<mlir::ModuleOp>(op));
}

void PipelineInstrumentation::EndPhases(const mlir::Pass* last, mlir::ModuleOp module) {
  for (const auto& [pass, phase] : ends_) {
    if (pass != last) continue;
    const std::string decisions = TakeFusionDecisions(module), contractions = TakeContractionReports(module);
    const std::string precisions = TakePrecisionDecisions(module);
    if (snapshots_ == nullptr) continue;
    if (!decisions.empty()) snapshots_->push_back({kFusionDecisions, decisions});
    if (!precisions.empty()) snapshots_->push_back({kPrecisionDecisions, precisions});
    if (!contractions.empty()) snapshots_->push_back({kContractionReports, contractions});
    const bool reference = IsReference(module, phase->name);
    snapshots_->push_back({phase->name, Print(module, kStoredElements, reference ? options_.constants : nullptr)});
  }
}

}  // namespace tandem
