#include "passes/contraction/contractions.h"

#include <algorithm>

#include "base/status_macros.h"
#include "passes/base/pass_util.h"
#include "passes/contraction/choice.h"
#include "passes/contraction/measure_step.h"

namespace tandem {
namespace {

// Estimates that are used before maps (loops over microbatches) are formed: microbatches per step, and the least rows
// of each.
constexpr int64_t kMicrobatches = 8, kMinRows = 2;

}  // namespace

absl::StatusOr<Contractions> Contractions::Of(mlir::ModuleOp module) {
  Contractions contractions;
  TD_ASSIGN_OR_RETURN(MachineModel machine, MachineModelOf(module));
  contractions.machine_ = std::make_shared<const MachineModel>(std::move(machine));
  contractions.config_ = ConfigOf(module);
  contractions.target_ = TargetOf(module);
  module.walk([&](mlir::Operation* op) {
    contractions.has_maps_ |= mlir::isa<exec::MapMicrobatchesOp>(op);
    if (auto library = mlir::dyn_cast<td::LibraryOp>(op)) contractions.ops_.push_back(library);
  });
  return contractions;
}

Contraction Contractions::Describe(td::LibraryOp op, int64_t tile) const {
  return {op, op.getLibraryCallSpec(), MicrobatchesOf(op), config_, *target_, *machine_, tile};
}

Microbatches Contractions::MicrobatchesOf(td::LibraryOp op) const {
  if (auto map = op->getParentOfType<exec::MapMicrobatchesOp>()) {
    const auto rows = static_cast<int64_t>(map.getMicrobatchRows()),
               of_lane = static_cast<int64_t>(map.getRowsPerLane());
    return {rows, static_cast<int64_t>(map.getLanes()) * ((of_lane + rows - 1) / rows), true};
  }
  const int64_t batch = config_.getBatch() * config_.getReplicas();
  return {std::max(kMinRows, batch / kMicrobatches), kMicrobatches, has_maps_};
}

mlir::LogicalResult CarryOutChoices(mlir::ModuleOp module, Lowering lowering) {
  absl::StatusOr<Contractions> contractions = Contractions::Of(module);
  if (!contractions.ok()) return module->emitError() << std::string(contractions.status().message());
  for (td::LibraryOp op : contractions->ops()) {
    const exec::ContractionAttr choice = ChoiceOf(op);
    if (lowering == Lowering::kInMaps && !op->getParentOfType<exec::MapMicrobatchesOp>()) continue;
    const Candidate& candidate = CandidateFor(choice ? choice.getAlgorithm() : exec::Algorithm::kLibrary);
    if (candidate.lowering != lowering) continue;
    if (mlir::failed(candidate.lower(contractions->Describe(op), choice))) return mlir::failure();
  }
  return mlir::success();
}

}  // namespace tandem
