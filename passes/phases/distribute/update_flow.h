// Follows a value of the step, element by element, to the updates of variables that it reaches.
#ifndef TANDEM_PASSES_PHASES_DISTRIBUTE_UPDATE_FLOW_H_
#define TANDEM_PASSES_PHASES_DISTRIBUTE_UPDATE_FLOW_H_

#include <string>

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Value.h"

namespace tandem {

// If `use` makes a value the new value of a variable, returns that variable; else null.
mlir::FlatSymbolRefAttr UpdateBy(mlir::OpOperand& use);

// The updates that a value reaches through values with as many elements, in the step's body. Values of other sizes are
// not followed: through a norm, for example, a gradient reaches the updates of all variables.
struct UpdateFlow {
  // The trainable variable whose update, or whose slot's update, is the nearest; "" for none.
  std::string variable;
  // True if the value reaches nothing but updates of trainable variables and their slots, as gradients do. A statistic
  // of the batch reaches the rows of the batch, an output or a moving average.
  bool updates_only = false;
};

UpdateFlow UpdateFlowOf(mlir::Value value);

}  // namespace tandem

#endif  // TANDEM_PASSES_PHASES_DISTRIBUTE_UPDATE_FLOW_H_
