#ifndef TANDEM_PASSES_DECOMPOSE_H_
#define TANDEM_PASSES_DECOMPOSE_H_

#include <memory>

#include "mlir/Pass/Pass.h"

namespace tandem {

std::unique_ptr<mlir::Pass> createDecomposePass();

}  // namespace tandem

#endif  // TANDEM_PASSES_DECOMPOSE_H_
