#ifndef TANDEM_PASSES_PACK_FILTER_GRADS_H_
#define TANDEM_PASSES_PACK_FILTER_GRADS_H_

#include <memory>

#include "mlir/Pass/Pass.h"

namespace tandem {

// See pack_filter_grads.cc.
std::unique_ptr<mlir::Pass> createPackFilterGradsPass();

}  // namespace tandem

#endif  // TANDEM_PASSES_PACK_FILTER_GRADS_H_
