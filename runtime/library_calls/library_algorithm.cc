#include "runtime/library_calls/library_algorithm.h"

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "runtime/library_calls/conv2d.h"
#include "runtime/library_calls/library_call.h"
#include "runtime/library_calls/matmul.h"

namespace tandem {
namespace {

constexpr int64_t kVector = 16;  // floats of a vector register
// For direct filter gradients: channels of a tile, and the largest number of pixel addresses (4 MiB).
constexpr int64_t kTileChannels = 64, kMaxAddresses = 1 << 18;

bool ComputesUnpackedGemm(const format::MatMul* c) {
  if (c == nullptr || c->b_shape.size() != 2) return false;
  const int64_t whole = c->transpose_b ? c->a_shape.back() : c->y_shape.back();
  const bool is_float32 = c->a_dtype == DType::kFloat32 && c->y_dtype == DType::kFloat32;
  return is_float32 && !c->packed && !c->epilogue.residual && !c->transpose_a && whole % kVector == 0;
}

bool ComputesDirectFilterGrad(const format::Conv2D* c) {
  if (c == nullptr || c->direction != format::Direction::kFilterGrad || Groups(*c) > 1) return false;
  const int64_t pixels = RowsOf(c->y_shape), taps = c->kernel_shape[0] * c->kernel_shape[1];
  const bool is_float32 = c->x_dtype == DType::kFloat32 && c->kernel_dtype == DType::kFloat32;
  return is_float32 && c->y_shape[3] % kTileChannels == 0 && pixels * taps <= kMaxAddresses;
}

bool ComputesPointwiseProduct(const format::Conv2D* c) {
  return c != nullptr && c->direction == format::Direction::kFilterGrad && IsDensePointwise(*c);
}

bool ComputesDensePointwise(const format::Conv2D* c) {
  return c != nullptr && c->direction != format::Direction::kForward && IsStridedPointwise(*c);
}

// The library cannot compute the input gradient of a strided 1x1 convolution with packed weights, because their layout
// is always that for the dense convolution.
bool ComputesByLibrary(const format::Conv2D* c) {
  return c == nullptr || !c->packed || c->direction != format::Direction::kInputGrad || !IsStridedPointwise(*c);
}

bool Computes(const format::LibraryCall& c) {
  const format::Conv2D* conv = c.operation.As<format::Conv2D>();
  switch (c.algorithm) {
    case format::Algorithm::kLibrary:
      return ComputesByLibrary(conv);
    case format::Algorithm::kUnpackedGemm:
      return ComputesUnpackedGemm(c.operation.As<format::MatMul>());
    case format::Algorithm::kDirectFilterGrad:
      return ComputesDirectFilterGrad(conv);
    case format::Algorithm::kPointwiseProduct:
      return ComputesPointwiseProduct(conv);
    case format::Algorithm::kDensePointwise:
      return ComputesDensePointwise(conv);
    case format::Algorithm::kPackPanels:
      return c.operation.As<format::PackWeights>() != nullptr;
    default:
      return false;
  }
}

}  // namespace

absl::Status CheckAlgorithm(const format::LibraryCall& call) {
  if (Computes(call)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("the algorithm ", static_cast<int>(call.algorithm), " (",
                                                 format::Name(call.algorithm), ") does not compute a ",
                                                 InfoOf(call).name, " of these shapes and types"));
}

format::LibraryCall DensePointwiseCall(const format::Conv2D& conv) {
  format::LibraryCall dense;
  const bool product = conv.direction == format::Direction::kFilterGrad;
  dense.algorithm = product ? format::Algorithm::kPointwiseProduct : format::Algorithm::kLibrary;
  dense.operation = DensePointwise(conv);
  return dense;
}

}  // namespace tandem
