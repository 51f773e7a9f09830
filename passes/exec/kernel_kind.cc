#include "passes/exec/kernel_kind.h"

namespace tandem::exec {
namespace {

constexpr llvm::StringLiteral kKind = "exec.kernel", kAliases = "exec.alias";

}  // namespace

format::Domain DomainOf(KernelKind kind) {
  switch (kind) {
    case KernelKind::kFlat:
    case KernelKind::kSplit:
      return format::Domain::kElements;
    case KernelKind::kOnce:
      return format::Domain::kOnce;
    case KernelKind::kBlock:
      return format::Domain::kBlocks;
    case KernelKind::kCluster:
    case KernelKind::kLoop:
    case KernelKind::kRow:
    case KernelKind::kCol:
    case KernelKind::kTile:
      return format::Domain::kRows;
  }
  return format::Domain::kRows;
}

std::optional<KernelKind> GetKernelKind(mlir::func::FuncOp function) {
  auto kind = function->getAttrOfType<KernelKindAttr>(kKind);
  return kind ? std::optional(kind.getValue()) : std::nullopt;
}

void SetKernelKind(mlir::func::FuncOp function, KernelKind kind) {
  function->setAttr(kKind, KernelKindAttr::get(function.getContext(), kind));
}

llvm::ArrayRef<int64_t> GetAliases(mlir::func::FuncOp kernel) {
  auto aliases = kernel->getAttrOfType<mlir::DenseI64ArrayAttr>(kAliases);
  return aliases ? aliases.asArrayRef() : llvm::ArrayRef<int64_t>();
}

void SetAliases(mlir::func::FuncOp kernel, mlir::DenseI64ArrayAttr aliases) { kernel->setAttr(kAliases, aliases); }

}  // namespace tandem::exec
