#include "graph/ir/structure.h"

#define GET_OP_CLASSES
#include "graph/ir/structure.cc.inc"

namespace tandem::td {

void TdDialect::registerStructureOps() {
  addOperations<
#define GET_OP_LIST
#include "graph/ir/structure.cc.inc"
      >();
}

}  // namespace tandem::td
