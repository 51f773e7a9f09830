// The exec dialect: what a compiled step is made of. Dialect td holds what a model is made of.
#ifndef TANDEM_PASSES_EXEC_BASE
#define TANDEM_PASSES_EXEC_BASE

include "mlir/IR/OpBase.td"

def Exec_Dialect : Dialect {
  let name = "exec";
  let summary = "Maps over microbatches, kernels and their launches, library calls, collectives, and their memory";
  let cppNamespace = "::tandem::exec";
  let dependentDialects = ["::tandem::td::TdDialect"];
  let useDefaultAttributePrinterParser = 1;
  let extraClassDeclaration = [{
    void registerAttributes();
    void registerCommands();
    void registerOps();
    void registerAttentionOps();
    void registerContractions();
    void registerWinogradOps();
  }];
}

#endif
