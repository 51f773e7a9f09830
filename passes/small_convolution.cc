#include "passes/small_convolution.h"

#include "graph/ir/contract.h"

namespace tandem {
namespace {

// Columns of output channels that fill vector registers.
constexpr int64_t kMinChannels = 8;
constexpr int64_t kMinPictureChannels = 16;
constexpr int64_t kMaxPictureDepth = 4;  // red, green, blue and one more
// The weights of four vectors of channels and a line of a picture stay in the first-level cache.
constexpr int64_t kMaxTaps = 160;

// `kernel`: HWIO.
bool IsSmall(mlir::Value image, mlir::Type kernel) {
  return td::IsBatched(image.getType()) && mlir::cast<mlir::RankedTensorType>(kernel).getDimSize(3) >= kMinChannels &&
         TapsOf(kernel) <= kMaxFusedTaps;
}

}  // namespace

int64_t TapsOf(mlir::Type kernel) {
  llvm::ArrayRef<int64_t> shape = mlir::cast<mlir::RankedTensorType>(kernel).getShape();
  return shape[0] * shape[1] * shape[2];
}

bool IsSmallConvolution(mlir::Operation* op) {
  if (auto forward = mlir::dyn_cast<td::Conv2DOp>(op)) return IsSmall(forward.getX(), forward.getKernel().getType());
  if (auto grad = mlir::dyn_cast<td::Conv2DFilterGradOp>(op)) return IsSmall(grad.getX(), grad.getType());
  return false;
}

bool IsPictureConvolution(mlir::Operation* op) {
  auto forward = mlir::dyn_cast<td::Conv2DOp>(op);
  if (!forward || !td::IsBatched(forward.getX().getType())) return false;
  auto kernel = mlir::cast<mlir::RankedTensorType>(forward.getKernel().getType());
  const int64_t taps = TapsOf(kernel);
  return kernel.getDimSize(2) <= kMaxPictureDepth && kernel.getDimSize(3) >= kMinPictureChannels &&
         taps > kMaxFusedTaps && taps <= kMaxTaps;
}

}  // namespace tandem
