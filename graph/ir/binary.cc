#include "graph/ir/binary.h"

#define GET_OP_CLASSES
#include "graph/ir/binary.cc.inc"

namespace tandem::td {

void TdDialect::registerBinaryOps() {
  addOperations<
#define GET_OP_LIST
#include "graph/ir/binary.cc.inc"
      >();
}

}  // namespace tandem::td
