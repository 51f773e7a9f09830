// td-choose-contractions, as Passes.td describes it.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
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
  struct Option {
    const Candidate* candidate;
    Weighing weighing;
  };

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

  // Returns the verdicts of all candidates that are meant for this kind of op.
  static std::vector<Option> Weigh(const Contraction& contraction) {
    std::vector<Option> options;
    for (const Candidate* candidate : Candidates()) {
      if (candidate->lowering == Lowering::kBeforeMaps && contraction.microbatches.known) continue;
      if (std::optional<Weighing> w = candidate->weigh(contraction)) options.push_back({candidate, *std::move(w)});
    }
    return options;
  }

  // Returns the option that computes the op by `algorithm`. An algorithm that is no candidate's on this target may be
  // one of library calls.
  static std::vector<Option>::const_iterator FindWanted(const std::vector<Option>& options, exec::Algorithm algorithm) {
    const auto find = [&](exec::Algorithm wanted) {
      return llvm::find_if(options, [&](const Option& o) { return o.candidate->algorithm == wanted; });
    };
    const auto wanted = find(algorithm);
    if (wanted != options.end()) return wanted->weighing.able ? wanted : options.end();
    return algorithm < exec::Algorithm::kFusedProduct ? find(exec::Algorithm::kLibrary) : options.end();
  }

  mlir::LogicalResult Choose(td::LibraryOp op, const Contractions& contractions, ContractionReports& reports) {
    const Override forced = OverrideOf(op, contractions.config());
    const Contraction contraction = contractions.Describe(op, forced.choice ? forced.choice.getTile() : 0);
    const std::vector<Option> options = Weigh(contraction);
    auto taken = options.end();
    if (forced.choice) taken = FindWanted(options, forced.choice.getAlgorithm());
    const bool is_forced = taken != options.end();
    if (!is_forced) taken = llvm::find_if(options, [](const Option& o) { return o.weighing.why_not.empty(); });
    const auto choice = exec::ContractionAttr::get(&getContext(), taken->candidate->algorithm, taken->weighing.tile,
                                                   taken->weighing.block, is_forced);
    SetChoice(op, choice);
    reports.Add(op, contraction.microbatches.rows, Verdicts(options, *taken, choice));
    if (!forced.exact || is_forced || !contraction.microbatches.known) return mlir::success();
    std::string why = "it is not for such ops on this target";
    for (exec::VerdictAttr v : reports.Of(op)) {
      if (v.getContraction().getAlgorithm() == forced.choice.getAlgorithm()) why = v.getWhyNot().str();
    }
    MarkUnsupported(op);
    return op->emitError() << "cannot be computed by " << ChoiceName(forced.choice)
                           << ", as --choose wants it: " << why;
  }

  llvm::SmallVector<exec::VerdictAttr> Verdicts(llvm::ArrayRef<Option> options, const Option& taken,
                                                exec::ContractionAttr choice) {
    llvm::SmallVector<exec::VerdictAttr> verdicts;
    for (const Option& o : options) {
      const Weighing& w = o.weighing;
      const auto contraction =
          exec::ContractionAttr::get(&getContext(), o.candidate->algorithm, w.tile, w.block, false);
      const std::string why_not = w.why_not.empty() ? absl::StrCat(ChoiceName(choice), " is taken") : w.why_not;
      const bool is_taken = o.candidate == taken.candidate;
      verdicts.push_back(exec::VerdictAttr::get(&getContext(), is_taken ? choice : contraction,
                                                static_cast<int64_t>(1e9 * w.seconds), is_taken ? "" : why_not));
    }
    return verdicts;
  }
};

}  // namespace

}  // namespace tandem
