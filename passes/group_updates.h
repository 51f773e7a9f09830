#ifndef TANDEM_PASSES_GROUP_UPDATES_H_
#define TANDEM_PASSES_GROUP_UPDATES_H_

#include <memory>

#include "mlir/Pass/Pass.h"

namespace tandem {

std::unique_ptr<mlir::Pass> createGroupUpdatesPass();

}  // namespace tandem

#endif  // TANDEM_PASSES_GROUP_UPDATES_H_
