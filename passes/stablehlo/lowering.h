// Lowering: records which StableHLO values stand for the values of a td graph. Translators of ops (translators.h) read
// and extend it.
#ifndef TANDEM_PASSES_STABLEHLO_LOWERING_H_
#define TANDEM_PASSES_STABLEHLO_LOWERING_H_

#include <cstdint>

#include "llvm/ADT/DenseMap.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"
#include "passes/stablehlo/emitter.h"

namespace tandem::stablehlo {

// The format's name in errors.
inline constexpr char kFormat[] = "StableHLO";

class Lowering {
 public:
  // `rows`: the size of the batch, which is symbolic in td and a number in StableHLO.
  Lowering(mlir::Block* block, int64_t rows) : emitter_(block), rows_(rows) {}

  Emitter& emitter() { return emitter_; }

  // Returns the type of a td value, with the number of rows for its batch.
  mlir::RankedTensorType TypeFor(mlir::Value value) const;

  void Set(mlir::Value value, mlir::Value lowered) { values_[value] = lowered; }
  mlir::Value Get(mlir::Value value) const { return values_.lookup(value); }
  llvm::SmallVector<mlir::Value> Get(mlir::ValueRange values) const;

 private:
  Emitter emitter_;
  int64_t rows_;
  llvm::DenseMap<mlir::Value, mlir::Value> values_;
};

}  // namespace tandem::stablehlo

#endif  // TANDEM_PASSES_STABLEHLO_LOWERING_H_
