#ifndef TANDEM_PASSES_WARN_BATCH_CONSTANTS_H_
#define TANDEM_PASSES_WARN_BATCH_CONSTANTS_H_

#include <memory>

#include "mlir/Pass/Pass.h"

namespace tandem {

std::unique_ptr<mlir::Pass> createWarnBatchConstantsPass();

}  // namespace tandem

#endif  // TANDEM_PASSES_WARN_BATCH_CONSTANTS_H_
