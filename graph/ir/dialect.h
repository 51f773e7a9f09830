// The td dialect itself; op families have their own headers (unary.h, shape.h, ...).
#ifndef TANDEM_GRAPH_IR_DIALECT_H_
#define TANDEM_GRAPH_IR_DIALECT_H_

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "graph/ir/attributes.h"
#include "graph/ir/interfaces.h"

#include "graph/ir/dialect.h.inc"

#endif  // TANDEM_GRAPH_IR_DIALECT_H_
