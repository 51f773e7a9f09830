#include "runtime/library_algorithm.h"

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "runtime/library_call.h"
#include "runtime/library_calls/conv2d.h"
#include "runtime/library_calls/matmul.h"

namespace tandem {
namespace {

constexpr int64_t kVector = 16;  // floats of a register
// Channels of a tile, and addresses of pixels (4 MiB), of direct filter gradients.
constexpr int64_t kTileChannels = 64, kMaxAddresses = 1 << 18;

bool ComputesUnpackedGemm(const fb::MatMulT* c) {
  if (c == nullptr || c->b_shape.size() != 2) return false;
  const int64_t whole = c->transpose_b ? c->a_shape.back() : c->y_shape.back();
  const bool is_float32 = c->a_dtype == fb::DType::Float32 && c->y_dtype == fb::DType::Float32;
  return is_float32 && !c->packed && !c->epilogue.residual && !c->transpose_a && whole % kVector == 0;
}

bool ComputesDirectFilterGrad(const fb::Conv2DT* c) {
  if (c == nullptr || c->direction != fb::Direction::FilterGrad || Groups(*c) > 1) return false;
  const int64_t pixels = RowsOf(c->y_shape), taps = c->kernel_shape[0] * c->kernel_shape[1];
  const bool is_float32 = c->x_dtype == fb::DType::Float32 && c->kernel_dtype == fb::DType::Float32;
  return is_float32 && c->y_shape[3] % kTileChannels == 0 && pixels * taps <= kMaxAddresses;
}

bool ComputesPointwiseProduct(const fb::Conv2DT* c) {
  return c != nullptr && c->direction == fb::Direction::FilterGrad && IsDensePointwise(*c);
}

bool ComputesDensePointwise(const fb::Conv2DT* c) {
  return c != nullptr && c->direction != fb::Direction::Forward && IsStridedPointwise(*c);
}

// The packed layout is the dense convolution's.
bool ComputesByLibrary(const fb::Conv2DT* c) {
  return c == nullptr || !c->packed || c->direction != fb::Direction::InputGrad || !IsStridedPointwise(*c);
}

bool Computes(const fb::LibraryCallT& c) {
  const fb::Conv2DT* conv = c.operation.AsConv2D();
  switch (c.algorithm) {
    case fb::Algorithm::Library:
      return ComputesByLibrary(conv);
    case fb::Algorithm::UnpackedGemm:
      return ComputesUnpackedGemm(c.operation.AsMatMul());
    case fb::Algorithm::DirectFilterGrad:
      return ComputesDirectFilterGrad(conv);
    case fb::Algorithm::PointwiseProduct:
      return ComputesPointwiseProduct(conv);
    case fb::Algorithm::DensePointwise:
      return ComputesDensePointwise(conv);
    case fb::Algorithm::PackPanels:
      return c.operation.AsPackWeights() != nullptr;
  }
  return false;
}

}  // namespace

absl::Status CheckAlgorithm(const fb::LibraryCallT& call) {
  if (Computes(call)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("the algorithm ", static_cast<int>(call.algorithm), " (",
                                                 fb::EnumNameAlgorithm(call.algorithm), ") does not compute a ",
                                                 InfoOf(call).name, " of these shapes and types"));
}

fb::LibraryCallT DensePointwiseCall(const fb::Conv2DT& conv) {
  fb::LibraryCallT dense;
  const bool product = conv.direction == fb::Direction::FilterGrad;
  dense.algorithm = product ? fb::Algorithm::PointwiseProduct : fb::Algorithm::Library;
  dense.operation.Set(DensePointwise(conv));
  return dense;
}

}  // namespace tandem
