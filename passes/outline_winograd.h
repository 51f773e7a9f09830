#ifndef TANDEM_PASSES_OUTLINE_WINOGRAD_H_
#define TANDEM_PASSES_OUTLINE_WINOGRAD_H_

#include <memory>

#include "mlir/Pass/Pass.h"

namespace tandem {

std::unique_ptr<mlir::Pass> createOutlineWinogradPass();

}  // namespace tandem

#endif  // TANDEM_PASSES_OUTLINE_WINOGRAD_H_
