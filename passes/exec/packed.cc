#include "passes/exec/packed.h"

#include "graph/ir/message.h"
#include "passes/exec/algorithm.h"

#define GET_OP_CLASSES
#include "passes/exec/packed.cc.inc"

namespace tandem::exec {

using td::BatchRule;
using td::IsBatched;
using td::MakeResult;
using td::RefContext;
using td::RefTensor;
using td::Str;
using td::ToShape;
using td::TypeOf;

void ExecDialect::registerPackedOps() {
  addOperations<
#define GET_OP_LIST
#include "passes/exec/packed.cc.inc"
      >();
}

PackedShape PackedShapeOf(mlir::Value x, mlir::Value dy, llvm::ArrayRef<int64_t> size, llvm::ArrayRef<int64_t> strides,
                          llvm::ArrayRef<int64_t> pad_low) {
  llvm::ArrayRef<int64_t> in = TypeOf(x).getShape(), out = TypeOf(dy).getShape();
  PackedShape s;
  s.height = in[1], s.width = in[2], s.channels_in = in[3];
  s.out_height = out[1], s.out_width = out[2], s.channels_out = out[3];
  for (int d = 0; d < 2; ++d) {
    s.kernel[d] = size[d];
    s.stride[d] = strides[d];
    s.pad_low[d] = pad_low[d];
  }
  return s;
}

PackedShape ShapeOf(PackedFilterGradOp op) {
  return PackedShapeOf(op.getX(), op.getDy(), op.getSize(), op.getStrides(), op.getPadLow());
}

mlir::RankedTensorType ScratchType(mlir::MLIRContext* context, const PackedShape& shape) {
  return FloatScratchType(context, PackedScratch(shape).floats);
}

llvm::LogicalResult PackedFilterGradOp::verify() {
  mlir::RankedTensorType x = TypeOf(getX()), dy = TypeOf(getDy());
  if (x.getRank() != 4 || dy.getRank() != 4 || !IsBatched(x) || !IsBatched(dy)) {
    return emitOpError() << "needs batched images [batch, height, width, channels], not " << Str(x) << " and "
                         << Str(dy);
  }
  if (x.getDimSize(3) % kTileRows != 0 || dy.getDimSize(3) % kTileRows != 0) {
    return emitOpError() << "needs multiples of " << kTileRows << " channels, not " << x.getDimSize(3) << " and "
                         << dy.getDimSize(3);
  }
  if (getSize().size() != 2 || getStrides().size() != 2 || getPadLow().size() != 2) {
    return emitOpError() << "needs size, strides and pad_low for height and width, not " << Str(getSize()) << ", "
                         << Str(getStrides()) << " and " << Str(getPadLow());
  }
  for (int d = 0; d < 2; ++d) {
    if (getSize()[d] < 1 || getStrides()[d] < 1 || getPadLow()[d] < 0) {
      return emitOpError() << "size " << Str(getSize()) << " and strides " << Str(getStrides())
                           << " must be at least 1, and pad_low " << Str(getPadLow()) << " must not be negative";
    }
  }
  const Shape kernel = {getSize()[0], getSize()[1], x.getDimSize(3), dy.getDimSize(3)};
  if (ToShape(getDkernel().getType()) != kernel) {
    return emitOpError() << "gives a kernel " << ShapeString(kernel) << ", not " << Str(getDkernel().getType());
  }
  mlir::Type scratch = ScratchType(getContext(), ShapeOf(*this));
  if (getScratch().getType() != scratch)
    return emitOpError() << "needs scratch memory " << scratch << ", not " << getScratch().getType();
  return mlir::success();
}

BatchRule PackedFilterGradOp::getBatchRule() { return BatchRule::kBatchSum; }

// Returns the operations for one row of the batch, as the other contractions do.
int64_t PackedFilterGradOp::getFlops() {
  const PackedShape s = ShapeOf(*this);
  return 2 * s.taps() * s.out_height * s.out_width * s.channels_in * s.channels_out;
}

absl::Status PackedFilterGradOp::evaluate(absl::Span<const RefTensor* const> operands, const RefContext& context,
                                          std::vector<RefTensor>& results) {
  const PackedShape s = ShapeOf(*this);
  const RefTensor &x = *operands[0], &dy = *operands[1];
  RefTensor dk = MakeResult(getDkernel().getType(), 0);
  for (int64_t n = 0; n < x.shape[0]; ++n) {
    for (int64_t tap = 0; tap < s.taps(); ++tap) {
      for (int64_t pixel = 0; pixel < s.out_height * s.out_width; ++pixel) {
        const int64_t i = pixel / s.out_width * s.stride[0] + tap / s.kernel[1] - s.pad_low[0];
        const int64_t j = pixel % s.out_width * s.stride[1] + tap % s.kernel[1] - s.pad_low[1];
        if (i < 0 || i >= s.height || j < 0 || j >= s.width) continue;
        const double* from = &x.values[((n * s.height + i) * s.width + j) * s.channels_in];
        const double* back = &dy.values[(n * s.out_height * s.out_width + pixel) * s.channels_out];
        for (int64_t c = 0; c < s.channels_in; ++c) {
          double* to = &dk.values[(tap * s.channels_in + c) * s.channels_out];
          for (int64_t k = 0; k < s.channels_out; ++k) to[k] += from[c] * back[k];
        }
      }
    }
  }
  results[0] = std::move(dk);
  results[1] = MakeResult(getScratch().getType(), context.batch);
  return absl::OkStatus();
}

}  // namespace tandem::exec
