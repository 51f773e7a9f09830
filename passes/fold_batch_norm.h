#ifndef TANDEM_PASSES_FOLD_BATCH_NORM_H_
#define TANDEM_PASSES_FOLD_BATCH_NORM_H_

#include <memory>

#include "mlir/Pass/Pass.h"

namespace tandem {

std::unique_ptr<mlir::Pass> createFoldBatchNormPass();

}  // namespace tandem

#endif  // TANDEM_PASSES_FOLD_BATCH_NORM_H_
