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
  // In block order: every op that reads or computes float32 values, and why it is painted or not. Empty if no op is
  // painted.
  std::vector<std::pair<mlir::Operation*, std::string>> reasons;
};

// Decides which ops of `block` to paint, in six steps that follow values of type float32 only:
//   1. Ops of the allow list are painted: the products of layers.
//   2. Ops of the infer list that a deny op feeds, through infer and clear ops, stay float32: their operands are not
//      rounded anyway, and a kernel computes in float32 at no cost. A bias of an allow op is not one of them, whatever
//      computes it: the library adds it in float32 in any case.
//   3. What comes behind the last product of the forward pass stays float32 (losses, metrics, outputs), and so do the
//      gradients up to the first product of the backward pass: a target of 1001.5 is not to become 1000.
//   4. Infer and clear ops between painted ones, on paths of their kind, are painted (a bias between two convolutions).
//   5. Clear ops next to a painted op are painted, on paths of clear ops. In front of one: behind a product always,
//      since the value is rounded there in any case; what comes from inputs and variables only if nothing reads it in
//      float32 (targets and weights that are slices of one feature, weights that are decayed). Behind one when all
//      their operands (constants aside) are bfloat16 then.
//   6. What goes back through a painted relu or max-pooling is painted, and so is the sum of gradients that comes to
//      it, where one of them is painted: a gradient has the type of its value. It halves what a residual network keeps.
// Differences from Grappler: a clear op is not denied in step 2, so that a relu between a sum in float32 and a
// convolution is stored once, as bfloat16. And what td-choose-contractions makes a part of generated kernels stays
// float32, unless the user's lists say otherwise, since such a kernel multiplies float32 numbers in any case: products
// with one column or one inner element (passes/contraction/fused_product.cc), and convolutions of few taps
// (few_taps.cc). So do batched products where the target's library multiplies float32 matrices only, and attention
// where its kernels do. Infer and clear ops that follow convolutions of few taps stay float32 as well: they are one
// kernel, which rounds the result once, behind a pooling to a quarter of the values.
PaintedOps PaintOps(mlir::Block& block, const PrecisionRules& lists, const Target& target);

}  // namespace tandem

#endif  // TANDEM_PASSES_PHASES_PRECISION_PRECISION_PAINTER_H_
