#ifndef TANDEM_PASSES_PAINT_PRECISION_H_
#define TANDEM_PASSES_PAINT_PRECISION_H_

#include <memory>

#include "mlir/Pass/Pass.h"

namespace tandem {

// See paint_precision.cc.
std::unique_ptr<mlir::Pass> createPaintPrecisionPass();

}  // namespace tandem

#endif  // TANDEM_PASSES_PAINT_PRECISION_H_
