#include "passes/exec/library_call.h"

#include "llvm/ADT/TypeSwitch.h"
#include "passes/exec/format_attributes.h"

namespace tandem {

exec::LibraryCallOp BuildLibraryCall(mlir::OpBuilder& builder, mlir::Location loc, mlir::TypeRange results,
                                     const format::LibraryCall& call, mlir::ValueRange operands) {
  const mlir::Attribute operation = call.operation.Visited(
      [&](const auto& table) -> mlir::Attribute { return exec::ToAttr(builder.getContext(), table); });
  const mlir::StringAttr implementation =
      call.implementation.empty() ? mlir::StringAttr() : builder.getStringAttr(call.implementation);
  return builder.create<exec::LibraryCallOp>(loc, results, operation, operands, call.algorithm, implementation,
                                             call.tf32);
}

format::LibraryCall LibraryCallOf(exec::LibraryCallOp op) {
  format::LibraryCall call;
  llvm::TypeSwitch<mlir::Attribute>(op.getCall())
      .Case<exec::Conv2DAttr, exec::MatMulAttr, exec::BatchMatMulAttr, exec::PackWeightsAttr>(
          [&](auto attr) { call.operation = exec::ToTable(attr); });
  call.algorithm = op.getAlgorithm();
  call.implementation = op.getImplementation().value_or("").str();
  call.tf32 = op.getTf32();
  return call;
}

}  // namespace tandem
