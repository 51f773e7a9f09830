#include "graph/ir/attributes.h"

#include "graph/ir/dialect.h"
#include "llvm/ADT/TypeSwitch.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

#include "graph/ir/enums.cc.inc"

#define GET_ATTRDEF_CLASSES
#include "graph/ir/attributes.cc.inc"

namespace tandem::td {

void TdDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "graph/ir/attributes.cc.inc"
      >();
}

}  // namespace tandem::td
