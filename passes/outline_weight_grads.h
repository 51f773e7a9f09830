#ifndef TANDEM_PASSES_OUTLINE_WEIGHT_GRADS_H_
#define TANDEM_PASSES_OUTLINE_WEIGHT_GRADS_H_

#include <memory>

#include "mlir/Pass/Pass.h"

namespace tandem {

std::unique_ptr<mlir::Pass> createOutlineWeightGradsPass();

}  // namespace tandem

#endif  // TANDEM_PASSES_OUTLINE_WEIGHT_GRADS_H_
