// Groups elementwise ops, index maps, reductions and windows into kernels.
#ifndef TANDEM_PASSES_FORM_FUSIONS_H_
#define TANDEM_PASSES_FORM_FUSIONS_H_

#include <memory>

#include "mlir/Pass/Pass.h"

namespace tandem {

std::unique_ptr<mlir::Pass> createFormFusionsPass();

}  // namespace tandem

#endif  // TANDEM_PASSES_FORM_FUSIONS_H_
