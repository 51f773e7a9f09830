#include "passes/small_convolution.h"

#include "graph/ir/contract.h"

namespace tandem {
namespace {

constexpr int64_t kMaxTaps = 16;
// Columns of output channels that fill vector registers.
constexpr int64_t kMinChannels = 8;

// `kernel`: HWIO.
bool IsSmall(mlir::Value image, mlir::Type kernel) {
  auto type = mlir::cast<mlir::RankedTensorType>(kernel);
  return td::IsBatched(image.getType()) && type.getDimSize(3) >= kMinChannels &&
         type.getDimSize(0) * type.getDimSize(1) * type.getDimSize(2) <= kMaxTaps;
}

}  // namespace

bool IsSmallConvolution(mlir::Operation* op) {
  if (auto forward = mlir::dyn_cast<td::Conv2DOp>(op)) return IsSmall(forward.getX(), forward.getKernel().getType());
  if (auto grad = mlir::dyn_cast<td::Conv2DFilterGradOp>(op)) return IsSmall(grad.getX(), grad.getType());
  return false;
}

}  // namespace tandem
