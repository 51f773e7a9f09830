// Gradients of weights that are computed behind the maps that compute their operands.
#ifndef TANDEM_PASSES_EXEC_WEIGHT_GRAD_H_
#define TANDEM_PASSES_EXEC_WEIGHT_GRAD_H_

#include "passes/exec/dialect.h"

#define GET_OP_CLASSES
#include "passes/exec/weight_grad.h.inc"

#endif  // TANDEM_PASSES_EXEC_WEIGHT_GRAD_H_
