// Turns a matrix product of hardly any work into multiplications and sums, which fuse with the ops around them.
//
// A call of a kernel library costs about a microsecond, whatever it computes, and on a GPU a launch of its own. A
// product of examples with one column, or with one inner element, and at most 64 numbers per example is done long
// before, and needs no packed weights.
#include "absl/strings/str_cat.h"
#include "graph/ir/build.h"
#include "graph/ir/contract.h"
#include "passes/contraction/candidate.h"

namespace tandem {
namespace {

constexpr int64_t kMaxElements = 64;

// Sizes of a product a [b, k] times w [k, n] (stored as [n, k] when transposed), or of one that sums over the batch, a
// [b, k] transposed times w [b, n].
struct Sizes {
  bool sums_batch;
  int64_t k, n;
};

std::optional<Sizes> SizesOf(td::MatMulOp op) {
  llvm::ArrayRef<int64_t> a = td::TypeOf(op.getA()).getShape(), w = td::TypeOf(op.getB()).getShape();
  const bool sums_batch = td::IsBatched(op.getB().getType());
  if (!td::IsBatched(op.getA().getType()) || a.size() != 2 || op.getTransposeA() != sums_batch) return std::nullopt;
  if (sums_batch && op.getTransposeB()) return std::nullopt;
  return Sizes{sums_batch, a[1], sums_batch ? w[1] : td::TypeOf(op.getResult()).getDimSize(1)};
}

std::optional<Weighing> WeighFusedProduct(const Contraction& c) {
  auto op = mlir::dyn_cast<td::MatMulOp>(c.op);
  if (!op) return std::nullopt;
  const std::optional<Sizes> sizes = SizesOf(op);
  if (!sizes) return Unable("it is of examples in two dimensions only");
  if (sizes->k != 1 && sizes->n != 1) {
    return Unable(absl::StrCat("neither its ", sizes->n, " columns nor its ", sizes->k, " inner elements are one"));
  }
  if (sizes->k * sizes->n > kMaxElements) {
    return NotProfitable(absl::StrCat(sizes->k * sizes->n, " numbers per example are more than ", kMaxElements));
  }
  return Profitable();
}

class Expansion {
 public:
  explicit Expansion(td::MatMulOp op)
      : loc_(op.getLoc()), b_(op), a_(op.getA()), w_(op.getB()), type_(td::TypeOf(op.getResult())) {}

  mlir::Value Build(const Sizes& sizes) {
    mlir::Type result = type_.getElementType(), f32 = b_.getF32Type();
    // Products of bfloat16 are summed in float32, as in libraries.
    const bool widens = td::TypeOf(a_).getElementType().isBF16();
    if (widens) {
      type_ = type_.clone(f32);
      a_ = td::BuildCast(b_, loc_, a_, f32);
      w_ = td::BuildCast(b_, loc_, w_, f32);
    }
    mlir::Value product = sizes.sums_batch ? BatchSum(sizes) : sizes.n == 1 ? Dot(sizes.k) : Outer(sizes.n);
    return widens ? td::BuildCast(b_, loc_, product, result) : product;
  }

 private:
  static constexpr int64_t kBatchSize = mlir::ShapedType::kDynamic;

  mlir::Value Dot(int64_t k) {
    mlir::Value w = Along(Flat(w_, {k}), {kBatchSize, k}, 1);
    return Flat(Sum(td::BuildMul(b_, loc_, a_, w), 1), type_.getShape());
  }

  mlir::Value Outer(int64_t n) {
    mlir::Value a = Along(Flat(a_, {kBatchSize}), type_.getShape(), 0);
    return td::BuildMul(b_, loc_, a, Along(Flat(w_, {n}), type_.getShape(), 1));
  }

  mlir::Value BatchSum(const Sizes& sizes) {
    mlir::Value wide = sizes.n == 1 ? a_ : w_, narrow = sizes.n == 1 ? w_ : a_;
    mlir::Value factor = Along(Flat(narrow, {kBatchSize}), td::TypeOf(wide).getShape(), 0);
    return Flat(Sum(td::BuildMul(b_, loc_, wide, factor), 0), type_.getShape());
  }

  mlir::Value Sum(mlir::Value v, int64_t axis) { return td::BuildReduce(b_, loc_, td::ReduceKind::kSum, v, {axis}); }
  mlir::Value Flat(mlir::Value v, llvm::ArrayRef<int64_t> shape) {
    return td::BuildReshape(b_, loc_, v, type_.clone(shape));
  }
  mlir::Value Along(mlir::Value v, llvm::ArrayRef<int64_t> shape, int64_t dim) {
    return td::BuildBroadcast(b_, loc_, v, type_.clone(shape), {dim});
  }

  mlir::Location loc_;
  mlir::OpBuilder b_;
  mlir::Value a_, w_;
  mlir::RankedTensorType type_;
};

mlir::LogicalResult LowerFusedProduct(const Contraction& c, exec::ContractionAttr) {
  auto op = mlir::cast<td::MatMulOp>(c.op);
  op.replaceAllUsesWith(Expansion(op).Build(*SizesOf(op)));
  op.erase();
  return mlir::success();
}

}  // namespace

extern const Candidate kFusedProduct = {exec::Algorithm::kFusedProduct, Lowering::kBeforeMaps, WeighFusedProduct,
                                        LowerFusedProduct};

}  // namespace tandem
