#include "graph/ir/dialect.h"

#include "graph/ir/dialect.cc.inc"

namespace tandem::td {

void TdDialect::initialize() {
  registerAttributes();
  registerUnaryOps();
  registerActivationOps();
  registerBinaryOps();
  registerShapeOps();
  registerGatherOps();
  registerReduceOps();
  registerContractOps();
  registerAttentionOps();
  registerPoolOps();
  registerNormOps();
  registerRandomOps();
  registerStateOps();
  registerUpdateOps();
  registerDistOps();
}

}  // namespace tandem::td
