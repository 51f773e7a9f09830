// Where the numbers of a value of the step go, one by one.
#ifndef TANDEM_PASSES_DISTRIBUTE_UPDATE_FLOW_H_
#define TANDEM_PASSES_DISTRIBUTE_UPDATE_FLOW_H_

#include <string>

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Value.h"

namespace tandem {

// The variable whose new value `use` gives; null where it is another use.
mlir::FlatSymbolRefAttr UpdateBy(mlir::OpOperand& use);

// Through values of as many elements, in the step's body: not by a norm, over which a gradient reaches the updates of
// all variables.
struct UpdateFlow {
  // The trainable variable whose update, or that of whose slot, is the nearest; "" for none.
  std::string variable;
  // Updates of trainable variables and their slots are all that it reaches: a gradient does so, where a statistic of
  // the batch reaches the rows of the batch, an output, or a moving average.
  bool updates_only = false;
};

UpdateFlow UpdateFlowOf(mlir::Value value);

}  // namespace tandem

#endif  // TANDEM_PASSES_DISTRIBUTE_UPDATE_FLOW_H_
