// Convolutions inside generated kernels.
#ifndef TANDEM_PASSES_EXEC_DIRECT_H_
#define TANDEM_PASSES_EXEC_DIRECT_H_

#include "passes/exec/dialect.h"

#define GET_OP_CLASSES
#include "passes/exec/direct.h.inc"

#endif  // TANDEM_PASSES_EXEC_DIRECT_H_
