// Runs the phases of the compiler (phases.h).
#ifndef TANDEM_PASSES_PIPELINE_PIPELINE_H_
#define TANDEM_PASSES_PIPELINE_PIPELINE_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/base/compile_times.h"

namespace tandem {

struct PipelineOptions {
  std::string compile_from;                  // first phase to run; empty = the first
  std::string compile_to;                    // last phase to run; empty = the last
  std::vector<std::string> disabled_passes;  // names of passes that do not run, such as "td-schedule"
  std::vector<std::string> print_before;     // names of passes before which the IR is printed to stderr
  std::vector<std::string> print_after;
  // True: MLIR verifies the module after every pass, which takes as long as the passes. False: at the end of each
  // phase.
  bool verify_each = false;
  // File that gets the module, without locations, as it was before the pass that fails or crashes; `tandem-opt
  // --run-reproducer` runs that pass on it. Empty = none is kept.
  std::string crash_reproducer;
  CompileTimes* times = nullptr;                 // gets the time of every pass, when not null
  std::vector<std::string>* warnings = nullptr;  // gets the passes' warnings, when not null; they are logged as well
  // When not null: gets the large constants, by their names, of the phase whose IR the reference interpreter runs.
  std::map<std::string, mlir::DenseElementsAttr>* constants = nullptr;
};

// Pairs of a phase's name and the text of its IR.
using PhaseTexts = std::vector<std::pair<std::string, std::string>>;

// Runs the phases on `module`. The IR after each phase is appended to `snapshots` (name, text with locations) unless it
// is null. In that text `dense_resource<NAME>` stands for constants of more than 4096 elements (constant_names.h).
// Errors: InvalidArgument for an unknown phase or pass (listing all) and for a module in which a constant has a name
// and no numbers; others carry exit code 70 and the first diagnostic: op, message, the user's file and line.
absl::Status RunPipeline(mlir::ModuleOp module, const PipelineOptions& options, PhaseTexts* snapshots);

// Makes every pass known to mlir-opt style tools by its argument, and every phase as a pipeline, "td-phase-fusion".
// Idempotent.
void RegisterPasses();

}  // namespace tandem

#endif  // TANDEM_PASSES_PIPELINE_PIPELINE_H_
