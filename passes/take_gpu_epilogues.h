#ifndef TANDEM_PASSES_TAKE_GPU_EPILOGUES_H_
#define TANDEM_PASSES_TAKE_GPU_EPILOGUES_H_

#include <memory>

#include "mlir/Pass/Pass.h"

namespace tandem {

std::unique_ptr<mlir::Pass> createTakeGpuEpiloguesPass();

}  // namespace tandem

#endif  // TANDEM_PASSES_TAKE_GPU_EPILOGUES_H_
