#ifndef TANDEM_PASSES_VERIFY_PHASE_H_
#define TANDEM_PASSES_VERIFY_PHASE_H_

#include <memory>
#include <string>

#include "mlir/Pass/Pass.h"

namespace tandem {

// Checks what must hold at the end of `phase`.
std::unique_ptr<mlir::Pass> createVerifyPhasePass(std::string phase);

}  // namespace tandem

#endif  // TANDEM_PASSES_VERIFY_PHASE_H_
