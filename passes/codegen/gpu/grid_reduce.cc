// Emits reductions of whole tensors to single numbers, such as the norm of a gradient: every block reduces its share,
// and the last block adds up the blocks' sums and computes the kernel's other results from them.
#include "passes/codegen/gpu/gpu_kernel_builder.h"

namespace tandem {
namespace {

constexpr int64_t kGridReduceThreads = 256;
constexpr int64_t kMinDomain = 1 << 15;  // least elements of a tensor; for fewer, one block is as fast
constexpr int64_t kElements = 4 * 8 * kGridReduceThreads;  // elements of one block
constexpr int64_t kMaxBlocks = 512;
constexpr int64_t kMaxResult = 1 << 12;            // most elements of a result, since the last block writes it alone
constexpr int64_t kPartialBytes = 8 * kMaxBlocks;  // bytes of scratch memory for one sum: a partial sum for each block

// Returns the type of the table of one sum's partial sums, one for each block.
mlir::Type TableOf(int64_t blocks, mlir::Type element) { return mlir::RankedTensorType::get({blocks}, element); }

// Returns the offset of the finished sums in shared memory. In front of them are the areas that the reductions use.
int64_t SumsOffset(int64_t sums) { return sums * kReduceAreaBytes; }

class GridReduceKernel : public GpuKernelBuilder {
 public:
  using GpuKernelBuilder::GpuKernelBuilder;
  bool Takes() override;

 private:
  void EmitThread() override;
  // Emits the work of the last block: it adds up the partial sums of `values` that all blocks have stored, with types
  // `types`.
  void AddUpGrid(ElementEmitter& e, const Team& block, llvm::ArrayRef<mlir::Value> values,
                 llvm::ArrayRef<mlir::Type> types, int64_t blocks);
};

bool GridReduceKernel::Takes() {
  if (has_rows() || !Check().ok()) return false;
  const std::vector<mlir::Value> values = StagedValues(kernel_, /*batched=*/false);
  int64_t domain = 0;
  for (mlir::Value v : values) {
    const std::optional<Reduction> reduction = ReductionOf(v.getDefiningOp());
    if (!reduction || reduction->taps > 0 || InnerSize(v.getType()) != 1) return false;
    if (DependsOn(v, [&](mlir::Value other) { return llvm::is_contained(values, other); })) return false;
    domain = std::max(domain, InnerSize(v.getDefiningOp()->getOperand(0).getType()));
  }
  const bool small = llvm::all_of(results_, [](mlir::Value v) { return InnerSize(v.getType()) <= kMaxResult; });
  return domain >= kMinDomain && small;
}

void GridReduceKernel::EmitThread() {
  const std::vector<mlir::Value> values = StagedValues(kernel_, /*batched=*/false);
  const auto count = static_cast<int64_t>(values.size());
  int64_t domain = 0;
  for (mlir::Value v : values) domain = std::max(domain, InnerSize(v.getDefiningOp()->getOperand(0).getType()));
  const int64_t blocks = std::min(kMaxBlocks, (domain + kElements - 1) / kElements);
  plan_.block = kGridReduceThreads;
  plan_.split = blocks;
  plan_.blocks_per_processor = 4;
  plan_.scratch_bytes = count * kPartialBytes;
  plan_.shared_bytes = SumsOffset(count) + 16 * count;
  std::vector<mlir::Type> types;
  Function([&](ElementEmitter& e) {
    Team block;
    block.size = kGridReduceThreads;
    block.lane = thread_;
    block.number = block_;
    shared_ = device_.Shared(loc_);
    mlir::Value lane = Add(Mul(block_, kGridReduceThreads), thread_);
    for (int64_t i = 0; i < count; ++i) {
      mlir::Operation* op = values[i].getDefiningOp();
      const Reduction reduction = *ReductionOf(op);
      auto at = IndicesAt(e, op->getLoc(), Point{}, values[i].getType());
      mlir::Value sum = ReduceAcross(e, op, reduction, at, lane, blocks * kGridReduceThreads);
      sum = CombineAcrossBlock(e, block, reduction.kind, sum, i * kReduceAreaBytes);
      types.push_back(sum.getType());
      If(Less(thread_, Int(1)), [&] {
        e.Store(loc_, TableOf(blocks, sum.getType()), {Offset(Scratch(), Int(i * kPartialBytes))}, {block_}, sum);
      });
    }
    If(IsLastBlock(e, Int(0), Int(blocks)), [&] { AddUpGrid(e, block, values, types, blocks); });
  });
}

void GridReduceKernel::AddUpGrid(ElementEmitter& e, const Team& block, llvm::ArrayRef<mlir::Value> values,
                                 llvm::ArrayRef<mlir::Type> types, int64_t blocks) {
  const auto count = static_cast<int64_t>(values.size());
  const int64_t sums = SumsOffset(count);
  std::vector<unsigned> late = plain_results_;
  for (int64_t i = 0; i < count; ++i) {
    mlir::Value v = values[i];
    const td::ReduceKind kind = ReductionOf(v.getDefiningOp())->kind;
    auto combine = [&](mlir::Value x, mlir::Value y) { return Combine(b_, loc_, kind, x, y, false); };
    mlir::Value sum = For(thread_, Int(blocks), kGridReduceThreads, {NeutralElement(b_, loc_, kind, types[i])},
                          [&](mlir::Value p, const std::vector<mlir::Value>& before) -> std::vector<mlir::Value> {
                            return {combine(before[0], e.Load(loc_, TableOf(blocks, types[i]),
                                                              {Offset(Scratch(), Int(i * kPartialBytes))}, {p}))};
                          })[0];
    for (int mask = kWarp / 2; mask > 0; mask /= 2) sum = combine(sum, device_.ShuffleXor(loc_, sum, mask));
    sum = CombineAcrossBlock(e, block, kind, sum, i * kReduceAreaBytes);
    ElementEmitter::Buffer buffer = {Offset(shared_, Int(sums + 16 * i))};
    const std::optional<unsigned> result = TakeResult(v, late);
    If(Less(thread_, Int(1)), [&] {
      auto at = IndicesAt(e, loc_, Point{}, v.getType());
      e.Store(loc_, v.getType(), buffer, at, sum);
      if (result) e.Store(loc_, v.getType(), ResultBuffer(*result), at, sum);
    });
    device_.SyncBlock(loc_);
    e.Bind(v, buffer);
  }
  for (const auto& group : GroupBySize(results_, late)) {
    ForElements(e, block, Space{}, results_[group[0]].getType(),
                [&](llvm::ArrayRef<Point> points) { StorePoints(e, group, points); });
  }
}

}  // namespace

extern const GpuEmitter kGpuGridReduce = {"reductions over the grid", MakeBuilder<GridReduceKernel>};

}  // namespace tandem
