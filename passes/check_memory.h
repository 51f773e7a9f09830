#ifndef TANDEM_PASSES_CHECK_MEMORY_H_
#define TANDEM_PASSES_CHECK_MEMORY_H_

#include <memory>

#include "mlir/Pass/Pass.h"

namespace tandem {

std::unique_ptr<mlir::Pass> createCheckMemoryPass();

}  // namespace tandem

#endif  // TANDEM_PASSES_CHECK_MEMORY_H_
