// Emits elementwise kernels: every thread takes runs of four neighbouring elements, which are loaded and stored as one.
#include "passes/codegen/gpu/gpu_kernel_builder.h"
#include "passes/codegen/op_weight.h"

namespace tandem {
namespace {

constexpr int64_t kLoopThreads = 256;
// Elements of one block: one run of 4 per thread; or four runs, if so many blocks then remain that they fill any GPU
// several times.
constexpr int64_t kFewElements = 4 * kLoopThreads, kManyElements = 4 * kFewElements;
constexpr int64_t kManyBlocks = 2048;

class LoopKernel : public GpuKernelBuilder {
 public:
  using GpuKernelBuilder::GpuKernelBuilder;
  bool Takes() override {
    const auto reduces = [](mlir::Operation& op) { return IsReduceOp(&op); };
    return is_elementwise() || (!has_rows() && llvm::none_of(kernel_.getBody().front(), reduces));
  }

 private:
  void EmitThread() override;
  void EmitStores(ElementEmitter& e, const std::vector<unsigned>& which, mlir::Value rows_begin, mlir::Value rows_end);
};

void LoopKernel::EmitStores(ElementEmitter& e, const std::vector<unsigned>& which, mlir::Value rows_begin,
                            mlir::Value rows_end) {
  const Space space = {.rows = rows_begin ? Space::Rows::kLoop : Space::Rows::kNone,
                       .begin = rows_begin,
                       .end = rows_end,
                       .radices = KernelRadices(kernel_, results_[which[0]].getType())};
  const LinearSpace linear(e, loc_, space, /*border=*/0, [&](const Point& point) { StorePoints(e, which, {point}); });
  const int64_t row = linear.size(), width = linear.width();
  mlir::Value begin = rows_begin ? Mul(rows_begin, row) : Int(0), end = rows_begin ? Mul(rows_end, row) : Int(row);
  // The bounds of rows [begin, end) as numbers of runs, counted from the start of the buffer.
  mlir::Value first = Div(begin, width), last = CeilDiv(end, width);
  int64_t step = plan_.block;
  if (plan_.split > 1 && rows_begin) {
    // A row that begins in the middle of a run touches one more run.
    const int64_t runs = (row + width - 1) / width + (row % width != 0 ? 1 : 0);
    const int64_t part = (runs + plan_.split - 1) / plan_.split;
    first = Add(first, Mul(Rem(block_, plan_.split), part));
    last = Min(last, Add(first, Int(part)));
  } else if (plan_.split > 1) {
    first = Mul(block_, plan_.block);
    step *= plan_.split;
  }
  For(Add(first, thread_), last, step, [&](mlir::Value run) {
    mlir::Value base = Mul(run, width);
    auto whole = [&] { StorePoints(e, which, linear.At(base, static_cast<int>(width))); };
    if (row % width == 0) return whole();
    mlir::Value next = Add(base, Int(width));
    If(And(Less(Sub(begin, Int(1)), base), Less(next, Add(end, Int(1)))), whole, [&] {
      For(Max(base, begin), Min(next, end), 1,
          [&](mlir::Value element) { StorePoints(e, which, linear.At(element, 1)); });
    });
  });
}

void LoopKernel::EmitThread() {
  const bool batched = has_rows();
  int64_t row = 1;
  for (unsigned r : plain_results_) row = std::max(row, InnerSize(results_[r].getType()));
  // How many elements a launch of a flat kernel has is not known here. Its blocks are small, so that the update of a
  // small variable is spread over many threads.
  const bool many = batched && kind_ != exec::KernelKind::kFlat && rows_ * row / kManyElements >= kManyBlocks;
  const int64_t target = many ? kManyElements : kFewElements;
  plan_.block = kLoopThreads;
  plan_.blocks_per_processor = 4;
  if (row * (batched ? rows_ : 1) <= kWarp && kind_ != exec::KernelKind::kFlat) plan_.block = kWarp;
  plan_.items_per_block = batched ? std::max<int64_t>(1, target / row) : 1;
  plan_.split = (row + target - 1) / target;
  Function([&](ElementEmitter& e) {
    mlir::Value begin, end;
    if (batched) {
      begin = Add(Number(0), Mul(Div(block_, plan_.split), plan_.items_per_block));
      end = Min(Number(1), Add(begin, Int(plan_.items_per_block)));
    }
    for (const auto& group : GroupBySize(results_, plain_results_)) EmitStores(e, group, begin, end);
  });
}

}  // namespace

extern const GpuEmitter kGpuLoop = {"loops", MakeBuilder<LoopKernel>};

}  // namespace tandem
