#include "graph/ir/dist.h"

#define GET_OP_CLASSES
#include "graph/ir/dist.cc.inc"

namespace tandem::td {

void TdDialect::registerDistOps() {
  addOperations<
#define GET_OP_LIST
#include "graph/ir/dist.cc.inc"
      >();
}

}  // namespace tandem::td
