// A convolution of few taps, or its filter gradient, as part of a generated kernel.
//
// A 3x3 convolution of a grey image does nine multiply-adds per output: less than it costs to write the output and to
// read it again for the pooling behind it. In a kernel it fuses with bias, relu and pooling, and its filter gradient
// with what makes the output's gradient, so that neither is ever stored. The gradient to the input stays with others:
// the input of a first layer has none. Nor is the filter gradient on GPUs a kernel's: one thread would sum it over all
// pixels of many images.
#include "absl/strings/str_cat.h"
#include "graph/ir/contract.h"
#include "passes/contraction/candidate.h"
#include "passes/contraction/direct_convolution.h"
#include "passes/exec/direct.h"

namespace tandem {
namespace {

constexpr int64_t kMinChannels = 8;  // columns of output channels that fill vector registers

std::optional<Weighing> Weigh(const Contraction& c) {
  if (!mlir::isa<td::Conv2DOp, td::Conv2DFilterGradOp>(c.op)) return std::nullopt;
  if (mlir::isa<td::Conv2DFilterGradOp>(c.op) && !c.target.sums_with_taps()) return std::nullopt;
  const mlir::Type kernel = c.spec.kernel.getType();
  const int64_t taps = exec::TapsOf(kernel), channels = td::TypeOf(c.spec.kernel).getDimSize(3);
  if (taps > exec::kMaxFusedTaps) return Unable(absl::StrCat(taps, " taps are more than ", exec::kMaxFusedTaps));
  if (!td::IsBatched(c.spec.x.getType())) return Unable("it is of batched images only");
  // Of a bfloat16 image a library makes a float32 gradient, a kernel does not.
  if (!IsFloat32(c.op)) return Unable("it computes in float32");
  if (channels < kMinChannels) {
    return NotProfitable(absl::StrCat(channels, " channels out are fewer than ", kMinChannels));
  }
  return Profitable();
}

}  // namespace

extern const Candidate kFewTaps = {exec::Algorithm::kFewTaps, Lowering::kInMaps, Weigh, LowerToDirect};

}  // namespace tandem
