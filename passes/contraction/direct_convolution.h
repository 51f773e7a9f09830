// Turns convolutions into exec.direct_conv2d and exec.direct_conv2d_filter_grad, for the candidates that choose them.
#ifndef TANDEM_PASSES_CONTRACTION_DIRECT_CONVOLUTION_H_
#define TANDEM_PASSES_CONTRACTION_DIRECT_CONVOLUTION_H_

#include "passes/contraction/candidate.h"

namespace tandem {

// Replaces a td.conv2d or td.conv2d_filter_grad by the direct op.
mlir::LogicalResult LowerToDirect(const Contraction& contraction, exec::ContractionAttr choice);

}  // namespace tandem

#endif  // TANDEM_PASSES_CONTRACTION_DIRECT_CONVOLUTION_H_
