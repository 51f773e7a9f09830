#include "graph/ir/dialect.h"

#include "graph/ir/dialect.cc.inc"

namespace tandem::td {

void TdDialect::initialize() {
  registerUnaryOps();
}

}  // namespace tandem::td
