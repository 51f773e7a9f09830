#ifndef TANDEM_PASSES_INSERT_FINITE_CHECK_H_
#define TANDEM_PASSES_INSERT_FINITE_CHECK_H_

#include <memory>

#include "mlir/Pass/Pass.h"

namespace tandem {

std::unique_ptr<mlir::Pass> createInsertFiniteCheckPass();

}  // namespace tandem

#endif  // TANDEM_PASSES_INSERT_FINITE_CHECK_H_
