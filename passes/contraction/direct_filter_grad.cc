// Computes a filter gradient as products [taps x channels in, pixels] x [pixels, channels out] over the pixels of all
// images, whose addresses are listed once (runtime/cpu/kernels/direct_filter_grad.h).
//
// oneDNN's kernels go along rows of pixels, which are short in small images, and write a layout of their own that has
// to be reordered. How wide images may be is the machine model's direct_filter_grad_width: on an Intel Xeon few pixels,
// and a gradient that stays in the second-level cache; on Zen 4 images of any size. Rates of single shapes are in
// docs/measurements.
#include "absl/strings/str_cat.h"
#include "passes/contraction/candidate.h"

namespace tandem {
namespace {

Weighing WeighDirectFilterGrad(const format::LibraryCall& call, const CallContext& context) {
  constexpr int64_t kMinChannels = 16, kMinPixels = 32;
  // A gradient of up to kMaxCached elements stays in the second-level cache. Machines whose direct_filter_grad_width is
  // at most kSmallWidth gain only with such gradients; machines with a larger width were measured to gain with any
  // size.
  constexpr int64_t kMaxCached = 1 << 17, kSmallWidth = 13;
  if (!context.avx512) return NotProfitable(kNoAvx512);
  const format::Conv2D& conv = *call.operation.As<format::Conv2D>();
  const int64_t pixels = conv.y_shape[0] * conv.y_shape[1] * conv.y_shape[2];
  const int64_t taps = conv.kernel_shape[0] * conv.kernel_shape[1], in = conv.x_shape[3], out = conv.y_shape[3];
  const auto max_width = static_cast<int64_t>(context.machine.direct_filter_grad_width);
  if (conv.y_shape[2] > max_width) {
    return NotProfitable(
        absl::StrCat("images of ", conv.y_shape[2], " pixels a row are wider than the machine model's ", max_width));
  }
  if (max_width <= kSmallWidth && taps * in * out > kMaxCached) {
    return NotProfitable(absl::StrCat("a gradient of ", taps * in * out,
                                      " elements leaves the second-level cache: more than ", kMaxCached));
  }
  if (pixels < kMinPixels)
    return NotProfitable(absl::StrCat("sums of ", pixels, " pixels are shorter than ", kMinPixels));
  if (in < kMinChannels) return NotProfitable(absl::StrCat(in, " channels in are fewer than ", kMinChannels));
  return taps > 1 ? Profitable() : NotProfitable("a 1x1 kernel has one tap");
}

}  // namespace

extern const Candidate kDirectFilterGrad = {exec::Algorithm::kDirectFilterGrad, Lowering::kInCall, nullptr, nullptr,
                                            WeighDirectFilterGrad};

}  // namespace tandem
