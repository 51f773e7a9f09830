#ifndef TANDEM_PASSES_BUCKET_ALL_REDUCE_H_
#define TANDEM_PASSES_BUCKET_ALL_REDUCE_H_

#include <memory>

#include "mlir/Pass/Pass.h"

namespace tandem {

std::unique_ptr<mlir::Pass> createBucketAllReducePass();

}  // namespace tandem

#endif  // TANDEM_PASSES_BUCKET_ALL_REDUCE_H_
