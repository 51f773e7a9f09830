#include "graph/ir/shape.h"

#define GET_OP_CLASSES
#include "graph/ir/shape.cc.inc"

namespace tandem::td {

void TdDialect::registerShapeOps() {
  addOperations<
#define GET_OP_LIST
#include "graph/ir/shape.cc.inc"
      >();
}

}  // namespace tandem::td
