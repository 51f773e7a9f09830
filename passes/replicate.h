#ifndef TANDEM_PASSES_REPLICATE_H_
#define TANDEM_PASSES_REPLICATE_H_

#include <memory>

#include "mlir/Pass/Pass.h"

namespace tandem {

std::unique_ptr<mlir::Pass> createReplicatePass();

}  // namespace tandem

#endif  // TANDEM_PASSES_REPLICATE_H_
