// Emits sums over the batch and further leading dimensions into columns: loops over the reduced dimensions outside,
// over columns inside.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/codegen/kernel_builder.h"
#include "passes/codegen/op_weight.h"
#include "passes/codegen/reduction.h"
#include "passes/codegen/stream_fetch.h"

namespace tandem {
namespace {

// A row with at least kMinPositions places per column is summed up by itself before it is added to the sum of the rows
// before: the rounding error of a sum grows with the number of addends in a chain. The sums of a row, of up to
// kMaxPartialBytes, are on the stack.
constexpr int64_t kMinPositions = 64;
constexpr int64_t kMaxPartialBytes = 1 << 15;

// Operands whose rows have fewer bytes than this are not prefetched, since they are expected in a near cache: a sum
// that read 400 KB a row at 100 GB/s ran at 60 with prefetching.
constexpr int64_t kMinFetchedBytes = 1 << 19;
// The least distance, in elements, at which memory is prefetched: about what arrives during the latency of one line.
constexpr int64_t kFetchAhead = 1024;
// Columns in a cache line of float32. After so many columns the loop prefetches one line: the same columns, some places
// further on.
constexpr int64_t kFetchColumns = 16;

// Returns the number of turns of a loop over static dimensions of a space with rows.
int64_t SizeOf(const Space& space, const LoopGroup& group) {
  int64_t size = 1;
  for (unsigned k = group.first; k <= group.last; ++k) size *= space.radices[k - 1];
  return size;
}

}  // namespace

void KernelBuilder::SumColumn(ElementEmitter& e, unsigned result, const Reduction& reduction,
                              llvm::ArrayRef<Point> points) {
  mlir::Operation* op = results_[result].getDefiningOp();
  std::vector<mlir::Value> v;
  for (const Point& point : points) {
    auto at = IndicesAt(e, loc_, point, op->getOperand(0).getType());
    v.push_back(e.Element(op->getLoc(), op->getOperand(0), at));
  }
  auto at = IndicesAt(e, loc_, points[0], op->getOperand(0).getType());
  llvm::SmallVector<mlir::Value> column;
  for (int64_t d = 0; d < static_cast<int64_t>(at.size()); ++d) {
    if (!llvm::is_contained(reduction.axes, d)) column.push_back(at[d]);
  }
  mlir::Type type = results_[result].getType();
  ElementEmitter::Buffer buffer = accumulators_[result];
  mlir::Value all = CombinePairs(b_, loc_, reduction.kind, std::move(v)), sum = e.Load(loc_, type, buffer, column);
  e.Store(loc_, type, buffer, column, Combine(b_, loc_, reduction.kind, sum, all, /*reassociate=*/false));
}

void KernelBuilder::SumTaps(ElementEmitter& e, unsigned result, llvm::ArrayRef<Point> points) {
  mlir::Operation* op = results_[result].getDefiningOp();
  auto type = mlir::cast<mlir::RankedTensorType>(results_[result].getType());
  const int64_t taps = type.getNumElements() / type.getShape().back();
  for (int64_t tap = 0; tap < taps; ++tap) {
    llvm::SmallVector<mlir::Value> kept;
    mlir::Value sum;
    for (const Point& point : points) {
      llvm::SmallVector<mlir::Value> at = IndicesAt(e, loc_, point, op->getOperand(0).getType());
      if (kept.empty()) kept = TapIndices(type, tap, at.back());
      at.append(kept);
      // If addends are products, the sum becomes a chain of multiply-adds.
      mlir::Value addend = e.Addend(op, at);
      sum = sum ? Combine(b_, op->getLoc(), td::ReduceKind::kSum, sum, addend, /*reassociate=*/false) : addend;
    }
    mlir::Value before = e.Load(loc_, type, accumulators_[result], kept);
    e.Store(loc_, type, accumulators_[result], kept,
            Combine(b_, op->getLoc(), td::ReduceKind::kSum, before, sum, /*reassociate=*/false));
  }
}

bool KernelBuilder::SumsPerRow() const {
  int64_t bytes = 0;
  for (unsigned r : batch_reduces_) {
    mlir::Operation* op = results_[r].getDefiningOp();
    const Reduction reduction = *ReductionOf(op);
    mlir::Type type = results_[r].getType();
    if (reduction.kind != td::ReduceKind::kSum || !mlir::getElementTypeOrSelf(type).isF32()) return false;
    if (InnerSize(op->getOperand(0).getType()) / ColumnsOf(op, reduction) < kMinPositions) return false;
    bytes += 4 * InnerSize(type);
  }
  return bytes <= kMaxPartialBytes;
}

void KernelBuilder::EmitRowSums(ElementEmitter& e, const std::function<void()>& body) {
  EmitNeutral(e);
  body();
  ForEachSum(e, [&](unsigned r, mlir::ValueRange at) {
    mlir::Type type = results_[r].getType();
    mlir::Value sum = e.Load(loc_, type, ResultBuffer(r), at), row = e.Load(loc_, type, accumulators_[r], at);
    e.Store(loc_, type, ResultBuffer(r), at, Combine(b_, loc_, td::ReduceKind::kSum, sum, row, /*reassociate=*/false));
  });
}

std::vector<Stream> KernelBuilder::Streams(int64_t size) {
  auto in_order = [](mlir::Operation* user) {
    return td::FusionKindOf(user) == td::FusionKind::kElementwise || IsBatchReduce(user);
  };
  std::vector<Stream> streams;
  auto add = [&](mlir::Value tensor, mlir::Value pointer, bool written) {
    streams.push_back({pointer, StorageType(mlir::getElementTypeOrSelf(tensor.getType())), written});
  };
  for (mlir::BlockArgument v : kernel_.getArguments()) {
    if (td::IsBatched(v.getType()) && InnerSize(v.getType()) == size && llvm::all_of(v.getUsers(), in_order)) {
      add(v, f_.getArgument(v.getArgNumber()), false);
    }
  }
  for (unsigned r : plain_results_) add(results_[r], ResultBuffer(r).pointer, true);
  int64_t bytes = 0;
  for (const Stream& stream : streams) bytes += size * stream.storage.getIntOrFloatBitWidth() / 8;
  if (bytes < kMinFetchedBytes) streams.clear();
  return streams;
}

void KernelBuilder::EmitColumnKernel() {
  Begin(symbol_ + ".body", 3);
  Space space = {.rows = Space::Rows::kLoop, .begin = Number(0), .end = Number(1)};
  ElementEmitter e(b_, Number(2));
  BindOperands(e);
  EmitNeutral(e);
  const bool per_row = SumsPerRow();
  for (unsigned r : batch_reduces_) {
    if (per_row) accumulators_[r] = {Stack(b_.getF32Type(), InnerSize(results_[r].getType()))};
  }
  space.radices = Radices(columns_->operand);
  const int64_t columns = columns_->columns;
  // `points`: consecutive places of the reduced dimensions at one column. A sum that keeps further dimensions has one
  // column for each of their places.
  auto body = [&](llvm::ArrayRef<Point> points) {
    for (const Point& point : points) {
      for (unsigned r : plain_results_) {
        auto at = IndicesAt(e, loc_, point, results_[r].getType());
        e.Store(loc_, results_[r].getType(), ResultBuffer(r), at, e.Element(loc_, results_[r], at));
      }
    }
    for (unsigned r : batch_reduces_) {
      mlir::Operation* op = results_[r].getDefiningOp();
      const Reduction reduction = *ReductionOf(op);
      if (reduction.taps > 0) {
        SumTaps(e, r, points);
      } else if (ColumnsOf(op, reduction) == columns) {
        SumColumn(e, r, reduction, points);
      } else {
        for (const Point& point : points) SumColumn(e, r, reduction, point);
      }
    }
  };
  // With sums per row, the loop over rows may not be merged with the loops inside.
  auto groups = PlanLoops(e, loc_, space, per_row ? llvm::ArrayRef<unsigned>{0u} : llvm::ArrayRef<unsigned>(),
                          [&](const Point& p) { body(p); });

  unsigned first_column = groups.size();
  for (int64_t size = 1; first_column > 1; --first_column) {
    size *= SizeOf(space, groups[first_column - 1]);
    if (size > columns) break;
  }
  int64_t weight = 0;
  kernel_.walk([&](td::ElementalOp op) { weight += WeightOf(op).ops; });
  // Sums with several elements per column (taps) are unrolled even if they are long, since what the taps have in common
  // is then computed once.
  const bool taps = llvm::any_of(batch_reduces_, [&](unsigned r) { return IsColumnSum(results_[r].getDefiningOp()); });
  const int64_t unroll = first_column == groups.size() ? 1 : taps || weight <= 8 ? 8 : weight <= 16 ? 4 : 1;

  // Emits a loop over `width` neighbouring columns at `points`, which lie side by side. It prefetches as many places
  // further on as there are points.
  const std::vector<Stream> streams = Streams(InnerSize(columns_->operand));
  // Each step covers whole cache lines of bfloat16 numbers too.
  const int64_t fetch_columns = unroll == 1 ? 2 * kFetchColumns : kFetchColumns;
  auto emit_fetching = [&](const std::vector<Point>& points, int64_t width) {
    llvm::SmallVector<mlir::Value> place;
    llvm::SmallVector<int64_t> dims;
    for (const Digit& d : points[0].digits) {
      place.push_back(d.value);
      dims.push_back(d.radix);
    }
    const int64_t places = points.size();
    const int64_t ahead = std::max(places * width, kFetchAhead);
    mlir::Value next = Add(Mul(e.indices().Linearize(loc_, place, dims), width), ahead), zero = Int(0);
    For(zero, Int(width), fetch_columns, [&](mlir::Value start) {
      EmitFetch(*this, streams, Add(next, Mul(start, places)), places * fetch_columns);
      For(zero, Int(fetch_columns), 1, [&](mlir::Value variable) {
        std::vector<Point> inner = points;
        mlir::Value column = Add(start, variable);
        for (Point& point : inner) point.digits.append(DigitsOf(e, loc_, space, groups.back(), column));
        body(inner);
      });
    });
  };

  std::function<void(unsigned, std::vector<Point>)> emit = [&](unsigned depth, std::vector<Point> points) {
    if (depth == groups.size()) return body(points);
    if (!streams.empty() && depth == first_column && depth + 1 == groups.size() &&
        points.size() == static_cast<size_t>(unroll)) {
      const int64_t width = SizeOf(space, groups[depth]);
      if (width % fetch_columns == 0) return emit_fetching(points, width);
    }
    LoopBounds bounds = BoundsOf(e, loc_, space, groups[depth]);
    auto loop = [&](LoopBounds part, int64_t step) {
      For(part.begin, part.end, step, [&](mlir::Value variable) {
        std::vector<Point> next;
        for (const Point& point : points) {
          for (int64_t i = 0; i < step; ++i) {
            next.push_back(point);
            next.back().digits.append(DigitsOf(e, loc_, space, groups[depth], Add(variable, i)));
          }
        }
        if (depth == 0 && per_row) {
          EmitRowSums(e, [&] { emit(depth + 1, next); });
        } else {
          emit(depth + 1, next);
        }
      });
    };
    if (depth + 1 != first_column || unroll == 1) return loop(bounds, 1);
    // First whole blocks of `unroll` places, then the rest one by one.
    mlir::Value count = Sub(bounds.end, bounds.begin);
    mlir::Value rest = b_.create<mlir::arith::RemSIOp>(loc_, count, Int(unroll)), middle = Sub(bounds.end, rest);
    loop({bounds.begin, middle}, unroll);
    loop({middle, bounds.end}, 1);
  };
  emit(0, {Point{}});
  status_.Update(e.status);
  EndFunction();
}

}  // namespace tandem
