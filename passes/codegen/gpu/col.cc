// Emits sums over the batch and further leading dimensions into columns. Neighbouring threads have neighbouring
// columns, and every thread adds up places a fixed distance apart; then the block adds up its threads, and the last
// block adds up the blocks.
//
// A sum with taps, the filter gradient of a convolution, has a sum per tap and column: a thread reads a number of dy
// once for all taps, whose sums are in registers. The image's numbers are the same for all columns of a place: threads
// side by side read them together.
#include "base/align.h"
#include "graph/ir/register_type.h"
#include "llvm/Support/MathExtras.h"
#include "passes/codegen/gpu/partial_sums.h"
#include "passes/codegen/op_weight.h"

namespace tandem {
namespace {

constexpr int64_t kColThreads = 256;
constexpr int64_t kMaxRange = 32;              // most runs (neighbouring columns of a thread) of one block
constexpr int64_t kMinPlaces = 8;              // least positions of the reduced dimensions that each thread adds up
constexpr int64_t kColBlocks = 1024;           // blocks that are enough to fill any GPU
constexpr int64_t kMaxPartialsOfColumn = 512;  // most partial sums of a column
constexpr int64_t kMaxSums = 64;               // most sums in a thread's registers, unless one column has more
constexpr int64_t kColumnSharedBytes = 40 << 10;

int64_t CeilOf(int64_t x, int64_t y) { return (x + y - 1) / y; }

class ColumnKernel : public PartialSums {
 public:
  using PartialSums::PartialSums;
  bool Takes() override { return is_of_loops() && columns_ && columns_->equal_columns; }

 private:
  struct Thread {
    mlir::Value x, y;        // number of this thread's run in the block, and of the thread among those of the run
    mlir::Value column;      // first column of the run
    mlir::Value has_column;  // false: there is no column left for this thread
  };
  // The columns of a block of threads: `range` runs of `width` neighbouring columns, with `lanes` threads for each run.
  struct Tile {
    int64_t columns;  // number of columns over all blocks
    int64_t range, lanes;
    int width;
  };
  // A sum that a thread adds up in each of its columns: a plain sum, or one tap of a sum with taps.
  struct Sum {
    unsigned partial;
    int64_t tap;
  };

  void EmitThread() override;
  void PlanSums(int64_t columns);
  // Returns what the element of the operand at `point` adds to `sum`.
  mlir::Value Addend(ElementEmitter& e, const Sum& sum, const Point& point);
  // Adds the elements in `width` columns from `column` on, at `places` of the reduced dimensions, to `sums`, which has
  // `width` sums for each of sums_.
  void SumColumns(ElementEmitter& e, const LinearSpace& space, mlir::Value column, int width,
                  llvm::ArrayRef<mlir::Value> places, std::vector<mlir::Value>& sums);
  // Adds up the sums of a block's threads and stores them: as partial sum `number`, or (null) as the results.
  void StoreColumns(ElementEmitter& e, const std::vector<mlir::Value>& sums, const Thread& thread, const Tile& tile,
                    mlir::Value number);

