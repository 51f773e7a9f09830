#ifndef TANDEM_PASSES_EXPAND_SMALL_MATMUL_H_
#define TANDEM_PASSES_EXPAND_SMALL_MATMUL_H_

#include <memory>

#include "mlir/Pass/Pass.h"

namespace tandem {

std::unique_ptr<mlir::Pass> createExpandSmallMatMulPass();

}  // namespace tandem

#endif  // TANDEM_PASSES_EXPAND_SMALL_MATMUL_H_
