#include "graph/ir/norm.h"

#define GET_OP_CLASSES
#include "graph/ir/norm.cc.inc"

namespace tandem::td {

void TdDialect::registerNormOps() {
  addOperations<
#define GET_OP_LIST
#include "graph/ir/norm.cc.inc"
      >();
}

}  // namespace tandem::td
