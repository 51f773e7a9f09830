// Finds out how much arithmetic one element of an op takes, by emitting one for trial.
#ifndef TANDEM_PASSES_CODEGEN_OP_WEIGHT_H_
#define TANDEM_PASSES_CODEGEN_OP_WEIGHT_H_

#include <cstdint>
#include <vector>

#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/Operation.h"

namespace tandem {

struct OpWeight {
  int64_t ops = 0;         // about the number of vector instructions; a transcendental function counts 12, a division 4
  bool expensive = false;  // its result is better stored than computed twice
  // How often one element of the result reads each operand (a loop counts as 8 times).
  std::vector<int64_t> reads;
};

// Returns the weight of `op` itself, without its operands' producers. `op` must be an ElementalOp.
OpWeight WeightOf(mlir::Operation* op);

// Registers the dialects that WeightOf emits, on which a pass that calls it depends.
void RegisterTrialDialects(mlir::DialectRegistry& registry);

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_OP_WEIGHT_H_
