#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/exec/dialect.h"
#include "passes/exec/kernel_kind.h"

namespace tandem::exec {
namespace {

// Parses `[sum, keep]`: an array of attributes of an enumeration, without their prefixes.
template <typename Attr, typename Symbolize>
mlir::ParseResult ParseWords(mlir::OpAsmParser& parser, mlir::ArrayAttr& array, Symbolize symbolize,
                             llvm::StringRef what) {
  llvm::SmallVector<mlir::Attribute> values;
  const auto parse_word = [&]() -> mlir::ParseResult {
    llvm::StringRef word;
    const llvm::SMLoc at = parser.getCurrentLocation();
    if (parser.parseKeyword(&word)) return mlir::failure();
    auto value = symbolize(word);
    if (!value) return parser.emitError(at) << "unknown " << what << " \"" << word << "\"";
    values.push_back(Attr::get(parser.getContext(), *value));
    return mlir::success();
  };
  if (parser.parseCommaSeparatedList(mlir::OpAsmParser::Delimiter::Square, parse_word)) return mlir::failure();
  array = parser.getBuilder().getArrayAttr(values);
  return mlir::success();
}

template <typename Attr, typename Stringify>
void PrintWords(mlir::OpAsmPrinter& printer, mlir::ArrayAttr array, Stringify stringify) {
  printer << "[";
  llvm::interleaveComma(array, printer,
                        [&](mlir::Attribute a) { printer << stringify(mlir::cast<Attr>(a).getValue()); });
  printer << "]";
}

mlir::ParseResult parseCombines(mlir::OpAsmParser& parser, mlir::ArrayAttr& array) {
  return ParseWords<CombineAttr>(
      parser, array, [](llvm::StringRef word) { return symbolizeCombine(word); }, "reduction");
}

void printCombines(mlir::OpAsmPrinter& printer, mlir::Operation*, mlir::ArrayAttr array) {
  PrintWords<CombineAttr>(printer, array, [](Combine value) { return stringifyCombine(value); });
}

mlir::ParseResult parseScopes(mlir::OpAsmParser& parser, mlir::ArrayAttr& array) {
  return ParseWords<td::BatchScopeAttr>(
      parser, array, [](llvm::StringRef word) { return td::symbolizeBatchScope(word); }, "scope");
}

void printScopes(mlir::OpAsmPrinter& printer, mlir::Operation*, mlir::ArrayAttr array) {
  PrintWords<td::BatchScopeAttr>(printer, array, [](td::BatchScope value) { return stringifyEnum(value); });
}

}  // namespace
}  // namespace tandem::exec

#define GET_OP_CLASSES
#include "passes/exec/ops.cc.inc"

namespace tandem::exec {

void ExecDialect::registerOps() {
  addOperations<
#define GET_OP_LIST
#include "passes/exec/ops.cc.inc"
      >();
}

EpilogueAttr LibraryCallOp::getEpilogue() {
  if (auto conv = mlir::dyn_cast<Conv2DAttr>(getCall())) return conv.getEpilogue();
  if (auto product = mlir::dyn_cast<MatMulAttr>(getCall())) return product.getEpilogue();
  return {};
}

namespace {

// Returns the kernel that `op` names, or null after an error.
mlir::func::FuncOp LookupKernel(mlir::Operation* op, mlir::FlatSymbolRefAttr name,
                                mlir::SymbolTableCollection& symbols) {
  auto kernel = symbols.lookupNearestSymbolFrom<mlir::func::FuncOp>(op, name);
  if (!kernel || !GetKernelKind(kernel)) {
    op->emitOpError() << "names " << name << ", which is not a kernel";
    return {};
  }
  return kernel;
}

}  // namespace

llvm::LogicalResult LaunchOp::verifySymbolUses(mlir::SymbolTableCollection& symbols) {
  auto kernel = LookupKernel(*this, getKernelAttr(), symbols);
  if (!kernel) return mlir::failure();
  if (kernel.getNumArguments() != getNumOperands() || kernel.getNumResults() != getNumResults()) {
    return emitOpError() << "has " << getNumOperands() << " operands and " << getNumResults()
                         << " results, but the kernel has " << kernel.getNumArguments() << " and "
                         << kernel.getNumResults();
  }
  return mlir::success();
}

llvm::LogicalResult GroupedLaunchOp::verifySymbolUses(mlir::SymbolTableCollection& symbols) {
  auto kernel = LookupKernel(*this, getKernelAttr(), symbols);
  if (!kernel) return mlir::failure();
  int64_t n = getMembers();
  if (kernel.getNumArguments() * n != getNumOperands() || kernel.getNumResults() * n != getNumResults()) {
    return emitOpError() << "has " << getNumOperands() << " operands and " << getNumResults() << " results for " << n
                         << " members of a kernel with " << kernel.getNumArguments() << " and "
                         << kernel.getNumResults();
  }
  return mlir::success();
}

td::BatchRule CopyOp::getBatchRule() { return td::BatchRule::kPerExample; }

bool AllReduceOp::variesByReplica(unsigned) { return false; }

bool MapMicrobatchesOp::variesByReplica(unsigned result) { return getScopeOf(result) == td::BatchScope::kReplica; }

llvm::LogicalResult MapMicrobatchesOp::verify() {
  size_t n = getNumResults();
  if (getReduce().size() != n || getScope().size() != n) {
    return emitOpError() << "has " << n << " results, but " << getReduce().size() << " reductions and "
                         << getScope().size() << " scopes";
  }
  mlir::Block& body = getBody().front();
  if (body.getArgumentTypes() != getOperandTypes()) {
    return emitOpError() << "has body arguments that differ from its operands";
  }
  auto yield = mlir::cast<YieldOp>(body.getTerminator());
  if (yield.getOperandTypes() != getResultTypes()) return emitOpError() << "yields types that differ from its results";
  if (getLanes() < 1 || getRowsPerLane() < 1 || getMicrobatchRows() < 1)
    return emitOpError() << "needs positive lanes, rows and microbatch";
  for (size_t i = 0; i < n; ++i) {
    const Combine combine = getCombine(i);
    if ((combine == Combine::kKeep) != td::IsBatched(getResult(i).getType())) {
      return emitOpError() << "result " << i << " is reduced by " << stringifyCombine(combine) << " but has type "
                           << getResult(i).getType();
    }
  }
  return mlir::success();
}

llvm::LogicalResult AllReduceOp::verify() {
  if (getOperandTypes() != getResultTypes()) return emitOpError() << "needs results of the operands' types";
  for (mlir::Type t : getOperandTypes()) {
    if (td::IsBatched(t)) return emitOpError() << "cannot reduce the batched type " << t;
  }
  if (mlir::ArrayAttr names = getNamesAttr(); names && names.size() != getNumOperands()) {
    return emitOpError() << "has " << names.size() << " names for " << getNumOperands() << " operands";
  }
  return mlir::success();
}

}  // namespace tandem::exec
