#include "graph/ir/state.h"

#define GET_OP_CLASSES
#include "graph/ir/state.cc.inc"

namespace tandem::td {

void TdDialect::registerStateOps() {
  addOperations<
#define GET_OP_LIST
#include "graph/ir/state.cc.inc"
      >();
}

}  // namespace tandem::td
