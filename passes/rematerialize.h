#ifndef TANDEM_PASSES_REMATERIALIZE_H_
#define TANDEM_PASSES_REMATERIALIZE_H_

#include <memory>

#include "mlir/Pass/Pass.h"

namespace tandem {

std::unique_ptr<mlir::Pass> createRematerializePass();

}  // namespace tandem

#endif  // TANDEM_PASSES_REMATERIALIZE_H_
