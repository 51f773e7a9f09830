#include "passes/contraction/reports.h"

#include "absl/strings/str_cat.h"
#include "passes/base/pass_util.h"
#include "passes/contraction/choice.h"

namespace tandem {
namespace {

constexpr llvm::StringLiteral kReportsAttribute = "exec.contractions";

std::pair<mlir::StringAttr, mlir::StringAttr> KeyOf(mlir::Operation* op) {
  return {mlir::StringAttr::get(op->getContext(), LocationName(op->getLoc())),
          mlir::StringAttr::get(op->getContext(), op->getName().stripDialect())};
}

}  // namespace

ContractionReports::ContractionReports(mlir::ModuleOp module) {
  auto reports = module->getAttrOfType<mlir::ArrayAttr>(kReportsAttribute);
  if (!reports) return;
  mlir::MLIRContext* context = module.getContext();
  for (auto r : reports.getAsRange<exec::ContractionReportAttr>()) {
    Report& report = reports_[{mlir::StringAttr::get(context, r.getName()), mlir::StringAttr::get(context, r.getOp())}];
    report.rows = r.getRows();
    llvm::append_range(report.verdicts, r.getVerdicts().getAsRange<exec::VerdictAttr>());
  }
}

llvm::ArrayRef<exec::VerdictAttr> ContractionReports::Of(mlir::Operation* op) const {
  const auto report = reports_.find(KeyOf(op));
  return report == reports_.end() ? llvm::ArrayRef<exec::VerdictAttr>() : report->second.verdicts;
}

void ContractionReports::Add(mlir::Operation* op, int64_t rows, llvm::ArrayRef<exec::VerdictAttr> verdicts) {
  const auto is_new = [&](exec::VerdictAttr old) {
    return llvm::any_of(verdicts, [&](exec::VerdictAttr v) {
      return v.getContraction().getAlgorithm() == old.getContraction().getAlgorithm();
    });
  };
  Report& report = reports_[KeyOf(op)];
  report.rows = rows;
  llvm::erase_if(report.verdicts, is_new);
  llvm::append_range(report.verdicts, verdicts);
}

void ContractionReports::Write(mlir::ModuleOp module) const {
  mlir::MLIRContext* context = module.getContext();
  llvm::SmallVector<mlir::Attribute> reports;
  for (const auto& [key, report] : reports_) {
    const llvm::SmallVector<mlir::Attribute> verdicts(report.verdicts.begin(), report.verdicts.end());
    reports.push_back(exec::ContractionReportAttr::get(context, key.first.getValue(), key.second.getValue(),
                                                       report.rows, mlir::ArrayAttr::get(context, verdicts)));
  }
  if (!reports.empty()) module->setAttr(kReportsAttribute, mlir::ArrayAttr::get(context, reports));
}

std::string TakeContractionReports(mlir::ModuleOp module) {
  auto reports = module->getAttrOfType<mlir::ArrayAttr>(kReportsAttribute);
  const auto waits = [](mlir::Operation* op) {
    return ChoiceOf(op) ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
  };
  if (!reports || module.walk(waits).wasInterrupted()) return "";
  module->removeAttr(kReportsAttribute);
  std::string lines;
  for (auto report : reports.getAsRange<exec::ContractionReportAttr>()) {
    for (auto verdict : report.getVerdicts().getAsRange<exec::VerdictAttr>()) {
      const exec::ContractionAttr contraction = verdict.getContraction();
      absl::StrAppend(&lines, report.getName().str(), "\t", report.getOp().str(), "\t", report.getRows(), "\t",
                      ChoiceName(contraction), "\t", contraction.getBlock(), "\t", verdict.getNanoseconds(), "\t",
                      verdict.getWhyNot().str(), "\n");
    }
  }
  return lines;
}

}  // namespace tandem
