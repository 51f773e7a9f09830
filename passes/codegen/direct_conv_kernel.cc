// Emits kernels of convolutions of few input channels, with bias and relu: a call computes rows [begin, end) of the
// result. An element is a chain of multiply-adds over all taps in order, with zeros in the padding.
#include <algorithm>

#include "graph/ir/contract.h"
#include "graph/ir/reference_util.h"
#include "graph/ir/unary.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/base/channel_bias.h"
#include "passes/codegen/vector_kernel.h"
#include "passes/exec/contraction.h"

namespace tandem {
namespace {

using mlir::Value;
using Values = VectorBuilder::Values;

// SumVectors: how many vectors of sums stay in registers. ChannelVectors: the most of them that belong to one pixel.
int64_t SumVectors(int vector_width) { return vector_width < 16 ? 12 : 24; }
int64_t ChannelVectors(int vector_width) { return vector_width < 16 ? 2 : 4; }

struct DirectConv {
  exec::ContractionOp op;
  mlir::BlockArgument bias;  // null if there is none
  bool relu = false;
};

// Returns the parts of a kernel that is one float32 convolution of its arguments, perhaps followed by a bias per
// channel, perhaps followed by td.relu, if the lines of its images fit a thread's stack; `op` is null for others.
DirectConv Match(mlir::func::FuncOp kernel) {
  mlir::Block& block = kernel.getBody().front();
  if (block.getTerminator()->getNumOperands() != 1) return {};
  DirectConv conv;
  Value end = block.getTerminator()->getOperand(0);
  if (auto relu = end.getDefiningOp<td::ReluOp>()) {
    conv.relu = true;
    end = relu.getOperand();
  }
  if (auto add = end.getDefiningOp<td::AddOp>()) {
    for (Value y : add->getOperands()) {
      if (!y.getDefiningOp<exec::ContractionOp>()) continue;
      conv.bias = mlir::dyn_cast_or_null<mlir::BlockArgument>(ChannelBiasOf(add, y));
      if (conv.bias) end = y;
    }
  }
  auto op = end.getDefiningOp<exec::ContractionOp>();
  if (!op || op.getKind() != exec::ContractionKind::kConv2D) return {};
  if (!td::TypeOf(op.getX()).getElementType().isF32() || !td::IsBatched(op.getX().getType())) return {};
  if (!mlir::isa<mlir::BlockArgument>(op.getX()) || !mlir::isa<mlir::BlockArgument>(op.getWeights())) return {};
  if (exec::LinesBytes(op.getX().getType(), op.getWeights().getType(), op.getPadLow(), op.getPadHigh()) >
      exec::kMaxLinesBytes) {
    return {};
  }
  conv.op = op;
  return conv;
}

// The lines of the image that a line of pixels reads are copied with their padding, so that the products of all pixels
// are the same. Sums of a few neighbouring pixels and some vectors of channels stay in registers over the loop over all
// taps.
class DirectConvEmitter : private VectorKernel {
 public:
  explicit DirectConvEmitter(const EmitRequest& request) : VectorKernel(request), conv_(Match(kernel_)), op_(conv_.op) {
    const int vector_width = v_.width();
    llvm::ArrayRef<int64_t> x = td::TypeOf(op_.getX()).getShape(), w = td::TypeOf(op_.getWeights()).getShape(),
                            y = td::TypeOf(op_.getY()).getShape();
    height_ = x[1], width_ = x[2], in_ = x[3];
    size_[0] = w[0], size_[1] = w[1];
    out_[0] = y[1], out_[1] = y[2], channels_ = y[3];
    // The floats of a copied line: those copied from the image or, if that is more, those that the last pixel reads,
    // rounded up to whole vectors.
    line_ = std::max(width_ + op_.getPadLow()[1], (out_[1] - 1) * op_.getStrides()[1] + size_[1]) * in_;
    line_ = (line_ + vector_width - 1) / vector_width * vector_width;
    vectors_ = std::min<int64_t>(ChannelVectors(vector_width), (channels_ + vector_width - 1) / vector_width);
    pixels_ = std::min<int64_t>(SumVectors(vector_width) / vectors_, out_[1]);
    auto buffer = [&](Value v) { return buffers_[mlir::cast<mlir::BlockArgument>(v).getArgNumber()]; };
    x_ = buffer(op_.getX()), w_ = buffer(op_.getWeights()), y_ = Result(0);
    if (conv_.bias) bias_ = buffer(conv_.bias);
    lines_ = v_.Scratch(size_[0] * line_);
  }

