// tandem-opt: runs passes on MLIR text, for lit tests and for looking into the compiler.
#include "graph/ir/dialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "passes/pipeline.h"

int main(int argc, char** argv) {
  mlir::DialectRegistry registry;
  registry.insert<mlir::arith::ArithDialect, mlir::func::FuncDialect, mlir::math::MathDialect, mlir::scf::SCFDialect,
                  tandem::td::TdDialect>();
  mlir::registerCanonicalizerPass();
  mlir::registerCSEPass();
  tandem::RegisterPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "Tandem's pass driver\n", registry));
}
