#ifndef TANDEM_PASSES_RECORD_POOL_ARGMAX_H_
#define TANDEM_PASSES_RECORD_POOL_ARGMAX_H_

#include <memory>

#include "mlir/Pass/Pass.h"

namespace tandem {

std::unique_ptr<mlir::Pass> createRecordPoolArgmaxPass();

}  // namespace tandem

#endif  // TANDEM_PASSES_RECORD_POOL_ARGMAX_H_
