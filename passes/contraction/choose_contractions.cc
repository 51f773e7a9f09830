// td-choose-contractions: chooses how every matrix product, every convolution and their gradients are computed
// (passes/Passes.td).
#include <string>
#include <vector>

#include "graph/ir/dialect.h"
#include "llvm/ADT/StringExtras.h"
#include "passes/base/pass_util.h"
#include "passes/base/passes.h"
#include "passes/base/unsupported.h"
#include "passes/contraction/candidate.h"
#include "passes/contraction/choice.h"
#include "passes/contraction/contractions.h"
#include "passes/contraction/reports.h"

namespace tandem {

#define GEN_PASS_DEF_CHOOSECONTRACTIONSPASS
#include "passes/passes.h.inc"

namespace {

class ChooseContractionsPass : public impl::ChooseContractionsPassBase<ChooseContractionsPass> {
 public:
  void runOnOperation() final {
    absl::StatusOr<Contractions> contractions = Contractions::Of(getOperation());
    if (!contractions.ok()) {
      getOperation()->emitError() << std::string(contractions.status().message());
      return signalPassFailure();
    }
    ContractionReports reports(getOperation());
    if (reports.empty()) WarnOfUnusedOverrides(*contractions);
    for (td::LibraryOp op : contractions->ops()) {
      if (mlir::failed(Choose(op, *contractions, reports))) return signalPassFailure();
    }
    reports.Write(getOperation());
  }

 private:
  void WarnOfUnusedOverrides(const Contractions& contractions) {
    if (!contractions.config().getChoices()) return;
    std::vector<std::string> names;
    for (td::LibraryOp op : contractions.ops()) names.push_back(LocationName(op->getLoc()));
    for (auto o : contractions.config().getChoices().getAsRange<exec::ContractionOverrideAttr>()) {
      const auto matches = [&](const std::string& name) { return MatchesName(o, name); };
      if (llvm::any_of(names, matches)) continue;
      getOperation()->emitWarning() << "--choose=" << o.getName() << ":" << ChoiceName(o.getContraction())
                                    << " names no contraction of this program; it has: " << llvm::join(names, ", ");
    }
  }

  // Returns the verdict of the candidate that computes the op by `algorithm`. If no candidate on this target has that
  // algorithm, it may be one by which a library call can be computed.
  static std::vector<Verdict>::const_iterator FindWanted(const std::vector<Verdict>& verdicts,
                                                         exec::Algorithm algorithm) {
    const auto find = [&](exec::Algorithm wanted) {
      return llvm::find_if(verdicts, [&](const Verdict& v) { return v.candidate->algorithm == wanted; });
    };
    const auto wanted = find(algorithm);
    if (wanted != verdicts.end()) return wanted->weighing.able ? wanted : verdicts.end();
    return CandidateFor(algorithm).weigh_call ? find(exec::Algorithm::kLibrary) : verdicts.end();
  }

  mlir::LogicalResult Choose(td::LibraryOp op, const Contractions& contractions, ContractionReports& reports) {
    const Override forced = OverrideOf(op, contractions.config());
    const Contraction contraction = contractions.Describe(op, forced.choice ? forced.choice.getTile() : 0);
    const std::vector<Verdict> verdicts = WeighOp(contraction);
    auto wanted = verdicts.end();
    if (forced.choice) wanted = FindWanted(verdicts, forced.choice.getAlgorithm());
    const bool is_forced = wanted != verdicts.end();
    const Verdict& taken = is_forced ? *wanted : Taken(verdicts);
    const auto choice = exec::ContractionAttr::get(&getContext(), taken.candidate->algorithm, taken.weighing.tile,
                                                   taken.weighing.block, is_forced);
    SetChoice(op, choice);
    reports.Add(op, contraction.microbatches.rows, AttributesOf(verdicts, taken, choice));
    if (!forced.exact || is_forced || !contraction.microbatches.known) return mlir::success();
    std::string why = "it is not for such ops on this target";
    for (exec::VerdictAttr v : reports.Of(op)) {
      if (v.getContraction().getAlgorithm() == forced.choice.getAlgorithm()) why = v.getWhyNot().str();
    }
    MarkUnsupported(op);
    return op->emitError() << "cannot be computed by " << ChoiceName(forced.choice)
                           << ", as --choose wants it: " << why;
  }

  llvm::SmallVector<exec::VerdictAttr> AttributesOf(llvm::ArrayRef<Verdict> verdicts, const Verdict& taken,
                                                    exec::ContractionAttr choice) {
    llvm::SmallVector<exec::VerdictAttr> attributes;
    for (const Verdict& v : verdicts) {
      const Weighing& w = v.weighing;
      const auto contraction =
          exec::ContractionAttr::get(&getContext(), v.candidate->algorithm, w.tile, w.block, false);
      const bool is_taken = v.candidate == taken.candidate;
      attributes.push_back(exec::VerdictAttr::get(&getContext(), is_taken ? choice : contraction,
                                                  static_cast<int64_t>(1e9 * w.seconds),
                                                  is_taken ? "" : WhyNot(v, ChoiceName(choice))));
    }
    return attributes;
  }
};

}  // namespace

}  // namespace tandem
