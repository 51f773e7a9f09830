#ifndef TANDEM_PASSES_SCHEDULE_H_
#define TANDEM_PASSES_SCHEDULE_H_

#include <memory>

#include "mlir/Pass/Pass.h"

namespace tandem {

std::unique_ptr<mlir::Pass> createSchedulePass();

}  // namespace tandem

#endif  // TANDEM_PASSES_SCHEDULE_H_
