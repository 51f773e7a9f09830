#ifndef TANDEM_PASSES_OUTLINE_DIRECT_CONVOLUTIONS_H_
#define TANDEM_PASSES_OUTLINE_DIRECT_CONVOLUTIONS_H_

#include <memory>

#include "mlir/Pass/Pass.h"

namespace tandem {

std::unique_ptr<mlir::Pass> createOutlineDirectConvolutionsPass();

}  // namespace tandem

#endif  // TANDEM_PASSES_OUTLINE_DIRECT_CONVOLUTIONS_H_
