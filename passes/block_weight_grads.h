#ifndef TANDEM_PASSES_BLOCK_WEIGHT_GRADS_H_
#define TANDEM_PASSES_BLOCK_WEIGHT_GRADS_H_

#include <memory>

#include "mlir/Pass/Pass.h"

namespace tandem {

std::unique_ptr<mlir::Pass> createBlockWeightGradsPass();

}  // namespace tandem

#endif  // TANDEM_PASSES_BLOCK_WEIGHT_GRADS_H_
