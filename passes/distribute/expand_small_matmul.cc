// td-expand-small-matmul, as Passes.td describes it.
#include "graph/ir/build.h"
#include "graph/ir/contract.h"
#include "graph/ir/interfaces.h"
#include "passes/pass_util.h"
#include "passes/passes.h"

namespace tandem {

#define GEN_PASS_DEF_EXPANDSMALLMATMULPASS
#include "passes/passes.h.inc"

namespace {

constexpr int64_t kMaxElements = 64;

class Expansion {
 public:
  explicit Expansion(td::MatMulOp op)
      : op_(op), b_(op), a_(op.getA()), w_(op.getB()), type_(mlir::cast<mlir::RankedTensorType>(op.getType())) {}

  // bfloat16 is summed in float32 here as in libraries.
  mlir::Value BuildInFloat32() {
    if (!mlir::getElementTypeOrSelf(a_.getType()).isBF16()) return Build();
    const mlir::Type result = type_.getElementType();
    type_ = type_.clone(b_.getF32Type());
    a_ = td::BuildCast(b_, op_.getLoc(), a_, b_.getF32Type());
    w_ = td::BuildCast(b_, op_.getLoc(), w_, b_.getF32Type());
    if (mlir::Value product = Build()) return td::BuildCast(b_, op_.getLoc(), product, result);
    w_.getDefiningOp()->erase();
    a_.getDefiningOp()->erase();
    return nullptr;
  }

  // The product, or null when it is one for the library.
  mlir::Value Build() {
    if (!td::IsBatched(a_.getType()) || ShapeOf(a_).size() != 2) return nullptr;
    const bool sums_batch = td::IsBatched(w_.getType());
    if (op_.getTransposeA() != sums_batch) return nullptr;
    return sums_batch ? BuildBatchSum() : BuildRows();
  }

 private:
  // a [b, k] and w [k, n], stored [n, k] when transposed.
  mlir::Value BuildRows() {
    const int64_t k = Columns(a_), n = type_.getDimSize(1);
    if (n == 1 && k <= kMaxElements) {
      mlir::Value w = Along(Flat(w_, {k}), {mlir::ShapedType::kDynamic, k}, 1);
      mlir::Value sum =
          td::BuildReduce(b_, op_.getLoc(), td::ReduceKind::kSum, td::BuildMul(b_, op_.getLoc(), a_, w), {1});
      return Flat(sum, type_.getShape());
    }
    if (k == 1 && n <= kMaxElements) {
      mlir::Value a = Along(Flat(a_, {mlir::ShapedType::kDynamic}), type_.getShape(), 0);
      return td::BuildMul(b_, op_.getLoc(), a, Along(Flat(w_, {n}), type_.getShape(), 1));
    }
    return nullptr;
  }

  // a [b, m] and w [b, n]: the sum over the batch of their outer products.
  mlir::Value BuildBatchSum() {
    const int64_t m = Columns(a_), n = Columns(w_);
    if (op_.getTransposeB() || (m != 1 && n != 1) || m * n > kMaxElements) return nullptr;
    mlir::Value wide = n == 1 ? a_ : w_, narrow = n == 1 ? w_ : a_;
    mlir::Value factor = Along(Flat(narrow, {mlir::ShapedType::kDynamic}), ShapeOf(wide), 0);
    mlir::Value sum =
        td::BuildReduce(b_, op_.getLoc(), td::ReduceKind::kSum, td::BuildMul(b_, op_.getLoc(), wide, factor), {0});
    return Flat(sum, type_.getShape());
  }

  static llvm::ArrayRef<int64_t> ShapeOf(mlir::Value v) {
    return mlir::cast<mlir::RankedTensorType>(v.getType()).getShape();
  }
  static int64_t Columns(mlir::Value v) { return ShapeOf(v)[1]; }

  mlir::Value Flat(mlir::Value v, llvm::ArrayRef<int64_t> shape) {
    return td::BuildReshape(b_, op_.getLoc(), v, type_.clone(shape));
  }
  mlir::Value Along(mlir::Value v, llvm::ArrayRef<int64_t> shape, int64_t dim) {
    return td::BuildBroadcast(b_, op_.getLoc(), v, type_.clone(shape), {dim});
  }

  td::MatMulOp op_;
  mlir::OpBuilder b_;
  mlir::Value a_, w_;
  mlir::RankedTensorType type_;
};

class ExpandSmallMatMulPass : public impl::ExpandSmallMatMulPassBase<ExpandSmallMatMulPass> {
 public:
  void runOnOperation() final {
    llvm::SmallVector<td::MatMulOp> ops;
    getOperation().walk([&](td::MatMulOp op) { ops.push_back(op); });
    for (td::MatMulOp op : ops) {
      mlir::Value product = Expansion(op).BuildInFloat32();
      if (!product) continue;
      op.replaceAllUsesWith(product);
      op.erase();
    }
  }
};

}  // namespace

}  // namespace tandem