  std::vector<Sum> sums_;
};

void ColumnKernel::PlanSums(int64_t columns) {
  for (unsigned p = 0; p < partials_.size(); ++p) {
    for (int64_t tap = 0; tap < partials_[p].elements / columns; ++tap) sums_.push_back({p, tap});
  }
}

mlir::Value ColumnKernel::Addend(ElementEmitter& e, const Sum& sum, const Point& point) {
  mlir::Operation* op = results_[partials_[sum.partial].result].getDefiningOp();
  llvm::SmallVector<mlir::Value> at = IndicesAt(e, op->getLoc(), point, op->getOperand(0).getType());
  if (!IsColumnSum(op)) return e.Element(op->getLoc(), op->getOperand(0), at);
  at.append(TapIndices(op->getResult(0).getType(), sum.tap, at.back()));
  return e.Addend(op, at);
}

void ColumnKernel::SumColumns(ElementEmitter& e, const LinearSpace& space, mlir::Value column, int width,
                              llvm::ArrayRef<mlir::Value> places, std::vector<mlir::Value>& sums) {
  std::vector<Point> points;
  for (mlir::Value place : places) {
    for (Point& point : space.At(place, column, width)) points.push_back(std::move(point));
  }
  unsigned next = 0;
  for (const Sum& sum : sums_) {
    const td::ReduceKind kind = partials_[sum.partial].kind;
    for (int i = 0; i < width; ++i) {
      std::vector<mlir::Value> v;
      for (unsigned p = 0; p < places.size(); ++p) v.push_back(Addend(e, sum, points[p * width + i]));
      sums[next] = Combine(b_, loc_, kind, sums[next], CombinePairs(b_, loc_, kind, std::move(v)), false);
      ++next;
    }
  }
  if (!plain_results_.empty()) StorePoints(e, plain_results_, points);
}

void ColumnKernel::EmitThread() {
  const int64_t columns = columns_->columns, places = InnerSize(columns_->operand) / columns;
  int64_t sums_of_column = 0;
  for (unsigned r : batch_reduces_) sums_of_column += InnerSize(results_[r].getType()) / columns;
  int width = columns % 4 == 0 ? 4 : 1;
  while (width > 1 && width * sums_of_column > kMaxSums) width /= 2;
  const int64_t runs = columns / width;
  // A block of threads computes `range` runs of `width` neighbouring columns, with `lanes` threads for each run.
  const int64_t range = std::min(runs, kMaxRange), lanes = kColThreads / range, tiles = CeilOf(runs, range);
  int64_t partials =
      std::min({kMaxPartialsOfColumn, CeilOf(kColBlocks, tiles), CeilOf(rows_ * places, lanes * kMinPlaces)});
  partials = std::max<int64_t>(partials, 1);
  // Number of parts of a row that different blocks add up.
  const int64_t parts = CeilOf(partials, std::max<int64_t>(rows_, 1));
  const int64_t rows_per_block = parts > 1 ? 1 : CeilOf(std::max<int64_t>(rows_, 1), partials);
  const int64_t ranges = CeilOf(std::max<int64_t>(rows_, 1), rows_per_block);
  const int64_t places_per_part = CeilOf(places, parts);
  const bool direct = ranges * parts == 1;
  plan_.block = CeilOf(range * lanes, kWarp) * kWarp;
  plan_.items_per_block = rows_per_block;
  plan_.split = tiles * parts;
  plan_.blocks_per_processor = 1;
  PlanPartials(direct ? 0 : ranges * parts);
  PlanSums(columns);
  int64_t weight = 0;
  kernel_.walk([&](td::ElementalOp op) { weight += WeightOf(op).ops; });
  const int64_t unroll = weight <= 16 ? 4 : 1;

  Function([&](ElementEmitter& e) {
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
    // A thread without a column gets an empty range of places.
    last = Select(has_column, last, Int(0));

    const Space space = {.rows = Space::Rows::kLoop, .radices = KernelRadices(kernel_, columns_->operand)};
    // The number of the first digit that indexes columns. The digits of rows and of reduced dimensions come before it.
    const unsigned border = 1 + DigitsBefore(space.radices, columns);
    std::vector<mlir::Value> sums;
    for (const Sum& sum : sums_) {
      const Partial& partial = partials_[sum.partial];
      sums.insert(sums.end(), width, NeutralElement(b_, loc_, partial.kind, partial.type.getElementType()));
    }
    const LinearSpace linear(e, loc_, space, border, [&](const Point& point) {
      for (const Sum& sum : sums_) Addend(e, sum, point);
      StorePoints(e, plain_results_, {point});
    });
    sums = EmitUnrolled(*this, Add(first, y), last, lanes, unroll, sums,
                        [&](llvm::ArrayRef<mlir::Value> all, const std::vector<mlir::Value>& before) {
                          std::vector<mlir::Value> after = before;
                          SumColumns(e, linear, column, width, all, after);
                          return after;
                        });
    mlir::Value number = direct ? mlir::Value() : Add(Mul(Div(block_, plan_.split), parts), part);
    StoreColumns(e, sums, {x, y, column, has_column}, {columns, range, lanes, width}, number);
    if (direct) return;
    Arrival arrival;
    arrival.number = number;
    arrival.count = Mul(CeilDiv(Max(Sub(Number(1), Number(0)), Int(1)), rows_per_block), parts);
    arrival.most = ranges * parts;
    arrival.tile = tile;
    arrival.tiles = tiles;
    if (tiles > 1) {
      arrival.columns = columns;
      arrival.columns_of_tile = range * width;
    }
    AddUpPartials(e, arrival);
  });
}

void ColumnKernel::StoreColumns(ElementEmitter& e, const std::vector<mlir::Value>& sums, const Thread& thread,
                                const Tile& tile, mlir::Value number) {
  // Handles as many sums at a time as fit into shared memory together.
  const int64_t slots = tile.range * tile.width;
  const auto count = static_cast<unsigned>(sums_.size());
  auto partial = [&](unsigned s) -> const Partial& { return partials_[sums_[s].partial]; };
  auto table = [&](unsigned s) {
    return mlir::RankedTensorType::get({tile.lanes, slots}, partial(s).type.getElementType());
  };
  auto bytes = [&](unsigned s) {
    return tile.lanes * slots * std::max<int64_t>(4, partial(s).type.getElementTypeBitWidth() / 8);
  };
  auto column = [&](int i) { return i == 0 ? thread.column : Add(thread.column, Int(i)); };
  for (unsigned first = 0, last = 0; first < count; first = last) {
    std::vector<ElementEmitter::Buffer> buffers;
    int64_t used = 0;
    for (last = first; last < count && (last == first || used + bytes(last) <= kColumnSharedBytes); ++last) {
      buffers.push_back({Offset(shared_, Int(used))});
      used += AlignUp(bytes(last), 8);  // aligned, since doubles may follow
    }
    plan_.shared_bytes = std::max(plan_.shared_bytes, used);
    auto slot = [&](int i) { return Add(Mul(thread.x, tile.width), Int(i)); };
    mlir::Value has_lane = Less(thread.y, Int(tile.lanes));
    if (first > 0) device_.SyncBlock(loc_);
    If(has_lane, [&] {
      for (unsigned s = first; s < last; ++s) {
        for (int i = 0; i < tile.width; ++i) {
          e.Store(loc_, table(s), buffers[s - first], {thread.y, slot(i)}, sums[s * tile.width + i]);
        }
      }
    });
    device_.SyncBlock(loc_);
    for (int64_t half = llvm::PowerOf2Ceil(tile.lanes) / 2; half > 0; half /= 2) {
      If(And(Less(thread.y, Int(half)), Less(Add(thread.y, Int(half)), Int(tile.lanes))), [&] {
        for (unsigned s = first; s < last; ++s) {
          for (int i = 0; i < tile.width; ++i) {
            mlir::Type type = table(s);
            ElementEmitter::Buffer buffer = buffers[s - first];
            mlir::Value a = e.Load(loc_, type, buffer, {thread.y, slot(i)});
            mlir::Value b = e.Load(loc_, type, buffer, {Add(thread.y, Int(half)), slot(i)});
            e.Store(loc_, type, buffer, {thread.y, slot(i)}, Combine(b_, loc_, partial(s).kind, a, b, false));
          }
        }
      });
      device_.SyncBlock(loc_);
    }
    If(And(thread.has_column, Less(thread.y, Int(1))), [&] {
      for (unsigned s = first; s < last; ++s) {
        const Partial& of = partial(s);
        for (int i = 0; i < tile.width; ++i) {
          mlir::Value sum = e.Load(loc_, table(s), buffers[s - first], {Int(0), slot(i)});
          const int64_t tap = sums_[s].tap;
          Point point;
          point.digits.push_back({tap == 0 ? column(i) : Add(column(i), Int(tap * tile.columns)), of.elements});
          mlir::Type type = number ? mlir::Type(of.type) : results_[of.result].getType();
          auto at = IndicesAt(e, loc_, point, type);
          e.Store(loc_, type, number ? PartialBuffer(of, number) : ResultBuffer(of.result), at, sum);
        }
      }
    });
  }
  if (number || epilogue_results_.empty()) return;
  If(And(thread.has_column, Less(thread.y, Int(1))), [&] {
    for (int i = 0; i < tile.width; ++i) {
      Point point;
      point.digits.push_back({column(i), tile.columns});
      StoreEpilogue(e, epilogue_results_, {point});
    }
  });
}

}  // namespace

extern const GpuEmitter kGpuColumns = {"columns", MakeBuilder<ColumnKernel>};

}  // namespace tandem