  void Emit() {
    v_.For(0, size_[0] * line_, v_.width(), [&](Value i) { v_.Store(v_.Splat(0), v_.At(lines_, i)); });
    v_.For(begin_, end_, 1, [&](Value n) {
      v_.For(0, out_[0], 1, [&](Value i) {
        CopyLines(n, i);
        Value y = v_.At(y_, v_.Mul(v_.Add(v_.Mul(n, out_[0]), i), out_[1] * channels_));
        const int64_t whole = channels_ / (vectors_ * v_.width()) * vectors_ * v_.width();
        v_.For(0, whole, vectors_ * v_.width(), [&](Value channel) { Line(y, channel, vectors_ * v_.width()); });
        if (whole < channels_) Line(y, v_.Int(whole), channels_ - whole);
      });
    });
    End();
  }

 private:
  // Copies the lines of image n that line i of the result reads. Lines outside of the image become zeros.
  void CopyLines(Value n, Value i) {
    const int64_t floats = width_ * in_, whole = floats / v_.width() * v_.width();
    v_.For(0, size_[0], 1, [&](Value tap) {
      Value line = v_.Add(v_.Add(v_.Mul(i, op_.getStrides()[0]), tap), -op_.getPadLow()[0]);
      Value mask = v_.Mask(v_.Within(line, height_));
      Value from = v_.At(x_, v_.Mul(v_.Add(v_.Mul(n, height_), line), floats));
      Value to = v_.At(lines_, v_.Add(v_.Mul(tap, line_), op_.getPadLow()[1] * in_));
      auto copy = [&](Value at, int64_t live) { v_.Store(v_.Load(v_.At(from, at), live, mask), v_.At(to, at), live); };
      v_.For(0, whole, v_.width(), [&](Value at) { copy(at, v_.width()); });
      if (whole < floats) copy(v_.Int(whole), floats - whole);
    });
  }

  // Computes `live` channels, from `channel` on, of all pixels of a line. If the last group would have fewer pixels, it
  // begins earlier and computes some pixels again.
  void Line(Value y, Value channel, int64_t live) {
    v_.For(0, out_[1], pixels_, [&](Value j) {
      Value first = v_.Min(j, v_.Int(out_[1] - pixels_));
      Pixels(v_.At(lines_, v_.Mul(first, op_.getStrides()[1] * in_)), channel,
             v_.At(y, v_.Add(v_.Mul(first, channels_), channel)), live);
    });
  }

  void Pixels(Value x, Value channel, Value y, int64_t live) {
    const int64_t vectors = (live + v_.width() - 1) / v_.width(), taps = size_[1] * in_;
    auto live_of = [&](int64_t n) { return std::min<int64_t>(v_.width(), live - n * v_.width()); };
    Value w = v_.At(w_, channel);
    Values sums(pixels_ * vectors, v_.Splat(0));
    sums = v_.For(v_.Int(0), v_.Int(size_[0]), 1, sums, [&](Value row, const Values& before) {
      Value line = v_.At(x, v_.Mul(row, line_)), weights = v_.At(w, v_.Mul(row, taps * channels_));
      // This loop is not unrolled. Otherwise LLVM would keep parts of a line that neighbouring pixels share in
      // registers, and spill the sums.
      return v_.For(v_.Int(0), v_.Int(taps), 1, before, [&](Value tap, const Values& sums) {
        Value column = v_.At(weights, v_.Mul(tap, channels_)), left = v_.At(line, tap);
        Values right, after;
        for (int64_t n = 0; n < vectors; ++n) right.push_back(v_.Load(v_.At(column, n * v_.width()), live_of(n)));
        for (int64_t p = 0; p < pixels_; ++p) {
          Value factor = v_.LoadSplat(v_.At(left, p * op_.getStrides()[1] * in_));
          for (Value vector : right) after.push_back(v_.AddF(sums[after.size()], v_.MulF(factor, vector)));
        }
        return after;
      });
    });
    for (int64_t n = 0; n < vectors; ++n) {
      Value bias = bias_ ? v_.Load(v_.At(v_.At(bias_, channel), n * v_.width()), live_of(n)) : nullptr;
      for (int64_t p = 0; p < pixels_; ++p) {
        Value sum = sums[p * vectors + n];
        if (bias) sum = v_.AddF(sum, bias);
        if (conv_.relu) sum = v_.Relu(sum);
        v_.Store(sum, v_.At(y, p * channels_ + n * v_.width()), live_of(n));
      }
    }
  }

  const DirectConv conv_;
  exec::ContractionOp op_;
  int64_t height_, width_, in_, size_[2], out_[2], channels_;
  int64_t line_;              // floats of a copied line, with its padding
  int64_t vectors_, pixels_;  // sums in registers: `vectors_` vectors of channels for each of `pixels_` pixels
  Value x_, w_, bias_, y_, lines_;
};

}  // namespace

extern const Emitter kDirectConvEmitter = {"convolution of few input channels",
                                           [](mlir::func::FuncOp kernel) { return Match(kernel).op != nullptr; },
                                           EmitBy<DirectConvEmitter>};

}  // namespace tandem
