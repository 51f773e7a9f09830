// td-pack-filter-grads: computes bfloat16 convolutions' filter gradients in tiles, where the CPU has a matrix unit.
//
// Before: td.conv2d_filter_grad in maps, on a module with td.bfloat16_tiles (AMX). After: those of bfloat16 images with
// float32 results and multiples of 16 channels are td.packed_filter_grad. oneDNN packs a shard's images as well, but
// its calls take longer for the few images that a shard has: S0's second and third layer 88 and 84 us for 8 images,
// packed 54 and 35 (an Intel Xeon). Large kernels of one place are left to it: a product of two large matrices, of few
// pixels.
//
//   %dk = td.conv2d_filter_grad %x, %dy size [3, 3] strides [1, 1] low [0, 0] high [0, 0]
//     =>   %dk, %scratch = td.packed_filter_grad %x, %dy {size = array<i64: 3, 3>, ...}
#include "passes/pack_filter_grads.h"

#include "graph/ir/contract.h"
#include "graph/ir/dist.h"
#include "graph/ir/packed.h"
#include "graph/ir/reference_util.h"
#include "passes/pass_util.h"
#include "passes/target.h"

namespace tandem {
namespace {

// Numbers of a gradient that oneDNN's product makes faster: in ResNet-50, in shards of 4 images, it takes 8.8 ms
// instead of 11.3 for 1024 x 2048, and 3.3 instead of 2.3 for 1024 x 256 (an Intel Xeon).
constexpr int64_t kLargeProduct = 1 << 20;

class PackFilterGradsPass : public ModulePass<PackFilterGradsPass> {
 public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PackFilterGradsPass)
  static constexpr llvm::StringLiteral kName = "td-pack-filter-grads";
  static constexpr llvm::StringLiteral kDescription = "compute bfloat16 filter gradients in tiles";

  void runOnOperation() final {
    mlir::func::FuncOp step = StepFunction(getOperation());
    if (!step || !HasBFloat16Tiles(getOperation())) return;
    for (auto map : step.getOps<td::MapShardsOp>()) {
      for (auto op : llvm::make_early_inc_range(map.getBody().getOps<td::Conv2DFilterGradOp>())) {
        if (Qualifies(op)) Replace(op);
      }
    }
  }

 private:
  static bool Qualifies(td::Conv2DFilterGradOp op) {
    auto images = [](mlir::Value v) {
      mlir::RankedTensorType type = td::TypeOf(v);
      return type.getElementType().isBF16() && td::IsBatched(type) && type.getDimSize(3) % kTileRows == 0;
    };
    mlir::RankedTensorType result = td::TypeOf(op.getResult());
    const bool large_product = op.getSize()[0] * op.getSize()[1] == 1 && result.getNumElements() > kLargeProduct;
    return images(op.getX()) && images(op.getDy()) && result.getElementType().isF32() && !large_product;
  }

  void Replace(td::Conv2DFilterGradOp op) {
    const PackedShape s = td::PackedShapeOf(op.getX(), op.getDy(), op.getSize(), op.getStrides(), op.getPadLow());
    mlir::OpBuilder b(op);
    auto packed =
        b.create<td::PackedFilterGradOp>(op.getLoc(), op.getType(), td::ScratchType(&getContext(), s), op.getX(),
                                         op.getDy(), op.getSize(), op.getStrides(), op.getPadLow());
    op.replaceAllUsesWith(packed.getDkernel());
    op.erase();
  }
};

}  // namespace

std::unique_ptr<mlir::Pass> createPackFilterGradsPass() { return std::make_unique<PackFilterGradsPass>(); }

}  // namespace tandem
