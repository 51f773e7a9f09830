#include "passes/phases/fusion/explain_fusion.h"

#include "absl/strings/str_cat.h"
#include "graph/ir/interfaces.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "passes/base/pass_util.h"

namespace tandem {
namespace {

constexpr llvm::StringLiteral kAttribute = "exec.fusion_decisions";

bool IsOfConstants(mlir::Operation* op) {
  if (op->hasTrait<mlir::OpTrait::ConstantLike>()) return true;
  return td::FusionKindOf(op) == td::FusionKind::kInjective && op->getNumOperands() > 0 &&
         llvm::all_of(op->getOperands(), [](mlir::Value v) {
           return v.getDefiningOp() != nullptr && v.getDefiningOp()->hasTrait<mlir::OpTrait::ConstantLike>();
         });
}

}  // namespace

void ExplainFusions(mlir::Block& block, FusionClusters& clusters, mlir::ModuleOp module) {
  mlir::Builder b(module.getContext());
  llvm::SmallVector<mlir::Attribute> notes;
  if (auto before = module->getAttrOfType<mlir::ArrayAttr>(kAttribute)) llvm::append_range(notes, before);
  for (mlir::Operation& producer : block) {
    if (IsOfConstants(&producer)) continue;
    llvm::SmallPtrSet<mlir::Operation*, 4> seen;
    for (mlir::Operation* user : producer.getUsers()) {
      mlir::Operation* consumer = block.findAncestorOpInBlock(*user);
      if (consumer == nullptr || consumer->hasTrait<mlir::OpTrait::IsTerminator>() || !seen.insert(consumer).second)
        continue;
      notes.push_back(exec::FusionDecisionAttr::get(module.getContext(), producer.getName().getStringRef(),
                                                    LocationName(producer.getLoc()), consumer->getName().getStringRef(),
                                                    LocationName(consumer->getLoc()),
                                                    clusters.WhyApart(&producer, consumer)));
    }
  }
  module->setAttr(kAttribute, b.getArrayAttr(notes));
}

std::string TakeFusionDecisions(mlir::ModuleOp module) {
  std::string lines;
  auto notes = mlir::dyn_cast_or_null<mlir::ArrayAttr>(module->removeAttr(kAttribute));
  if (!notes) return lines;
  for (auto note : notes.getAsRange<exec::FusionDecisionAttr>()) {
    absl::StrAppend(&lines, note.getProducerOp().str(), "\t", note.getProducer().str(), "\t",
                    note.getConsumerOp().str(), "\t", note.getConsumer().str(), "\t", note.getWhy().str(), "\n");
  }
  return lines;
}

}  // namespace tandem
