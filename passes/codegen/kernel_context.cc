#include "passes/codegen/kernel_context.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "passes/codegen/reduction.h"

namespace tandem {

namespace LLVM = mlir::LLVM;

bool MayAlias(mlir::func::FuncOp kernel, unsigned operand, unsigned result) {
  const std::optional<exec::KernelKind> kind = exec::GetKernelKind(kernel);
  mlir::Operation* end = kernel.getBody().front().getTerminator();
  if (kind != exec::KernelKind::kLoop && kind != exec::KernelKind::kFlat) return false;
  if (operand >= kernel.getNumArguments() || result >= end->getNumOperands()) return false;
  mlir::Type type = kernel.getArgument(operand).getType();
  for (mlir::Type t : end->getOperandTypes()) {
    if (mlir::cast<mlir::RankedTensorType>(t).getShape() != mlir::cast<mlir::RankedTensorType>(type).getShape()) {
      return false;
    }
  }
  if (end->getOperand(result).getType() != type) return false;
  // Every op that depends on the operand must compute elementwise.
  llvm::SmallVector<mlir::Value> work = {kernel.getArgument(operand)};
  llvm::DenseSet<mlir::Value> seen;
  while (!work.empty()) {
    mlir::Value v = work.pop_back_val();
    if (!seen.insert(v).second) continue;
    for (mlir::Operation* user : v.getUsers()) {
      if (user == end) continue;
      if (td::FusionKindOf(user) != td::FusionKind::kElementwise) return false;
      work.append(user->result_begin(), user->result_end());
    }
  }
  return true;
}

KernelContext::KernelContext(mlir::func::FuncOp kernel, mlir::ModuleOp module, std::string symbol)
    : IndexBuilder(builder_, kernel.getLoc()),
      kernel_(kernel),
      module_(module),
      symbol_(std::move(symbol)),
      kind_(exec::GetKernelKind(kernel).value_or(exec::KernelKind::kCluster)),
      builder_(kernel.getContext()) {
  for (mlir::Value v : kernel.getBody().front().getTerminator()->getOperands()) results_.push_back(v);
  alias_.assign(results_.size(), -1);
  const llvm::ArrayRef<int64_t> alias = exec::GetAliases(kernel);
  for (unsigned i = 0; i < alias_.size() && i < alias.size(); ++i) alias_[i] = static_cast<int>(alias[i]);
  for (unsigned r = 0; r < results_.size(); ++r) {
    const bool sum = IsBatchReduce(results_[r].getDefiningOp());
    const bool epilogue = kind_ == exec::KernelKind::kCol && !td::IsBatched(results_[r].getType());
    (sum ? batch_reduces_ : epilogue ? epilogue_results_ : plain_results_).push_back(r);
  }
  columns_ = FindColumns();
}

std::optional<ColumnLoop> KernelContext::FindColumns() {
  if (batch_reduces_.empty() || !has_rows()) return std::nullopt;
  const auto operand = [&](unsigned r) { return results_[r].getDefiningOp()->getOperand(0).getType(); };
  const int64_t size = InnerSize(operand(batch_reduces_[0]));
  std::vector<int64_t> columns;
  bool keeps_columns_only = true;
  for (unsigned r : batch_reduces_) {
    mlir::Operation* op = results_[r].getDefiningOp();
    const std::optional<Reduction> reduction = ReductionOf(op);
    if (!reduction || InnerSize(operand(r)) != size) return std::nullopt;
    columns.push_back(ColumnsOf(op, *reduction));
    keeps_columns_only &= reduction->axes.back() + 1 == static_cast<int64_t>(reduction->axes.size());
  }
  const auto [least, most] = std::minmax_element(columns.begin(), columns.end());
  const auto fits = [&](unsigned r) { return InnerSize(results_[r].getType()) == size; };
  const auto reduces_row = [](mlir::Operation& op) { return IsReduceOp(&op) && !IsBatchReduce(&op); };
  if (*least < 2 || !llvm::all_of(plain_results_, fits)) return std::nullopt;
  if (llvm::any_of(kernel_.getBody().front(), reduces_row)) return std::nullopt;
  return ColumnLoop{operand(batch_reduces_[0]), *least, keeps_columns_only && *least == *most};
}

absl::Status KernelContext::Check(bool takes_epilogues) {
  for (mlir::Operation& op : kernel_.getBody().front()) {
    auto elemental = mlir::dyn_cast<td::ElementalOp>(op);
    if (elemental && elemental.getFusionKind() == td::FusionKind::kNone) {
      return absl::InternalError(absl::StrCat("kernel ", symbol_, ": ", op.getName().getStringRef().str(),
                                              " of these types is no op of a generated kernel"));
    }
  }
  for (unsigned r = 0; r < results_.size(); ++r) {
    if (alias_[r] >= 0 && !MayAlias(kernel_, alias_[r], r)) {
      return absl::InternalError(
          absl::StrCat("kernel ", symbol_, ": result ", r, " may not share operand ", alias_[r], "'s buffer"));
    }
    const bool summed =
        llvm::is_contained(batch_reduces_, r) || (takes_epilogues && llvm::is_contained(epilogue_results_, r));
    if (has_rows() && (summed ? is_elementwise() : !td::IsBatched(results_[r].getType()))) {
      return absl::InternalError(absl::StrCat("kernel ", symbol_, ": result ", r, " has no batch axis, which a ",
                                              exec::stringifyKernelKind(kind_).str(), " kernel needs"));
    }
  }
  return absl::OkStatus();
}

void KernelContext::BeginFunction(const std::string& name, llvm::ArrayRef<mlir::Type> numbers, LLVM::Linkage linkage) {
  llvm::SmallVector<mlir::Type> types(num_buffers(), LLVM::LLVMPointerType::get(b_.getContext()));
  types.append(numbers.begin(), numbers.end());
  b_.setInsertionPointToEnd(module_.getBody());
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b_.getContext()), types);
  f_ = b_.create<LLVM::LLVMFuncOp>(loc_, name, type, linkage);
  for (unsigned i = 0; i < num_buffers(); ++i) {
    f_.setArgAttr(i, LLVM::LLVMDialect::getNoAliasAttrName(), b_.getUnitAttr());
  }
  b_.setInsertionPointToStart(f_.addEntryBlock(b_));
}

