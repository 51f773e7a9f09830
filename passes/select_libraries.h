#ifndef TANDEM_PASSES_SELECT_LIBRARIES_H_
#define TANDEM_PASSES_SELECT_LIBRARIES_H_

#include <memory>

#include "mlir/Pass/Pass.h"

namespace tandem {

std::unique_ptr<mlir::Pass> createSelectLibrariesPass();

}  // namespace tandem

#endif  // TANDEM_PASSES_SELECT_LIBRARIES_H_
