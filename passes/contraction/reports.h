// The reports of td-choose-contractions, for tandem-dump --contractions.
#ifndef TANDEM_PASSES_CONTRACTION_REPORTS_H_
#define TANDEM_PASSES_CONTRACTION_REPORTS_H_

#include <string>
#include <utility>

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/exec/dialect.h"

namespace tandem {

// The verdicts of candidates on a module's contractions, by scoped name and kind of op.
class ContractionReports {
 public:
  // Reads the reports that `module` has.
  explicit ContractionReports(mlir::ModuleOp module);

  bool empty() const { return reports_.empty(); }
  // Returns all verdicts on the contraction, in the order in which candidates were asked.
  llvm::ArrayRef<exec::VerdictAttr> Of(mlir::Operation* op) const;
  // Adds `verdicts`, for microbatches of `rows`. They replace earlier verdicts on the same algorithms; other earlier
  // verdicts stay in front of them.
  void Add(mlir::Operation* op, int64_t rows, llvm::ArrayRef<exec::VerdictAttr> verdicts);
  // Writes the reports into the module's attribute exec.contractions.
  void Write(mlir::ModuleOp module) const;

 private:
  using Key = std::pair<mlir::StringAttr, mlir::StringAttr>;
  struct Report {
    int64_t rows = 0;
    llvm::SmallVector<exec::VerdictAttr> verdicts;
  };

  llvm::MapVector<Key, Report> reports_;
};

// Once every choice in the module has been carried out, removes the reports from the module and returns them as text,
// in the form that passes/base/report_segments.h describes. Before that it returns an empty text.
std::string TakeContractionReports(mlir::ModuleOp module);

}  // namespace tandem

#endif  // TANDEM_PASSES_CONTRACTION_REPORTS_H_
