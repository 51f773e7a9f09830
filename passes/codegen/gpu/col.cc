// Sums over the batch and further leading dimensions into columns: neighbouring threads have neighbouring columns, and
// every thread adds up places a fixed distance apart; then the block adds its threads, and the last block the blocks.
#include "graph/ir/register_type.h"
#include "llvm/Support/MathExtras.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/codegen/gpu/gpu_kernel_builder.h"
#include "passes/codegen/op_weight.h"

namespace tandem {
namespace {

constexpr int64_t kThreads = 256;
constexpr int64_t kMaxRange = 32;      // runs of columns that one block has
constexpr int64_t kMinPlaces = 8;      // that a thread should add up
constexpr int64_t kBlocks = 1024;      // enough for any GPU
constexpr int64_t kMaxPartials = 512;  // per column
constexpr int64_t kSharedBytes = 40 << 10;

int64_t CeilOf(int64_t x, int64_t y) { return (x + y - 1) / y; }

// Elements of one row that the reduction keeps apart when it keeps the trailing dimensions and nothing else, or 0.
int64_t TrailingColumns(mlir::Operation* op) {
  Reduction reduction;
  if (!GetReduction(op, reduction) || reduction.taps > 0) return 0;
  auto shape = mlir::cast<mlir::RankedTensorType>(op->getOperand(0).getType()).getShape();
  int64_t columns = 1, d = shape.size();
  while (d-- > 0 && !llvm::is_contained(reduction.axes, d)) columns *= shape[d];
  for (; d >= 0; --d) {
    if (!llvm::is_contained(reduction.axes, d)) return 0;
  }
  return columns;
}

}  // namespace

bool GpuKernelBuilder::FitsColumns() const {
  if (batch_reduces_.empty() || kind_ == exec::KernelKind::kOnce) return false;
  mlir::Operation* first = results_[batch_reduces_[0]].getDefiningOp();
  const int64_t size = InnerSize(first->getOperand(0).getType()), columns = TrailingColumns(first);
  if (columns < 2) return false;
  for (unsigned r : batch_reduces_) {
    mlir::Operation* op = results_[r].getDefiningOp();
    if (InnerSize(op->getOperand(0).getType()) != size || TrailingColumns(op) != columns) return false;
  }
  for (unsigned r : plain_results_) {
    if (InnerSize(results_[r].getType()) != size) return false;
  }
  bool fits = true;
  const_cast<mlir::func::FuncOp&>(kernel_).walk(
      [&](mlir::Operation* op) { fits &= !IsReduceOp(op) || IsBatchReduce(op); });
  return fits;
}

void GpuKernelBuilder::SumColumns(ElementEmitter& e, const LinearSpace& space, mlir::Value column, int width,
                                  llvm::ArrayRef<mlir::Value> places, std::vector<mlir::Value>& sums) {
  std::vector<Point> points;
  for (mlir::Value place : places) {
    for (Point& point : space.At(place, column, width)) points.push_back(std::move(point));
  }
  unsigned next = 0;
  for (const Partial& partial : partials_) {
    mlir::Operation* op = results_[partial.result].getDefiningOp();
    for (int i = 0; i < width; ++i) {
      std::vector<mlir::Value> v;
      for (unsigned p = 0; p < places.size(); ++p) {
        auto at = IndicesAt(e, op->getLoc(), points[p * width + i], op->getOperand(0).getType());
        v.push_back(e.Element(op->getLoc(), op->getOperand(0), at));
      }
      for (size_t n = v.size(); n > 1; n /= 2) {
        for (size_t k = 0; k < n / 2; ++k) v[k] = Combine(b_, loc_, partial.kind, v[2 * k], v[2 * k + 1], false);
      }
      sums[next] = Combine(b_, loc_, partial.kind, sums[next], v[0], false);
      ++next;
    }
  }
  if (!plain_results_.empty()) StorePoints(e, plain_results_, points);
}

void GpuKernelBuilder::EmitColumnKernel() {
  mlir::Operation* first_op = results_[batch_reduces_[0]].getDefiningOp();
  mlir::Type operand = first_op->getOperand(0).getType();
  const int64_t columns = TrailingColumns(first_op), places = InnerSize(operand) / columns;
  const int width = columns % 4 == 0 ? 4 : 1;
  const int64_t runs = columns / width;
  // A block: `range` runs of columns by `lanes` threads for each.
  const int64_t range = std::min(runs, kMaxRange), lanes = kThreads / range, tiles = CeilOf(runs, range);
  int64_t partials = std::min({kMaxPartials, CeilOf(kBlocks, tiles), CeilOf(rows_ * places, lanes * kMinPlaces)});
  partials = std::max<int64_t>(partials, 1);
  const int64_t parts = CeilOf(partials, std::max<int64_t>(rows_, 1));  // of one row's places
  const int64_t rows_per_block = parts > 1 ? 1 : CeilOf(std::max<int64_t>(rows_, 1), partials);
  const int64_t ranges = CeilOf(std::max<int64_t>(rows_, 1), rows_per_block);
  const int64_t places_per_part = CeilOf(places, parts);
  const bool direct = ranges * parts == 1;
  plan_.block = CeilOf(range * lanes, kWarp) * kWarp;
  plan_.items_per_block = rows_per_block;
  plan_.split = tiles * parts;
  plan_.blocks_per_processor = 1;
  PlanPartials(direct ? 0 : ranges * parts);
  int64_t weight = 0;
  kernel_.walk([&](td::ElementalOp op) { weight += WeightOf(op).ops; });
  const int64_t unroll = weight <= 16 ? 4 : 1;

  Function(symbol_, [&](ElementEmitter& e) {
    shared_ = device_.Shared(loc_);
    mlir::Value part = Div(Rem(block_, plan_.split), tiles), tile = Rem(Rem(block_, plan_.split), tiles);
    mlir::Value x = Rem(thread_, range), y = Div(thread_, range);
    mlir::Value run = Add(Mul(tile, range), x);
    mlir::Value has_column = And(Less(run, Int(runs)), Less(y, Int(lanes)));
    mlir::Value column = Mul(Min(run, Int(runs - 1)), width);
    mlir::Value rows_begin = Add(Number(0), Mul(Div(block_, plan_.split), rows_per_block));
    mlir::Value rows_end = Min(Number(1), Add(rows_begin, Int(rows_per_block)));
    mlir::Value first = Mul(rows_begin, places), last = Mul(rows_end, places);
    if (parts > 1) {
      first = Add(first, Mul(part, places_per_part));
      last = Min(last, Add(first, Int(places_per_part)));
    }
    // Threads without a column have no places.
    last = b_.create<mlir::arith::SelectOp>(loc_, has_column, last, Int(0));

    Space space;
    space.rows = Space::Rows::kLoop;
    space.radices = KernelRadices(kernel_, operand);
    const unsigned border = 1 + DigitsBefore(space.radices, columns);  // behind the rows and what is no column
    std::vector<mlir::Value> sums;
    for (const Partial& partial : partials_) {
      for (int i = 0; i < width; ++i) {
        sums.push_back(NeutralElement(b_, loc_, partial.kind, partial.type.getElementType()));
      }
    }
    const LinearSpace linear(e, loc_, space, border, [&](const Point& point) {
      for (const Partial& partial : partials_) {
        mlir::Operation* op = results_[partial.result].getDefiningOp();
        e.Element(loc_, op->getOperand(0), IndicesAt(e, loc_, point, op->getOperand(0).getType()));
      }
      StorePoints(e, plain_results_, {point});
    });
    sums = EmitUnrolled(e, loc_, Add(first, y), last, lanes, unroll, sums,
                        [&](llvm::ArrayRef<mlir::Value> all, const std::vector<mlir::Value>& before) {
                          std::vector<mlir::Value> after = before;
                          SumColumns(e, linear, column, width, all, after);
                          return after;
                        });
    mlir::Value number = direct ? mlir::Value() : Add(Mul(Div(block_, plan_.split), parts), part);
    StoreColumns(e, sums, {x, y, column, has_column}, width, range, lanes, number);
    if (direct) return;
    Arrival arrival;
    arrival.number = number;
    arrival.count = Mul(CeilDiv(Max(Sub(Number(1), Number(0)), Int(1)), rows_per_block), parts);
    arrival.most = ranges * parts;
    arrival.tile = tile;
    arrival.tiles = tiles;
    arrival.begin = Mul(tile, range * width);
    arrival.end = Min(Add(arrival.begin, Int(range * width)), Int(columns));
    AddUpPartials(e, arrival);
  });
}

void GpuKernelBuilder::StoreColumns(ElementEmitter& e, const std::vector<mlir::Value>& sums, const ColumnThread& thread,
                                    int width, int64_t range, int64_t lanes, mlir::Value number) {
  // Results that fit together into shared memory, one after the other.
  const int64_t slots = range * width;
  auto table = [&](const Partial& p) { return mlir::RankedTensorType::get({lanes, slots}, p.type.getElementType()); };
  auto bytes = [&](const Partial& p) {
    return lanes * slots * std::max<int64_t>(4, p.type.getElementTypeBitWidth() / 8);
  };
  for (unsigned first = 0, last = 0; first < partials_.size(); first = last) {
    std::vector<ElementEmitter::Buffer> buffers;
    int64_t used = 0;
    for (last = first; last < partials_.size() && (last == first || used + bytes(partials_[last]) <= kSharedBytes);
         ++last) {
      buffers.push_back({Offset(shared_, Int(used))});
      used += bytes(partials_[last]);
    }
    plan_.shared_bytes = std::max(plan_.shared_bytes, used);
    auto slot = [&](int i) { return Add(Mul(thread.x, width), Int(i)); };
    mlir::Value has_lane = Less(thread.y, Int(lanes));
    if (first > 0) device_.SyncBlock(loc_);
    EmitIf(e, loc_, has_lane, [&] {
      for (unsigned p = first; p < last; ++p) {
        for (int i = 0; i < width; ++i) {
          e.Store(loc_, table(partials_[p]), buffers[p - first], {thread.y, slot(i)}, sums[p * width + i]);
        }
      }
    });
    device_.SyncBlock(loc_);
    for (int64_t half = llvm::PowerOf2Ceil(lanes) / 2; half > 0; half /= 2) {
      EmitIf(e, loc_, And(Less(thread.y, Int(half)), Less(Add(thread.y, Int(half)), Int(lanes))), [&] {
        for (unsigned p = first; p < last; ++p) {
          for (int i = 0; i < width; ++i) {
            mlir::Type type = table(partials_[p]);
            ElementEmitter::Buffer buffer = buffers[p - first];
            mlir::Value a = e.Load(loc_, type, buffer, {thread.y, slot(i)});
            mlir::Value b = e.Load(loc_, type, buffer, {Add(thread.y, Int(half)), slot(i)});
            e.Store(loc_, type, buffer, {thread.y, slot(i)}, Combine(b_, loc_, partials_[p].kind, a, b, false));
          }
        }
      });
      device_.SyncBlock(loc_);
    }
    EmitIf(e, loc_, And(thread.has_column, Less(thread.y, Int(1))), [&] {
      for (unsigned p = first; p < last; ++p) {
        const Partial& partial = partials_[p];
        for (int i = 0; i < width; ++i) {
          mlir::Value sum = e.Load(loc_, table(partial), buffers[p - first], {Int(0), slot(i)});
          Point point;
          point.digits.push_back({i == 0 ? thread.column : Add(thread.column, Int(i)), partial.elements});
          mlir::Type type = number ? mlir::Type(partial.type) : results_[partial.result].getType();
          auto at = IndicesAt(e, loc_, point, type);
          e.Store(loc_, type, number ? PartialBuffer(partial, number) : ResultBuffer(partial.result), at, sum);
        }
      }
    });
  }
  if (number || epilogue_results_.empty()) return;
  EmitIf(e, loc_, And(thread.has_column, Less(thread.y, Int(1))), [&] {
    for (int i = 0; i < width; ++i) {
      Point point;
      point.digits.push_back({i == 0 ? thread.column : Add(thread.column, Int(i)), partials_[0].elements});
      StoreEpilogue(e, epilogue_results_, {point});
    }
  });
}

}  // namespace tandem