void KernelContext::BindOperands(ElementEmitter& e) {
  for (unsigned i = 0; i < kernel_.getNumArguments(); ++i) e.Bind(kernel_.getArgument(i), {f_.getArgument(i)});
  // An operand and the result that shares its buffer use one pointer, so that LLVM sees that an element is read before
  // it is written.
  for (unsigned r = 0; r < alias_.size(); ++r) {
    if (alias_[r] >= 0) e.Bind(kernel_.getArgument(alias_[r]), ResultBuffer(r));
  }
}

llvm::SmallVector<mlir::Value> KernelContext::TapIndices(mlir::Type type, int64_t tap, mlir::Value column) {
  const llvm::ArrayRef<int64_t> taps = mlir::cast<mlir::RankedTensorType>(type).getShape().drop_back();
  llvm::SmallVector<mlir::Value> indices(taps.size());
  for (size_t d = taps.size(); d-- > 0; tap /= taps[d]) indices[d] = Int(tap % taps[d]);
  indices.push_back(column);
  return indices;
}

void KernelContext::StorePoints(ElementEmitter& e, const std::vector<unsigned>& which, llvm::ArrayRef<Point> points) {
  // All loads are emitted before the first store: a result may overwrite an operand, and LLVM joins neighbouring
  // accesses only if nothing is between them.
  std::vector<llvm::SmallVector<mlir::Value>> at;
  std::vector<mlir::Value> elements;
  for (const Point& point : points) {
    for (unsigned r : which) {
      at.push_back(IndicesAt(e, loc_, point, results_[r].getType()));
      elements.push_back(e.Element(loc_, results_[r], at.back()));
    }
  }
  for (unsigned w = 0; w < which.size(); ++w) {
    for (unsigned p = 0; p < points.size(); ++p) {
      const unsigned i = p * which.size() + w;
      e.Store(loc_, results_[which[w]].getType(), ResultBuffer(which[w]), at[i], elements[i]);
    }
  }
}

}  // namespace tandem
