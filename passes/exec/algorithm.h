// What exec ops that stand for an algorithm of a td op have in common. Only for the files that define those ops.
#ifndef TANDEM_PASSES_EXEC_ALGORITHM_H_
#define TANDEM_PASSES_EXEC_ALGORITHM_H_

#include <cstdint>

#include "graph/ir/interfaces.h"

namespace tandem::exec {

// The type of scratch memory for so many floats. It is one of bytes, so that no check for values that are not finite
// looks into it.
inline mlir::RankedTensorType FloatScratchType(mlir::MLIRContext* context, int64_t floats) {
  return mlir::RankedTensorType::get({floats * static_cast<int64_t>(sizeof(float))},
                                     td::FromDType(context, DType::kUInt8));
}

}  // namespace tandem::exec

#endif  // TANDEM_PASSES_EXEC_ALGORITHM_H_
