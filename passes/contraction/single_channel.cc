// Computes the filter gradient of a convolution with one output channel as that of a depthwise convolution.
//
// With one column a library has nothing to vectorise along. The sum of a tap and an input channel is over products of
// that channel of x with dy: the gradient of a depthwise convolution to as many copies of dy, which generated kernels
// compute along channels, without making copies.
//
// On Zen 3 (AVX2), one thread (benchmarks:contractions), in us a row instead of oneDNN's: 88 and 350 for 32x32x64 and
// 3x3, 63 and 267 for 64x64x16 and 3x3, 71 and 226 for 28x28x256 and 1x1, 6.2 and 13.1 for 16x16x8 and 5x5. With
// AVX-512 it has not been measured.
#include "absl/strings/str_cat.h"
#include "graph/ir/build.h"
#include "graph/ir/contract.h"
#include "passes/contraction/candidate.h"

namespace tandem {
namespace {

constexpr int64_t kMinChannelsIn = 8;  // least input channels, so that they fill a vector register

std::optional<Weighing> WeighSingleChannel(const Contraction& c) {
  auto op = mlir::dyn_cast<td::Conv2DFilterGradOp>(c.op);
  if (!op || !c.target.generates_contractions()) return std::nullopt;
  const int64_t columns = td::TypeOf(op.getDy()).getDimSize(3), channels = td::TypeOf(op.getX()).getDimSize(3);
  if (columns != 1) return Unable(absl::StrCat(columns, " channels out are more than one"));
  if (!td::IsBatched(op.getX().getType())) return Unable("it is of batched images only");
  if (!IsFloat32(op)) return Unable("it computes in float32");
  if (channels < kMinChannelsIn) {
    return NotProfitable(absl::StrCat(channels, " channels in are fewer than ", kMinChannelsIn));
  }
  if (c.target.has_avx512()) return NotProfitable("with AVX-512 it has not been measured");
  return Profitable();
}

mlir::LogicalResult LowerSingleChannel(const Contraction& c, exec::ContractionAttr) {
  auto op = mlir::cast<td::Conv2DFilterGradOp>(c.op);
  mlir::OpBuilder b(op);
  mlir::Location loc = op.getLoc();
  mlir::RankedTensorType dy = td::TypeOf(op.getDy()), kernel = td::TypeOf(op.getResult());
  const int64_t channels = kernel.getDimSize(2);
  mlir::Value copies = td::BuildReshape(b, loc, op.getDy(), dy.clone(dy.getShape().drop_back()));
  copies = td::BuildBroadcast(b, loc, copies,
                              dy.clone({dy.getDimSize(0), dy.getDimSize(1), dy.getDimSize(2), channels}), {0, 1, 2});
  mlir::Value grad = b.create<td::DepthwiseConv2DFilterGradOp>(loc, copies, op.getX(), op.getSize(), op.getStrides(),
                                                               op.getPadLow(), op.getPadHigh());
  op.replaceAllUsesWith(td::BuildReshape(b, loc, grad, kernel));
  op.erase();
  return mlir::success();
}

}  // namespace

extern const Candidate kSingleChannel = {exec::Algorithm::kSingleChannel, Lowering::kBeforeMaps, WeighSingleChannel,
                                         LowerSingleChannel};

}  // namespace tandem
