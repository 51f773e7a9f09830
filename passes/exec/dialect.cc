#include "passes/exec/dialect.h"

#include "graph/ir/dialect.h"

#include "passes/exec/dialect.cc.inc"

namespace tandem::exec {

void ExecDialect::initialize() {
  registerAttributes();
  registerOps();
  registerCommands();
  registerAttentionOps();
  registerContractions();
  registerWinogradOps();
}

}  // namespace tandem::exec
