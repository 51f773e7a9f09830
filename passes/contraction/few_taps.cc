// Computes a convolution of few taps, or its filter gradient, as part of a generated kernel.
//
// A 3x3 convolution of a grey image does nine multiply-adds per output: less than it costs to write the output and to
// read it again for the pooling behind it. In a kernel the convolution fuses with bias, relu and pooling, and its
// filter gradient with the ops that compute the output's gradient, so that neither is ever stored. The gradient to the
// input is left to other candidates, since the input of a first layer has none.
//
// On GPUs the sums of a filter gradient are in the registers of threads, for up to four columns each, and each number
// of dy is read once for all taps. An estimate for an H100, which no GPU has confirmed: with up to 16 taps a warp
// issues some 110 instructions for 128 numbers of dy. A multiprocessor issues four instructions in a cycle, and in a
// cycle 14.5 bytes come from memory, so computing takes less time than reading. With 27 taps a kernel takes half as
// long again. A library without tensor cores takes longer than that, and also changes layouts; one with tensor cores is
// limited by memory alone.
#include "absl/strings/str_cat.h"
#include "graph/ir/contract.h"
#include "passes/contraction/candidate.h"
#include "passes/exec/contraction.h"

namespace tandem {
namespace {

constexpr int64_t kMinChannels = 8;  // least output channels, so that they fill vector registers

// Limits of a filter gradient whose sums are in registers.
constexpr int64_t kMaxSummedTaps = 32;
constexpr int64_t kMaxSummedDepth = 4;

// True if a GPU's library multiplies rounded numbers (TensorFloat-32 or bfloat16), for which there are tensor cores.
bool HasTensorCores(exec::CompileConfigAttr config) {
  return config.getTf32() || config.getPrecision() == Precision::kMixedBfloat16;
}

std::optional<Weighing> WeighFewTaps(const Contraction& c) {
  if (!mlir::isa<td::Conv2DOp, td::Conv2DFilterGradOp>(c.op)) return std::nullopt;
  const bool in_registers = mlir::isa<td::Conv2DFilterGradOp>(c.op) && !c.target.sums_with_taps();
  const int64_t most = in_registers ? kMaxSummedTaps : exec::kMaxFusedTaps;
  const int64_t taps = exec::TapsOf(c.spec.kernel.getType()), depth = td::TypeOf(c.spec.kernel).getDimSize(2),
                channels = td::TypeOf(c.spec.kernel).getDimSize(3);
  if (taps > most) return Unable(absl::StrCat(taps, " taps are more than ", most));
  if (!td::IsBatched(c.spec.x.getType())) return Unable("it is of batched images only");
  // A library can make float32 gradients from bfloat16 images; this kernel cannot.
  if (!IsFloat32(c.op)) return Unable("it computes in float32");
  if (in_registers && depth > kMaxSummedDepth) {
    return NotProfitable(absl::StrCat(depth, " channels in are more than ", kMaxSummedDepth));
  }
  if (in_registers && taps > exec::kMaxFusedTaps && HasTensorCores(c.config)) {
    return NotProfitable(
        absl::StrCat("a library multiplies ", taps, " taps, more than ", exec::kMaxFusedTaps, ", on tensor cores"));
  }
  if (channels < kMinChannels) {
    return NotProfitable(absl::StrCat(channels, " channels out are fewer than ", kMinChannels));
  }
  return Profitable();
}

}  // namespace

extern const Candidate kFewTaps = {exec::Algorithm::kFewTaps, Lowering::kInMaps, WeighFewTaps, LowerToContraction};

}  // namespace tandem
