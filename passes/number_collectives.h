#ifndef TANDEM_PASSES_NUMBER_COLLECTIVES_H_
#define TANDEM_PASSES_NUMBER_COLLECTIVES_H_

#include <memory>

#include "mlir/Pass/Pass.h"

namespace tandem {

std::unique_ptr<mlir::Pass> createNumberCollectivesPass();

}  // namespace tandem

#endif  // TANDEM_PASSES_NUMBER_COLLECTIVES_H_
