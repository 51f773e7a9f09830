#include "graph/ir/reduce.h"

#define GET_OP_CLASSES
#include "graph/ir/reduce.cc.inc"

namespace tandem::td {

void TdDialect::registerReduceOps() {
  addOperations<
#define GET_OP_LIST
#include "graph/ir/reduce.cc.inc"
      >();
}

}  // namespace tandem::td
