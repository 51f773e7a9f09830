// Types used by the td op interfaces.
#ifndef TANDEM_GRAPH_IR_INTERFACES_H_
#define TANDEM_GRAPH_IR_INTERFACES_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "base/dtype.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/TypeUtilities.h"

namespace tandem::td {

// A tensor of the reference interpreter: every element is a double, whatever the dtype (integers and booleans are
// exact; float32 values are not rounded). Row-major.
struct RefTensor {
  DType dtype = DType::kInvalid;
  Shape shape;  // sizes at run time: dimension 0 of a batched tensor is its number of rows
  std::vector<double> values;
};

struct RefContext {
  int64_t batch = 0;       // rows of the symbolic batch in this run
  int64_t row_offset = 0;  // number of row 0 in the global batch
  // Evaluates a block with the given arguments; returns the operands of its terminator. For ops that contain code or
  // refer to it.
  std::function<absl::StatusOr<std::vector<RefTensor>>(mlir::Block&, std::vector<RefTensor>)> run = nullptr;
};

// How an op treats the batch axis.
enum class BatchRule {
  kPerExample,  // row i of a result depends on row i of the batched operands only
  kBatchSum,    // results have no batch axis and are sums over rows
  kBatchMax,    // results have no batch axis and are maxima over rows
  kStatistic,   // results are mean and M2 or variance over rows; parts are merged as (count, mean, M2)
  kScatter,     // a sum over rows in which a microbatch changes few elements: computed for all rows of a device at once
  kMixing,      // anything else: all rows of a replica must be one microbatch
};

// How an op can be fused into kernels.
enum class FusionKind {
  kNone,         // never part of a generated kernel
  kElementwise,  // element i depends only on element i of the operands
  kInjective,    // an index map (broadcast, reshape, transpose, slice, pad, iota, one_hot, ...): cheap to recompute
  kReduce,       // for each result element, a loop over some dimensions of the operand
  kWindow,       // for each result element, reads a small static window of the operand (pooling and its gradient)
};

// The primitives of kernel libraries.
enum class LibraryPrimitive { kConv2D, kConv2DInputGrad, kConv2DFilterGrad, kMatMul, kBatchMatMul };

// Describes a kernel library's call for an op: the roles of its values, and the primitive's parameters. For a gradient,
// x, kernel and y are the values that have the shapes of the forward op's.
struct LibraryCallSpec {
  LibraryPrimitive primitive;
  mlir::Value x, kernel, y;  // input (NHWC; matmul: a), kernel (HWIO; matmul: b) and output
  llvm::SmallVector<int64_t, 2> strides, pad_low, pad_high;
  bool transpose_a = false, transpose_b = false;
  // True: the operand or result of a batch_matmul is stored as [..., rows, batch, columns]
  bool swap_x = false, swap_kernel = false, swap_y = false;
  bool reduces_batch = false;   // the result is a sum over the rows of the batch
  bool takes_epilogue = false;  // the call can add a bias and apply an activation to its result
  int weights = -1;             // the operand for which the library may prefer its own layout, or -1
};

// How mixed precision treats the float32 values of an op. In any case kernels compute, and libraries accumulate, in
// float32; the rule decides what operands and results are rounded to.
enum class PrecisionRule {
  kDeny,   // float32: sums, losses, exponentials, statistics, updates
  kClear,  // copies or selects numbers without rounding: has the type of its neighbours
  kInfer,  // accurate enough in bfloat16, but no reason to insert a cast
  kAllow,  // bfloat16: the expensive ops, which libraries compute
};

// Passed by the kernel emitter to ElementalOp::emitElement.
class ElementalContext {
 public:
  virtual ~ElementalContext() = default;
  // The element at `indices` of operand `operand` of the op that is being emitted.
  virtual mlir::Value Operand(unsigned operand, mlir::ValueRange indices) = 0;
  // The number of local row 0 in the global batch, as `index`.
  virtual mlir::Value RowOffset() = 0;
  virtual mlir::OpBuilder& builder() = 0;
  virtual mlir::Location loc() = 0;
};

// True if dimension 0 is the symbolic batch.
inline bool IsBatched(mlir::Type type) {
  auto t = mlir::dyn_cast<mlir::RankedTensorType>(type);
  return t && t.getRank() > 0 && t.isDynamicDim(0);
}

inline mlir::RankedTensorType TypeOf(mlir::Value v) { return mlir::cast<mlir::RankedTensorType>(v.getType()); }

// Conversions of shapes and element types between MLIR and base/. The batch dimension is kBatch.
Shape ToShape(mlir::Type type);
DType ToDType(mlir::Type element_type);
mlir::Type FromDType(mlir::MLIRContext* context, DType dtype);
mlir::RankedTensorType TensorType(mlir::MLIRContext* context, DType dtype, absl::Span<const int64_t> shape);

}  // namespace tandem::td

#include "graph/ir/interfaces.h.inc"

namespace tandem::td {

// Returns how `op` can be fused; kNone for null, and for an op that is no ElementalOp.
inline FusionKind FusionKindOf(mlir::Operation* op) {
  auto elemental = mlir::dyn_cast_or_null<ElementalOp>(op);
  return elemental ? elemental.getFusionKind() : FusionKind::kNone;
}

}  // namespace tandem::td

#endif  // TANDEM_GRAPH_IR_INTERFACES_H_
