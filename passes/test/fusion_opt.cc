// The fusion passes alone as a driver for lit tests.
#include "graph/ir/dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "passes/form_fusions.h"
#include "passes/outline_kernels.h"

int main(int argc, char** argv) {
  mlir::DialectRegistry registry;
  registry.insert<mlir::func::FuncDialect, tandem::td::TdDialect>();
  mlir::registerPass(tandem::createFormFusionsPass);
  mlir::registerPass(tandem::createOutlineKernelsPass);
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "Tandem's fusion passes\n", registry));
}
