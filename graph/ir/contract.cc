#include "graph/ir/contract.h"

#define GET_OP_CLASSES
#include "graph/ir/contract.cc.inc"

namespace tandem::td {

void TdDialect::registerContractOps() {
  addOperations<
#define GET_OP_LIST
#include "graph/ir/contract.cc.inc"
      >();
}

}  // namespace tandem::td
