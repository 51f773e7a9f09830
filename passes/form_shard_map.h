#ifndef TANDEM_PASSES_FORM_SHARD_MAP_H_
#define TANDEM_PASSES_FORM_SHARD_MAP_H_

#include <memory>

#include "mlir/Pass/Pass.h"

namespace tandem {

std::unique_ptr<mlir::Pass> createFormShardMapPass();

}  // namespace tandem

#endif  // TANDEM_PASSES_FORM_SHARD_MAP_H_
