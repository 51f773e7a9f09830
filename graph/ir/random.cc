#include "graph/ir/random.h"

#define GET_OP_CLASSES
#include "graph/ir/random.cc.inc"

namespace tandem::td {

void TdDialect::registerRandomOps() {
  addOperations<
#define GET_OP_LIST
#include "graph/ir/random.cc.inc"
      >();
}

}  // namespace tandem::td
