// Every pass of the compiler, createXPass, and their registration (registerTandemPasses), made from Passes.td.
#ifndef TANDEM_PASSES_BASE_PASSES_H_
#define TANDEM_PASSES_BASE_PASSES_H_

#include <memory>

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassRegistry.h"

namespace tandem {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/passes.h.inc"

}  // namespace tandem

#endif  // TANDEM_PASSES_BASE_PASSES_H_
