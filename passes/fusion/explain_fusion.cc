#include "passes/fusion/explain_fusion.h"

#include "absl/strings/str_cat.h"
#include "graph/ir/interfaces.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "passes/pass_util.h"

namespace tandem {
namespace {

constexpr llvm::StringLiteral kAttribute = "td.fusion_decisions";
constexpr llvm::StringLiteral kKeys[] = {"producer_op", "producer", "consumer_op", "consumer", "why"};

bool IsConstant(mlir::Operation* op) {
  if (op->hasTrait<mlir::OpTrait::ConstantLike>()) return true;
  auto elemental = mlir::dyn_cast<td::ElementalOp>(op);
  return elemental && elemental.getFusionKind() == td::FusionKind::kInjective && op->getNumOperands() > 0 &&
         llvm::all_of(op->getOperands(), [](mlir::Value v) {
           return v.getDefiningOp() != nullptr && v.getDefiningOp()->hasTrait<mlir::OpTrait::ConstantLike>();
         });
}

}  // namespace

void ExplainFusions(mlir::Block& block, FusionClusters& clusters, mlir::ModuleOp module) {
  mlir::Builder b(module.getContext());
  llvm::SmallVector<mlir::Attribute> notes;
  if (auto before = module->getAttrOfType<mlir::ArrayAttr>(kAttribute)) llvm::append_range(notes, before);
  auto text = [&](const std::string& s) { return b.getStringAttr(s); };
  for (mlir::Operation& producer : block) {
    if (IsConstant(&producer)) continue;
    llvm::SmallPtrSet<mlir::Operation*, 4> seen;
    for (mlir::Operation* user : producer.getUsers()) {
      mlir::Operation* consumer = block.findAncestorOpInBlock(*user);
      if (consumer == nullptr || consumer->hasTrait<mlir::OpTrait::IsTerminator>() || !seen.insert(consumer).second)
        continue;
      const std::string values[] = {producer.getName().getStringRef().str(), LocationName(producer.getLoc()),
                                    consumer->getName().getStringRef().str(), LocationName(consumer->getLoc()),
                                    clusters.WhyApart(&producer, consumer)};
      llvm::SmallVector<mlir::NamedAttribute> note;
      for (auto [key, value] : llvm::zip(kKeys, values)) note.push_back(b.getNamedAttr(key, text(value)));
      notes.push_back(b.getDictionaryAttr(note));
    }
  }
  module->setAttr(kAttribute, b.getArrayAttr(notes));
}

std::string TakeFusionDecisions(mlir::ModuleOp module) {
  std::string lines;
  auto notes = mlir::dyn_cast_or_null<mlir::ArrayAttr>(module->removeAttr(kAttribute));
  if (!notes) return lines;
  for (auto note : notes.getAsRange<mlir::DictionaryAttr>()) {
    for (llvm::StringRef key : kKeys) {
      auto value = note.getAs<mlir::StringAttr>(key);
      absl::StrAppend(&lines, key == kKeys[0] ? "" : "\t", value ? value.getValue().str() : "");
    }
    lines += '\n';
  }
  return lines;
}

}  // namespace tandem
