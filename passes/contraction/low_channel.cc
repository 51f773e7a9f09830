// Computes a convolution of pictures (a model's stem) that has more taps than few_taps.cc takes, in a generated kernel
// of its own.
//
// oneDNN's kernels want 16 channels in: 1.3 instead of 2.7 ms for a picture of VGG16's first layer, 1.65 instead of 3
// for ResNet-50's (7x7, stride 2), on a loaded Intel Xeon.
#include "absl/strings/str_cat.h"
#include "graph/ir/contract.h"
#include "passes/contraction/candidate.h"
#include "passes/exec/contraction.h"

namespace tandem {
namespace {

constexpr int64_t kMinChannelsOut = 16;
constexpr int64_t kMaxDepth = 4;  // most input channels: red, green, blue and one more
// With up to so many taps the weights of four vectors of channels and a line of a picture stay in the first-level
// cache.
constexpr int64_t kMaxCachedTaps = 160;

std::optional<Weighing> WeighLowChannel(const Contraction& c) {
  auto conv = mlir::dyn_cast<td::Conv2DOp>(c.op);
  if (!conv || !c.target.generates_contractions()) return std::nullopt;
  const int64_t taps = exec::TapsOf(c.spec.kernel.getType());
  const int64_t depth = td::TypeOf(c.spec.kernel).getDimSize(2), channels = td::TypeOf(c.spec.kernel).getDimSize(3);
  if (!td::IsBatched(c.spec.x.getType())) return Unable("it is of batched images only");
  if (!IsFloat32(c.op)) return Unable("it computes in float32");
  if (taps <= exec::kMaxFusedTaps) return Unable(absl::StrCat(taps, " taps are at most ", exec::kMaxFusedTaps));
  const int64_t lines =
      exec::LinesBytes(conv.getX().getType(), conv.getKernel().getType(), conv.getPadLow(), conv.getPadHigh());
  if (lines > exec::kMaxLinesBytes) {
    return Unable(absl::StrCat("lines of so wide an image take ", lines, " bytes of a thread's stack, more than ",
                               exec::kMaxLinesBytes));
  }
  if (depth > kMaxDepth) return NotProfitable(absl::StrCat(depth, " channels in are more than ", kMaxDepth));
  if (channels < kMinChannelsOut) {
    return NotProfitable(absl::StrCat(channels, " channels out are fewer than ", kMinChannelsOut));
  }
  if (taps > kMaxCachedTaps) return NotProfitable(absl::StrCat(taps, " taps are more than ", kMaxCachedTaps));
  return Profitable();
}

}  // namespace

extern const Candidate kLowChannel = {exec::Algorithm::kLowChannel, Lowering::kInMaps, WeighLowChannel,
                                      LowerToContraction};

}  // namespace tandem
