#ifndef TANDEM_PASSES_EXPAND_SMALL_CONVOLUTION_H_
#define TANDEM_PASSES_EXPAND_SMALL_CONVOLUTION_H_

#include <memory>

#include "mlir/Pass/Pass.h"

namespace tandem {

std::unique_ptr<mlir::Pass> createExpandSmallConvolutionPass();

}  // namespace tandem

#endif  // TANDEM_PASSES_EXPAND_SMALL_CONVOLUTION_H_
