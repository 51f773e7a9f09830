// Gives kernels their final form: kind, name, one function for equal bodies.
#ifndef TANDEM_PASSES_OUTLINE_KERNELS_H_
#define TANDEM_PASSES_OUTLINE_KERNELS_H_

#include <memory>

#include "mlir/Pass/Pass.h"

namespace tandem {

std::unique_ptr<mlir::Pass> createOutlineKernelsPass();

}  // namespace tandem

#endif  // TANDEM_PASSES_OUTLINE_KERNELS_H_
