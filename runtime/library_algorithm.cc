#include "runtime/library_algorithm.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/library_call.h"

namespace tandem {
namespace {

constexpr int64_t kVector = 16;  // floats of a register
// Channels of a tile, and addresses of pixels (4 MiB), of direct filter gradients.
constexpr int64_t kTileChannels = 64, kMaxAddresses = 1 << 18;

bool IsFloat32(const fb::LibraryCallT& c) {
  for (fb::DType type : {c.x_dtype, c.kernel_dtype, c.y_dtype}) {
    if (LibraryType(type) != fb::DType::Float32) return false;
  }
  return true;
}

bool IsPointwise(const fb::LibraryCallT& c) {
  return c.kernel_shape[0] == 1 && c.kernel_shape[1] == 1 && Groups(c) == 1;
}

bool ComputesUnpackedGemm(const fb::LibraryCallT& c) {
  if (c.primitive != fb::Primitive::MatMul || c.kernel_shape.size() != 2) return false;
  const int64_t whole = c.transpose_b ? c.x_shape.back() : c.y_shape.back();
  return IsFloat32(c) && !c.packed && !c.epilogue.residual && !c.transpose_a && whole % kVector == 0;
}

bool ComputesDirectFilterGrad(const fb::LibraryCallT& c) {
  if (c.primitive != fb::Primitive::Conv2DFilterGrad || Groups(c) > 1) return false;
  const int64_t pixels = c.y_shape[0] * c.y_shape[1] * c.y_shape[2], taps = c.kernel_shape[0] * c.kernel_shape[1];
  return IsFloat32(c) && c.y_shape[3] % kTileChannels == 0 && pixels * taps <= kMaxAddresses;
}

bool ComputesPointwiseProduct(const fb::LibraryCallT& c) {
  const std::vector<int64_t> one = {1, 1}, none = {0, 0};
  return c.primitive == fb::Primitive::Conv2DFilterGrad && IsPointwise(c) && c.strides == one && c.pad_low == none &&
         c.pad_high == none;
}

bool ComputesDensePointwise(const fb::LibraryCallT& c) {
  const bool gradient = c.primitive == fb::Primitive::Conv2DInputGrad || c.primitive == fb::Primitive::Conv2DFilterGrad;
  return gradient && IsStridedPointwise(c);
}

bool Computes(const fb::LibraryCallT& c) {
  switch (c.algorithm) {
    case fb::Algorithm::Library:
      // The packed layout is the dense convolution's.
      return !c.packed || c.primitive != fb::Primitive::Conv2DInputGrad || !IsStridedPointwise(c);
    case fb::Algorithm::UnpackedGemm:
      return ComputesUnpackedGemm(c);
    case fb::Algorithm::DirectFilterGrad:
      return ComputesDirectFilterGrad(c);
    case fb::Algorithm::PointwiseProduct:
      return ComputesPointwiseProduct(c);
    case fb::Algorithm::DensePointwise:
      return ComputesDensePointwise(c);
    case fb::Algorithm::PackPanels:
      return c.primitive == fb::Primitive::PackWeights;
  }
  return false;
}

}  // namespace

absl::Status CheckAlgorithm(const fb::LibraryCallT& call) {
  if (Computes(call)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("the algorithm ", static_cast<int>(call.algorithm), " (",
                                                 fb::EnumNameAlgorithm(call.algorithm), ") does not compute a ",
                                                 fb::EnumNamePrimitive(call.primitive), " of these shapes and types"));
}

bool IsStridedPointwise(const fb::LibraryCallT& c) {
  if (c.kernel_shape.size() != 4 || !IsPointwise(c) || c.pad_low[0] != 0 || c.pad_low[1] != 0) return false;
  return std::max(c.strides[0], c.strides[1]) > 1 && (c.y_shape[1] - 1) * c.strides[0] < c.x_shape[1] &&
         (c.y_shape[2] - 1) * c.strides[1] < c.x_shape[2];
}

fb::LibraryCallT DensePointwise(const fb::LibraryCallT& call) {
  fb::LibraryCallT dense = call;
  dense.x_shape[1] = call.y_shape[1];
  dense.x_shape[2] = call.y_shape[2];
  dense.strides = {1, 1};
  dense.pad_high = {0, 0};
  dense.algorithm =
      call.primitive == fb::Primitive::Conv2DFilterGrad ? fb::Algorithm::PointwiseProduct : fb::Algorithm::Library;
  return dense;
}

}  // namespace tandem
