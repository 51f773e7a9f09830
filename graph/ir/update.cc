#include "graph/ir/update.h"

#define GET_OP_CLASSES
#include "graph/ir/update.cc.inc"

namespace tandem::td {

void TdDialect::registerUpdateOps() {
  addOperations<
#define GET_OP_LIST
#include "graph/ir/update.cc.inc"
      >();
}

}  // namespace tandem::td
