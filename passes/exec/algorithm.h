// Helpers of the exec ops that stand for one algorithm of a td op. Only for the files that define those ops.
#ifndef TANDEM_PASSES_EXEC_ALGORITHM_H_
#define TANDEM_PASSES_EXEC_ALGORITHM_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "graph/ir/contract.h"
#include "graph/ir/reference_util.h"

namespace tandem::exec {

// Evaluates `op` by building, evaluating and erasing a TdOp that computes the same, since td ops define the semantics.
template <typename TdOp, typename... Arguments>
absl::Status EvaluateAs(mlir::Operation* op, absl::Span<const td::RefTensor* const> operands,
                        const td::RefContext& context, std::vector<td::RefTensor>& results, Arguments&&... arguments) {
  mlir::OpBuilder b(op->getContext());
  auto same = b.create<TdOp>(op->getLoc(), std::forward<Arguments>(arguments)...);
  absl::Status status = same.evaluate(operands, context, results);
  same.erase();
  return status;
}

// Copies attributes to the properties of td.conv2d_filter_grad from those of an op that has the same ones.
template <typename Properties>
td::Conv2DFilterGradOp::Properties FilterGradProperties(const Properties& p) {
  td::Conv2DFilterGradOp::Properties same;
  same.size = p.size;
  same.strides = p.strides;
  same.pad_low = p.pad_low;
  same.pad_high = p.pad_high;
  return same;
}

// Operations of a filter gradient for one row: every element of `dy` takes part in a multiply-add for every weight of
// its channel.
inline int64_t FilterGradFlops(mlir::Value dy, mlir::Value dkernel) {
  return 2 * td::RowElements(dy.getType()) * (td::RowElements(dkernel.getType()) / td::TypeOf(dkernel).getDimSize(3));
}

// The type of scratch memory for `floats` floats. Its elements are bytes, so that no check for infinite values or NaN
// reads it.
inline mlir::RankedTensorType FloatScratchType(mlir::MLIRContext* context, int64_t floats) {
  return mlir::RankedTensorType::get({floats * static_cast<int64_t>(sizeof(float))},
                                     td::FromDType(context, DType::kUInt8));
}

}  // namespace tandem::exec

#endif  // TANDEM_PASSES_EXEC_ALGORITHM_H_
