// Sums over the batch: what blocks or warps leave in `scratch`, and the function that adds it up.
#include "base/align.h"
#include "graph/ir/register_type.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/codegen/gpu/gpu_kernel_builder.h"

namespace tandem {
namespace {

// Threads of a block of the finish function: neighbouring columns, and lanes that share a column's parts.
constexpr int64_t kColumns = kWarp, kLanes = 16, kUnroll = 4;

}  // namespace

void GpuKernelBuilder::PlanPartials(int64_t rows_per_partial, int64_t partials_per_range, int64_t most) {
  rows_per_partial_ = rows_per_partial;
  partials_per_range_ = partials_per_range;
  for (unsigned r : batch_reduces_) {
    auto type = mlir::cast<mlir::RankedTensorType>(results_[r].getType());
    Reduction reduction;
    GetBatchReduction(results_[r].getDefiningOp(), reduction);
    mlir::Type element = td::RegisterType(type.getElementType());  // not rounded before the sum is whole
    const int64_t elements = InnerSize(type), bytes = (StorageType(element).getIntOrFloatBitWidth() + 7) / 8;
    partials_.push_back(
        {r, reduction.kind, elements, plan_.scratch_bytes, mlir::RankedTensorType::get(type.getShape(), element)});
    plan_.scratch_bytes += AlignUp(most * elements * bytes, 256);
  }
}

ElementEmitter::Buffer GpuKernelBuilder::PartialBuffer(const Partial& partial, mlir::Value number) {
  const int64_t bytes = (StorageType(partial.type.getElementType()).getIntOrFloatBitWidth() + 7) / 8;
  return {Offset(Scratch(), Add(Mul(number, partial.elements * bytes), Int(partial.offset)))};
}

void GpuKernelBuilder::EmitFinish() {
  plan_.finish_symbol = symbol_ + "_finish";
  plan_.finish_block = kColumns * kLanes;
  plan_.shared_bytes = std::max<int64_t>(plan_.shared_bytes, 8 * kColumns * kLanes);
  int64_t tiles = 0;
  Function(plan_.finish_symbol, [&](ElementEmitter& e) {
    shared_ = device_.Shared(loc_);
    mlir::Value column = Rem(thread_, kColumns), lane = Div(thread_, kColumns);
    mlir::Value count = Mul(CeilDiv(Sub(Number(1), Number(0)), rows_per_partial_), partials_per_range_);
    for (const Partial& partial : partials_) {
      const int64_t first = tiles;
      tiles += (partial.elements + kColumns - 1) / kColumns;
      mlir::Type element = partial.type.getElementType(), type = results_[partial.result].getType();
      auto combine = [&](mlir::Value x, mlir::Value y) { return Combine(b_, loc_, partial.kind, x, y, false); };
      // Whole blocks go one way, so that all of its threads meet.
      mlir::Value mine = And(Less(Int(first - 1), block_), Less(block_, Int(tiles)));
      EmitIf(e, loc_, mine, [&] {
        mlir::Value k = Add(Mul(Sub(block_, Int(first)), kColumns), column);
        mlir::Value inside = Less(k, Int(partial.elements));
        k = Min(k, Int(partial.elements - 1));
        auto all = mlir::RankedTensorType::get({mlir::ShapedType::kDynamic, partial.elements}, element);
        mlir::Value sum =
            EmitUnrolled(e, loc_, lane, count, kLanes, kUnroll, {NeutralElement(b_, loc_, partial.kind, element)},
                         [&](llvm::ArrayRef<mlir::Value> numbers, const std::vector<mlir::Value>& before) {
                           std::vector<mlir::Value> v;
                           for (mlir::Value p : numbers) {
                             v.push_back(e.Load(loc_, all, {Offset(Scratch(), Int(partial.offset))}, {p, k}));
                           }
                           for (size_t n = v.size(); n > 1; n /= 2) {
                             for (size_t i = 0; i < n / 2; ++i) v[i] = combine(v[2 * i], v[2 * i + 1]);
                           }
                           return std::vector<mlir::Value>{combine(before[0], v[0])};
                         })[0];
        auto lanes = mlir::RankedTensorType::get({kLanes, kColumns}, element);
        e.Store(loc_, lanes, {shared_}, {lane, column}, sum);
        device_.SyncBlock(loc_);
        EmitIf(e, loc_, And(inside, Less(lane, Int(1))), [&] {
          mlir::Value total;
          for (int64_t i = 0; i < kLanes; ++i) {
            mlir::Value part = e.Load(loc_, lanes, {shared_}, {Int(i), column});
            total = total ? combine(total, part) : part;
          }
          Point point;
          if (partial.elements > 1) point.digits.push_back({k, partial.elements});
          e.Store(loc_, type, ResultBuffer(partial.result), IndicesAt(e, loc_, point, type), total);
        });
      });
    }
  });
  plan_.finish_grid = tiles;
}

}  // namespace tandem
