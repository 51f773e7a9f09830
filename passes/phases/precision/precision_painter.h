// Decides which ops of a step compute with bfloat16 operands: Grappler's auto_mixed_precision on td ops.
#ifndef TANDEM_PASSES_PHASES_PRECISION_PRECISION_PAINTER_H_
#define TANDEM_PASSES_PHASES_PRECISION_PRECISION_PAINTER_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "graph/ir/interfaces.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"
#include "mlir/IR/Block.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/target/target.h"

namespace tandem {

// The lists of the ops that the user moved to another list, by full name ("td.relu").
using PrecisionRules = llvm::StringMap<td::PrecisionRule>;

// Reads the precision lists of the configuration.
// Errors: InvalidArgument for a name that is no td op (with the nearest), an op that has no bfloat16 form on the
// target, or one that is in two lists.
absl::Status ReadPrecisionRules(mlir::ModuleOp module, const Target& target, PrecisionRules* lists);

bool IsFloat32(mlir::Value v);

struct PaintedOps {
  llvm::DenseSet<mlir::Operation*> painted;
  // In block order: every op that reads or computes float32 values, and why it is painted (computed with bfloat16
  // operands) or not. Empty if no op is painted.
  std::vector<std::pair<mlir::Operation*, std::string>> reasons;
};

// Decides which ops of `block` to paint, that is, to compute with bfloat16 operands. The lists (allow, infer, clear,
// deny) are those of PrecisionRule. Six steps follow values of type float32 only:
//   1. Ops of the allow list are painted: the products of layers.
//   2. An op of the infer list stays float32 if a deny op feeds it, directly or through infer and clear ops: its
//      operands are not rounded in any case, and a kernel computes in float32 at no cost. Not so a bias of an allow op,
//      whatever computes it, because the library adds a bias in float32 in any case.
//   3. What comes behind the last product of the forward pass stays float32 (losses, metrics, outputs), and so do the
//      gradients up to the first product of the backward pass: a target of 1001.5 is not to become 1000.
//   4. Infer and clear ops between painted ops, on paths of such ops, are painted (a bias between two convolutions).
//   5. Clear ops next to a painted op, on paths of clear ops, are painted as follows. In front of it: if the path comes
//      from a product, always, since the value is rounded there in any case; if it comes from inputs and variables,
//      only if nothing reads the value in float32 (targets and weights that are slices of one feature, weights that are
//      decayed). Behind it: if all operands except constants are bfloat16 then.
//   6. A gradient has the type of its value. So ops that pass a gradient back through a painted relu or max-pooling are
//      painted, and so is the sum of gradients in front of them, if one of these gradients is painted. This halves the
//      memory of the values that a residual network keeps.
// Differences from Grappler: a clear op is not denied in step 2, so that a relu between a sum in float32 and a
// convolution is stored once, as bfloat16. Contractions that td-choose-contractions makes part of generated kernels
// stay float32, unless the user's lists say otherwise, since such a kernel multiplies float32 numbers in any case:
// products with one column or one inner element (passes/contraction/fused_product.cc), and convolutions of few taps
// (few_taps.cc). So do batched products if the target's library multiplies float32 matrices only, and attention if the
// target's kernels do. Infer and clear ops that follow convolutions of few taps stay float32 as well: they are part of
// the same kernel, which rounds the result once, often behind a pooling that leaves a quarter of the values.
PaintedOps PaintOps(mlir::Block& block, const PrecisionRules& lists, const Target& target);

}  // namespace tandem

#endif  // TANDEM_PASSES_PHASES_PRECISION_PRECISION_PAINTER_H_
