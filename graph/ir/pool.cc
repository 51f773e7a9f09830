#include "graph/ir/pool.h"

#define GET_OP_CLASSES
#include "graph/ir/pool.cc.inc"

namespace tandem::td {

void TdDialect::registerPoolOps() {
  addOperations<
#define GET_OP_LIST
#include "graph/ir/pool.cc.inc"
      >();
}

}  // namespace tandem::td
