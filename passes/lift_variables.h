#ifndef TANDEM_PASSES_LIFT_VARIABLES_H_
#define TANDEM_PASSES_LIFT_VARIABLES_H_

#include <memory>

#include "mlir/Pass/Pass.h"

namespace tandem {

std::unique_ptr<mlir::Pass> createLiftVariablesPass();

}  // namespace tandem

#endif  // TANDEM_PASSES_LIFT_VARIABLES_H_
