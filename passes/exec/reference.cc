// How the reference interpreter evaluates exec ops: with one replica, one lane and one microbatch.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "graph/ir/reference_util.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/exec/dialect.h"

namespace tandem::exec {

using td::RefContext;
using td::RefTensor;

namespace {

using Operands = absl::Span<const RefTensor* const>;
using Tensors = std::vector<RefTensor>;

Tensors Copies(Operands operands) {
  Tensors copies;
  for (const RefTensor* t : operands) copies.push_back(*t);
  return copies;
}

Shape Concrete(mlir::Type type, int64_t batch) {
  Shape shape = td::ToShape(type);
  for (int64_t& d : shape) {
    if (d == kBatch) d = batch;
  }
  return shape;
}

// Runs a flat kernel on `elements` elements in chunks of `size`, the number of elements in the kernel's type. The last
// chunk is padded.
absl::StatusOr<Tensors> RunInChunks(mlir::func::FuncOp kernel, Operands operands, int64_t elements, int64_t size,
                                    const RefContext& context) {
  Tensors all(kernel.getNumResults());
  for (int64_t begin = 0; begin < elements; begin += size) {
    const int64_t n = std::min(size, elements - begin);
    Tensors chunk;
    for (auto [type, t] : llvm::zip(kernel.getArgumentTypes(), operands)) {
      RefTensor part = td::MakeResult(type, context.batch);
      if (part.shape.empty()) {
        part.values = t->values;
      } else {
        std::copy_n(t->values.begin() + begin, n, part.values.begin());
      }
      chunk.push_back(std::move(part));
    }
    TD_ASSIGN_OR_RETURN(Tensors results, context.run(kernel.getBody().front(), std::move(chunk)));
    for (size_t i = 0; i < results.size(); ++i) {
      all[i].dtype = results[i].dtype;
      all[i].values.insert(all[i].values.end(), results[i].values.begin(), results[i].values.begin() + n);
    }
  }
  return all;
}

// Runs the kernel `name` that `op` launches; the results have the types `types`.
absl::StatusOr<Tensors> Launch(mlir::Operation* op, mlir::FlatSymbolRefAttr name, Operands operands,
                               mlir::TypeRange types, const RefContext& context) {
  auto kernel = mlir::SymbolTable::lookupNearestSymbolFrom<mlir::func::FuncOp>(op, name);
  if (!kernel || kernel.isExternal()) {
    return absl::InvalidArgumentError(absl::StrCat("kernel ", name.getValue().str(), " has no body"));
  }
  int64_t elements = 0, size = 0;
  for (auto [type, t] : llvm::zip(kernel.getArgumentTypes(), operands)) {
    if (Concrete(type, context.batch) == t->shape) continue;
    elements = static_cast<int64_t>(t->values.size());
    size = NumElements(Concrete(type, context.batch));
  }
  if (size == 0) return context.run(kernel.getBody().front(), Copies(operands));
  TD_ASSIGN_OR_RETURN(Tensors results, RunInChunks(kernel, operands, elements, size, context));
  for (auto [result, type] : llvm::zip(results, types)) result.shape = Concrete(type, context.batch);
  return results;
}

}  // namespace

absl::Status MapMicrobatchesOp::evaluate(Operands operands, const RefContext& context, Tensors& results) {
  TD_ASSIGN_OR_RETURN(results, context.run(getBody().front(), Copies(operands)));
  return absl::OkStatus();
}

absl::Status LaunchOp::evaluate(Operands operands, const RefContext& context, Tensors& results) {
  TD_ASSIGN_OR_RETURN(results, Launch(*this, getKernelAttr(), operands, getResultTypes(), context));
  return absl::OkStatus();
}

absl::Status GroupedLaunchOp::evaluate(Operands operands, const RefContext& context, Tensors& results) {
  const size_t members = std::max<int64_t>(getMembers(), 1), n = operands.size() / members,
               m = getNumResults() / members;
  results.clear();
  for (size_t i = 0; i < members; ++i) {
    TD_ASSIGN_OR_RETURN(Tensors part, Launch(*this, getKernelAttr(), operands.subspan(i * n, n),
                                             mlir::TypeRange(getResultTypes()).slice(i * m, m), context));
    std::move(part.begin(), part.end(), std::back_inserter(results));
  }
  return absl::OkStatus();
}

// The map is one microbatch here, so its results are already those of all lanes.
absl::Status LaneReduceOp::evaluate(Operands operands, const RefContext&, Tensors& results) {
  results = Copies(operands);
  return absl::OkStatus();
}

absl::Status AllReduceOp::evaluate(Operands operands, const RefContext&, Tensors& results) {
  results = Copies(operands);
  return absl::OkStatus();
}

absl::Status CopyOp::evaluate(Operands operands, const RefContext&, Tensors& results) {
  results = Copies(operands);
  return absl::OkStatus();
}

absl::Status CheckFiniteOp::evaluate(Operands, const RefContext&, Tensors&) { return absl::OkStatus(); }

}  // namespace tandem::exec
