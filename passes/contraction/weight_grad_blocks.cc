// Computes large weight gradients of dense layers and convolutions in blocks of rows, behind the maps (the loops over
// microbatches).
//
// In a map every lane (a part of the batch) writes a whole weight gradient into its slot, its memory for sums, and all
// slots are then read to be combined: for a matrix of 1024 x 1024 and a batch of 128 that takes longer than the
// multiplications. exec.contraction stands behind the map instead, which keeps the operands; any thread computes any
// block of the result, lane by lane, and combines the lanes while the block is in the first-level cache. The choice
// depends on the global batch, not on devices. GPUs have one lane.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "graph/ir/contract.h"
#include "graph/ir/reference_util.h"
#include "passes/analysis/cost_model.h"
#include "passes/codegen/weight_grad_stack.h"
#include "passes/contraction/candidate.h"

namespace tandem {
namespace {

// Smaller results stay in the cache of the core that computes them, so computing one for each lane is fast.
constexpr int64_t kMinElements = 1 << 16;
// With fewer columns of the result, the kernel's vector registers would be partly empty.
constexpr int64_t kMinColumns = 32;
// Most bytes that kernels may keep on the stack: threads have stacks of some MiB.
constexpr int64_t kMaxDenseStackBytes = int64_t{1} << 19, kMaxImageStackBytes = 5 * (int64_t{1} << 18);
// The most elements of operands that maps may keep for the whole batch, as a multiple of the result's elements. More
// would cost as much writing and reading as four lanes' copies of the result.
constexpr int64_t kMaxDenseKept = 2, kMaxImageKept = 3;
constexpr double kBlockRate = 0.9;  // fraction of the library's rate; measured on ResNet-50's last stage

bool ReadsBFloat16(const Contraction& c) { return td::TypeOf(c.op->getOperand(0)).getElementType().isBF16(); }

int64_t GlobalBatch(const Contraction& c) { return c.config.getBatch() * c.config.getReplicas(); }

// Returns the rows of all lanes, counting lanes as full even if they do not share the batch evenly.
int64_t RowsOfLanes(const Contraction& c) {
  const int64_t batch = GlobalBatch(c), lanes = std::max<int64_t>(1, c.config.getLanes());
  return (batch + lanes - 1) / lanes * lanes;
}

// Returns why the op, a sum of products of `x` and `dy` over the batch, cannot be computed by a kernel that needs
// `stack` bytes of stack; "" if it can.
std::string WhyNoBlocks(const Contraction& c, mlir::Value x, mlir::Value dy, int64_t stack, int64_t max_stack) {
  if (!td::IsBatched(x.getType()) || !td::IsBatched(dy.getType())) return "it sums over the batch";
  const mlir::Type element = td::TypeOf(x).getElementType();
  if (!element.isF32() && !element.isBF16()) return "it reads float32 and bfloat16";
  if (!td::TypeOf(c.op->getResult(0)).getElementType().isF32()) return "its gradients are float32";
  if (stack > max_stack) {
    return absl::StrCat("so long a batch takes ", stack, " bytes of a thread's stack, more than ", max_stack);
  }
  return "";
}

// Returns why computing a gradient for each lane, inside the maps, is expected to be faster; "" if it is not. The
// result has `elements` elements in `columns` columns, and `kept` elements of operands would have to be kept for the
// whole batch.
std::string WhyLanes(int64_t elements, int64_t columns, int64_t kept, int64_t max_kept) {
  if (elements < kMinElements) return absl::StrCat("a gradient of ", elements, " elements stays in a core's cache");
  if (columns < kMinColumns) return absl::StrCat(columns, " columns are fewer than ", kMinColumns);
  if (kept > max_kept * elements) {
    return absl::StrCat("the batch's operands have ", kept, " elements, more than ", max_kept, " times as many as the ",
                        "gradient");
  }
  return "";
}

// Returns the expected seconds of a row with `flops` operations and `kept` elements.
double BlockSeconds(const Contraction& c, double flops, int64_t kept) {
  const int64_t bytes = (ReadsBFloat16(c) ? 2 : 4) * kept;
  return flops / (kBlockRate * c.machine.library_f32) + 2 * static_cast<double>(bytes) / c.machine.dram_bandwidth;
}

// Returns the expected seconds of a row by the fastest algorithm that computes a gradient for each lane.
double LaneSeconds(const Contraction& c, int64_t flops, int64_t elements) {
  const double rows = static_cast<double>(c.microbatches.rows), count = static_cast<double>(c.microbatches.count);
  double seconds = static_cast<double>(flops) / (ReadsBFloat16(c) ? c.machine.library_bf16 : c.machine.library_f32);
  const std::optional<Weighing> winograd = kWinograd.weigh(c);
  if (winograd && winograd->able) seconds = std::min(seconds, winograd->seconds / rows);
  // A gradient is written to a lane's memory for sums (slot), read when the next one is added, and read again when
  // lanes are combined. All lanes' slots are touched in turn, with as many other bytes in between.
  const double slot_bytes = 4 * static_cast<double>(elements);
  return seconds + 3 * slot_bytes / Bandwidth(c.machine, 2 * count * slot_bytes) / rows;
}

// Returns the verdict for `blocks` and `lanes` expected seconds for a row.
Weighing Faster(const Contraction& c, double blocks, double lanes) {
  const double microbatch = blocks * static_cast<double>(c.microbatches.rows);
  if (blocks < lanes) return Profitable(microbatch);
  return NotProfitable("lanes are faster, with the time to combine their gradients", microbatch);
}

std::optional<Weighing> WeighProduct(const Contraction& c, td::MatMulOp op) {
  mlir::RankedTensorType result = td::TypeOf(op.getResult());
  if (!op.getTransposeA() || op.getTransposeB() || result.getRank() != 2) return std::nullopt;
  const int64_t batch = GlobalBatch(c), x = td::RowElements(op.getA().getType()),
                dy = td::RowElements(op.getB().getType());
  const int64_t depth = RowsOfLanes(c) * (x / result.getDimSize(0));
  std::string why = WhyNoBlocks(c, op.getA(), op.getB(), WeightGradStackBytes(depth), kMaxDenseStackBytes);
  if (!why.empty()) return Unable(std::move(why));
  const int64_t elements = result.getNumElements();
  const double blocks = BlockSeconds(c, static_cast<double>(op.getFlops()), x + dy);
  why = WhyLanes(elements, result.getDimSize(1), batch * (x + dy), kMaxDenseKept);
  if (!why.empty()) return NotProfitable(std::move(why), blocks * static_cast<double>(c.microbatches.rows));
  return Faster(c, blocks, LaneSeconds(c, op.getFlops(), elements));
}

// Returns the number of pixels of dy along dimension `d` for which place `tap` of the window is inside the image.
int64_t PixelsInside(td::Conv2DFilterGradOp op, int d, int64_t tap) {
  const int64_t size = td::TypeOf(op.getX()).getDimSize(d + 1), out = td::TypeOf(op.getDy()).getDimSize(d + 1);
  int64_t inside = 0;
  for (int64_t i = 0; i < out; ++i) {
    const int64_t at = i * op.getStrides()[d] + tap - op.getPadLow()[d];
    inside += at >= 0 && at < size;
  }
  return inside;
}

// Returns the operations of one row, without products by padding.
double ImageFlops(td::Conv2DFilterGradOp op) {
  double pixels[2] = {0, 0};
  for (int d = 0; d < 2; ++d) {
    for (int64_t tap = 0; tap < op.getSize()[d]; ++tap) pixels[d] += static_cast<double>(PixelsInside(op, d, tap));
  }
  const int64_t channels = td::TypeOf(op.getX()).getDimSize(3) * td::TypeOf(op.getDy()).getDimSize(3);
  return 2 * pixels[0] * pixels[1] * static_cast<double>(channels);
}

std::optional<Weighing> WeighImages(const Contraction& c, td::Conv2DFilterGradOp op) {
  llvm::ArrayRef<int64_t> x = td::TypeOf(op.getX()).getShape(), dy = td::TypeOf(op.getDy()).getShape();
  const int64_t batch = GlobalBatch(c), taps = op.getSize()[0] * op.getSize()[1];
  const int64_t rows = RowsOfLanes(c);
  const int64_t stack = ConvWeightGradStackBytes(taps, rows * x[1] * x[2], rows * dy[1] * dy[2]);
  std::string why = WhyNoBlocks(c, op.getX(), op.getDy(), stack, kMaxImageStackBytes);
  if (!why.empty()) return Unable(std::move(why));
  const int64_t elements = td::TypeOf(op.getResult()).getNumElements();
  const int64_t kept = td::RowElements(op.getX().getType()) + td::RowElements(op.getDy().getType());
  const double blocks = BlockSeconds(c, ImageFlops(op), kept);
  why = WhyLanes(elements, dy[3], batch * kept, kMaxImageKept);
  if (!why.empty()) return NotProfitable(std::move(why), blocks * static_cast<double>(c.microbatches.rows));
  return Faster(c, blocks, LaneSeconds(c, op.getFlops(), elements));
}

std::optional<Weighing> WeighWeightGradBlocks(const Contraction& c) {
  if (!c.target.generates_contractions()) return std::nullopt;
  if (auto product = mlir::dyn_cast<td::MatMulOp>(c.op)) return WeighProduct(c, product);
  auto images = mlir::dyn_cast<td::Conv2DFilterGradOp>(c.op);
  return images ? WeighImages(c, images) : std::nullopt;
}

}  // namespace

extern const Candidate kWeightGradBlocks = {exec::Algorithm::kWeightGradBlocks, Lowering::kBeforeMaps,
                                            WeighWeightGradBlocks, LowerToContraction};

}  // namespace tandem
