// What ops that stand for an algorithm of a td op have in common. Only for their files.
#ifndef TANDEM_PASSES_EXEC_ALGORITHM_H_
#define TANDEM_PASSES_EXEC_ALGORITHM_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "graph/ir/contract.h"
#include "graph/ir/reference_util.h"

namespace tandem::exec {

// Evaluates `op` as the td op that computes the same, made for trial: it knows types and semantics.
template <typename TdOp, typename... Arguments>
absl::Status EvaluateAs(mlir::Operation* op, absl::Span<const td::RefTensor* const> operands,
                        const td::RefContext& context, std::vector<td::RefTensor>& results, Arguments&&... arguments) {
  mlir::OpBuilder b(op->getContext());
  auto same = b.create<TdOp>(op->getLoc(), std::forward<Arguments>(arguments)...);
  absl::Status status = same.evaluate(operands, context, results);
  same.erase();
  return status;
}

// td.conv2d_filter_grad's, of an op that has the same.
template <typename Properties>
td::Conv2DFilterGradOp::Properties FilterGradProperties(const Properties& p) {
  td::Conv2DFilterGradOp::Properties same;
  same.size = p.size;
  same.strides = p.strides;
  same.pad_low = p.pad_low;
  same.pad_high = p.pad_high;
  return same;
}

// Of one row: every element of `dy` meets the weights of its channel.
inline int64_t FilterGradFlops(mlir::Value dy, mlir::Value dkernel) {
  return 2 * td::RowElements(dy.getType()) * (td::RowElements(dkernel.getType()) / td::TypeOf(dkernel).getDimSize(3));
}

// Scratch memory for so many floats. Bytes: nothing that looks for values that are not finite looks into it.
inline mlir::RankedTensorType FloatScratchType(mlir::MLIRContext* context, int64_t floats) {
  return mlir::RankedTensorType::get({floats * static_cast<int64_t>(sizeof(float))},
                                     td::FromDType(context, DType::kUInt8));
}

}  // namespace tandem::exec

#endif  // TANDEM_PASSES_EXEC_ALGORITHM_H_
