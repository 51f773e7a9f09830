// Attention after FlashAttention-2 (Dao 2023): a block of threads has 64 queries of a head, takes keys and values block
// by block through shared memory, and keeps the weights in registers, where a product's numbers lie as those of a left
// factor do. The gradient computes the weights again from the scores' largest value and sum. It is one launch without
// sums between blocks, so that its bits repeat: some blocks have 64 queries and make their gradients, others have 64
// keys and make those of keys and values.
#include <limits>

#include "absl/strings/str_cat.h"
#include "graph/ir/attention.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/codegen/gpu/gpu_kernel_builder.h"
#include "passes/codegen/gpu/matrix_tiles.h"

namespace tandem {
namespace {

namespace arith = mlir::arith;
namespace LLVM = mlir::LLVM;
using mlir::Value;
using Tile = MatrixTiles::Tile;
using Rows = MatrixTiles::Rows;
using Values = MatrixTiles::Values;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int64_t kSharedBytes = 48 << 10;  // that a block may have without asking

int64_t Blocks(int64_t positions) { return (positions + kTileRows - 1) / kTileRows; }

// Rows of so many numbers can be multiplied.
bool Fits(int64_t size) { return size % 16 == 0 && size <= 128; }

// Of a query in the gradient.
enum Statistic { kLargest, kReciprocal, kDot, kStatistics };

// How many rows go through shared memory at a time beside a block's own ones.
int64_t RowsAtOnce(const AttentionShape& s, bool gradient) {
  if (!gradient) return kTileRows;
  for (int64_t rows = kTileRows; rows > kWarpRows; rows /= 2) {
    const int64_t tiles = MatrixTiles::TileBytes(kTileRows + rows, s.size + s.value_size + 8);
    if (tiles + kStatistics * kTileRows * 4 <= kSharedBytes) return rows;
  }
  return kWarpRows;
}

// A td.attention or td.attention_grad, and the buffers of its kernel.
struct Attention {
  template <typename Op>
  Attention(Op op, llvm::ArrayRef<Value> operands, llvm::ArrayRef<Value> results)
      : shape(td::AttentionShapeOf(op.getQuery(), op.getKey(), op.getValue(), op.getHeadsInside())),
        scale(op.getScale().convertToDouble()),
        low(op.getLow().convertToDouble()),
        causal(op.getCausal()) {
    query = operands[0], key = operands[1], value = operands[2];
    if (mlir::isa<td::AttentionGradOp>(op.getOperation())) {
      output = operands[3], largest = operands[4], sum = operands[5], dy = operands[6];
      dquery = results[0], dkey = results[1], dvalue = results[2];
    } else {
      output = results[0], largest = results[1], sum = results[2];
    }
    if (!op.getKeep()) return;
    keep = operands.back();
    keep_is_by_query = td::TypeOf(op.getKeep()).getRank() == 3;
  }

  // With `keep`, the scores of later positions are numbers like others.
  bool skips_later_keys() const { return causal && !keep; }

  AttentionShape shape;
  double scale, low;
  bool causal;
  Value query, key, value, output, largest, sum, dy, dquery, dkey, dvalue;
  Value keep;  // null where there is none
  bool keep_is_by_query = false;
};

class AttentionEmitter {
 public:
  AttentionEmitter(const Attention& attention, mlir::OpBuilder& b, mlir::Location loc, Device& device, Value thread,
                   Value example)
      : a_(attention),
        s_(attention.shape),
        b_(b),
        v_(b, loc, /*width=*/1),
        device_(device),
        tiles_(v_, device, thread),
        thread_(thread),
        example_(example),
        shared_(device.Shared(loc)) {}

  // `part`: which of an example's blocks this is.
  void Forward(Value part) {
    head_ = v_.Div(part, Blocks(s_.queries));
    Value first = v_.Mul(v_.Rem(part, Blocks(s_.queries)), kTileRows);
    const Tile keys = {shared_, s_.size}, values = {After(keys, kTileRows), s_.value_size};
    // The queries pass where keys will be.
    tiles_.Load(QueryRows(a_.query, s_.size), first, kTileRows, keys);
    Sync();
    const std::vector<Device::Pairs> queries = tiles_.LoadLeft(keys);

    Values state = tiles_.Zeros(s_.value_size);  // then, for both rows of a thread, the largest score and the sum
    state.insert(state.end(), {Number(-kInfinity), Number(-kInfinity), Number(0), Number(0)});
    state = v_.For(v_.Int(0), EndOfKeys(first), kTileRows, state, [&](Value k, const Values& before) {
      Sync();
      tiles_.Load(KeyRows(a_.key, s_.size), k, kTileRows, keys);
      tiles_.Load(KeyRows(a_.value, s_.value_size), k, kTileRows, values);
      Sync();
      Values products = tiles_.MeetRows([&](int64_t c) { return queries[c / 16]; }, keys, kTileRows);
      return Mix(Scores(products, {first, k, kTileRows}).scores, values, before);
    });
    Sync();
    Finish(std::move(state), {shared_, s_.value_size}, first);
  }

  void Gradient(Value part) {
    const int64_t of_queries = Blocks(s_.queries), blocks = of_queries + Blocks(s_.keys);
    head_ = v_.Div(part, blocks);
    Value block = v_.Rem(part, blocks);
    v_.If(
        v_.Within(block, of_queries), [&] { QueryGradients(v_.Mul(block, kTileRows)); },
        [&] { KeyGradients(v_.Mul(v_.Sub(block, v_.Int(of_queries)), kTileRows)); });
  }

 private:
  // Products of rows with columns, of which there are `columns`: of queries [row, ...) with keys [column, ...), or the
  // other way round.
  struct Block {
    Value row, column;
    int64_t columns;
    bool columns_are_queries = false;
  };
  struct Scored {
    Values scores;
    Values kept;  // which scores are products; empty: all
  };

  void Sync() { device_.SyncBlock(v_.loc()); }
  Value Number(double n) { return tiles_.Number(n); }
  Value Exp(Value x) { return device_.Exp(v_.loc(), x); }
  Value Larger(Value a, Value b) { return b_.create<arith::MaxNumFOp>(v_.loc(), a, b); }
  Value Reciprocal(Value x) { return b_.create<arith::DivFOp>(v_.loc(), Number(1), x); }
  Value Compare(arith::CmpIPredicate how, Value a, Value b) { return b_.create<arith::CmpIOp>(v_.loc(), how, a, b); }
  Value AtMost(Value a, Value b) { return Compare(arith::CmpIPredicate::sle, a, b); }
  // Combines what `threads` neighbouring threads have, in each of them.
  Value Across(Value x, int threads, const std::function<Value(Value, Value)>& combine) {
    for (int mask = 1; mask < threads; mask *= 2) x = combine(x, device_.ShuffleXor(v_.loc(), x, mask));
    return x;
  }
  Value SumAcross(Value x, int threads) {
    return Across(x, threads, [&](Value a, Value b) { return v_.AddF(a, b); });
  }
  Value LoadNumber(Value address) { return b_.create<LLVM::LoadOp>(v_.loc(), b_.getF32Type(), address); }
  void StoreNumber(Value x, Value address) { b_.create<LLVM::StoreOp>(v_.loc(), x, address); }

  // Memory behind `rows` rows of a tile.
  Value After(const Tile& tile, int64_t rows) { return v_.At16(tile.pointer, rows * tile.stride()); }

  Rows RowsOf(Value tensor, int64_t positions, int64_t width) {
    Value of_example = v_.At16(tensor, v_.Mul(example_, s_.heads * positions * width));
    return {v_.At16(of_example, v_.Mul(head_, s_.head_stride(positions, width))), s_.position_stride(width), width,
            positions};
  }
  Rows QueryRows(Value tensor, int64_t width) { return RowsOf(tensor, s_.queries, width); }
  Rows KeyRows(Value tensor, int64_t width) { return RowsOf(tensor, s_.keys, width); }

  // Where a query's number is.
  Value StatisticOf(Value tensor, Value query) {
    return v_.At(tensor, v_.Add(v_.Mul(v_.Add(v_.Mul(example_, s_.heads), head_), s_.queries), query));
  }

  // Behind the last key that the queries of a block attend to.
  Value EndOfKeys(Value first_query) {
    Value all = v_.Int(s_.keys);
    return a_.skips_later_keys() ? v_.Min(all, v_.Add(first_query, kTileRows)) : all;
  }

  // Row and column of a product's number `i` on this thread.
  Value RowAt(const Block& block, int64_t i) { return v_.Add(v_.Add(block.row, tiles_.row()), i % 4 / 2 * 8); }
  Value ColumnAt(const Block& block, int64_t i) {
    return v_.Add(v_.Add(block.column, tiles_.column()), i / 4 * 8 + i % 2);
  }

  // Whether the score of a query and a key is their product, where a mask says it: of any position, also behind the
  // last one.
  Value Kept(Value query, Value key) {
    Value row = example_;
    if (a_.keep_is_by_query) {
      row = v_.Add(v_.Mul(example_, s_.queries), v_.Min(query, v_.Int(s_.queries - 1)));
    }
    Value at = v_.Add(v_.Mul(row, s_.keys), v_.Min(key, v_.Int(s_.keys - 1)));
    Value offset = b_.create<arith::IndexCastOp>(v_.loc(), b_.getI64Type(), at);
    Value place = b_.create<LLVM::GEPOp>(v_.loc(), a_.keep.getType(), b_.getI8Type(), a_.keep,
                                         llvm::ArrayRef<LLVM::GEPArg>{offset});
    Value byte = b_.create<LLVM::LoadOp>(v_.loc(), b_.getI8Type(), place);
    Value zero = b_.create<arith::ConstantOp>(v_.loc(), b_.getI8IntegerAttr(0));
    return Compare(arith::CmpIPredicate::ne, byte, zero);
  }

  // Products as scores: -inf where there is no such column, or where the key is skipped.
  Scored Scores(const Values& products, const Block& block) {
    Scored scored;
    for (Value p : products) scored.scores.push_back(v_.MulF(p, Number(a_.scale)));
    const int64_t end = block.columns_are_queries ? s_.queries : s_.keys;
    const bool cuts_columns = end % block.columns != 0;
    if (a_.keep) {
      Mask(block, cuts_columns, scored);
      return scored;
    }
    // Most blocks have no mask.
    Value masks;
    const auto add = [&](Value condition) {
      masks = masks ? b_.create<arith::OrIOp>(v_.loc(), masks, condition).getResult() : condition;
    };
    if (cuts_columns) add(v_.AtLeast(block.column, end - block.columns + 1));
    if (a_.causal) {
      Value query = block.columns_are_queries ? block.column : block.row;
      Value last =
          block.columns_are_queries ? v_.Add(block.row, kTileRows - 1) : v_.Add(block.column, block.columns - 1);
      add(Compare(arith::CmpIPredicate::sgt, last, query));
    }
    if (!masks) return scored;
    const llvm::SmallVector<mlir::Type> types(scored.scores.size(), b_.getF32Type());
    auto choice = b_.create<mlir::scf::IfOp>(v_.loc(), types, masks, /*withElseRegion=*/true);
    mlir::OpBuilder::InsertionGuard guard(b_);
    b_.setInsertionPointToStart(choice.elseBlock());
    b_.create<mlir::scf::YieldOp>(v_.loc(), scored.scores);
    b_.setInsertionPointToStart(choice.thenBlock());
    Mask(block, cuts_columns, scored);
    b_.create<mlir::scf::YieldOp>(v_.loc(), scored.scores);
    scored.scores.assign(choice.getResults().begin(), choice.getResults().end());
    return scored;
  }

  void Mask(const Block& block, bool cuts_columns, Scored& scored) {
    const int64_t end = block.columns_are_queries ? s_.queries : s_.keys;
    for (size_t i = 0; i < scored.scores.size(); ++i) {
      Value row = RowAt(block, i), column = ColumnAt(block, i);
      Value query = block.columns_are_queries ? column : row, key = block.columns_are_queries ? row : column;
      Value& x = scored.scores[i];
      Value earlier = a_.causal ? AtMost(key, query) : Value();
      if (a_.keep) {
        Value kept = Kept(query, key);
        if (earlier) kept = v_.And(kept, earlier);
        x = v_.Select(kept, x, Number(a_.low));
        scored.kept.push_back(kept);
      } else if (earlier) {
        x = v_.Select(earlier, x, Number(-kInfinity));
      }
      if (cuts_columns) x = v_.Select(v_.AtMost(column, end - 1), x, Number(-kInfinity));
    }
  }

  // A block of scores goes into the state of its queries.
  Values Mix(Values scores, const Tile& values, const Values& before) {
    const size_t outputs = before.size() - 4;
    Values output(before.begin(), before.begin() + outputs), largest, sum, rescale;
    for (size_t half = 0; half < 2; ++half) {
      const auto of_row = [&](size_t i) { return i % 4 / 2 == half; };
      Value block_largest;
      for (size_t i = 0; i < scores.size(); ++i) {
        if (of_row(i)) block_largest = block_largest ? Larger(block_largest, scores[i]) : scores[i];
      }
      block_largest = Across(block_largest, 4, [&](Value a, Value b) { return Larger(a, b); });
      Value m = Larger(before[outputs + half], block_largest);
      // Where all scores are -inf so far, their differences to it must be.
      Value none = b_.create<arith::CmpFOp>(v_.loc(), arith::CmpFPredicate::OEQ, m, Number(-kInfinity));
      Value base = v_.Select(none, Number(0), m);
      rescale.push_back(Exp(v_.SubF(before[outputs + half], base)));
      Value s = v_.MulF(before[outputs + 2 + half], rescale.back());
      for (size_t i = 0; i < scores.size(); ++i) {
        if (!of_row(i)) continue;
        scores[i] = Exp(v_.SubF(scores[i], base));
        s = v_.AddF(s, scores[i]);
      }
      largest.push_back(m);
      sum.push_back(s);
    }
    for (size_t i = 0; i < outputs; ++i) output[i] = v_.MulF(output[i], rescale[i % 4 / 2]);
    output = tiles_.AddRows(std::move(output), tiles_.Left(scores), values, kTileRows);
    output.insert(output.end(), largest.begin(), largest.end());
    output.insert(output.end(), sum.begin(), sum.end());
    return output;
  }

  // The state of queries becomes results.
  void Finish(Values state, const Tile& through, Value first) {
    const size_t outputs = state.size() - 4;
    const Value largest[] = {state[outputs], state[outputs + 1]};
    Value sum[] = {state[outputs + 2], state[outputs + 3]};
    state.resize(outputs);
    for (size_t half = 0; half < 2; ++half) {
      sum[half] = SumAcross(sum[half], 4);
      Value factor = Reciprocal(sum[half]);
      for (size_t i = 0; i < outputs; ++i) {
        if (i % 4 / 2 == half) state[i] = v_.MulF(state[i], factor);
      }
      Value query = v_.Add(v_.Add(first, tiles_.row()), 8 * half);
      v_.If(v_.And(tiles_.IsFirstOfRow(), v_.Within(query, s_.queries)), [&] {
        StoreNumber(largest[half], StatisticOf(a_.largest, query));
        StoreNumber(sum[half], StatisticOf(a_.sum, query));
      });
    }
    tiles_.Store(state, through, QueryRows(a_.output, s_.value_size), first);
  }

  // Statistics of queries [first, first + rows) into shared memory: of each kind, one number after another.
  void LoadStatistics(Value first, int64_t rows, Value to) {
    const int64_t threads = kTileThreads / rows, chunks = s_.value_size / 8;
    Value row = v_.Div(thread_, threads), member = v_.Rem(thread_, threads);
    Value query = v_.Min(v_.Add(first, row), v_.Int(s_.queries - 1));
    const Rows output = QueryRows(a_.output, s_.value_size), dy = QueryRows(a_.dy, s_.value_size);
    Value dot = Number(0);
    for (int64_t c = 0; c < chunks; c += threads) {
      Value chunk = v_.Add(member, c), there = c + threads > chunks ? v_.AtMost(chunk, chunks - 1) : Value();
      if (there) chunk = v_.Min(chunk, v_.Int(chunks - 1));
      Value product = DotOfChunks(output, dy, query, v_.Mul(chunk, 8));
      if (there) product = v_.Select(there, product, Number(0));
      dot = v_.AddF(dot, product);
    }
    dot = SumAcross(dot, threads);
    v_.If(v_.Equal(member, 0), [&] {
      StoreNumber(LoadNumber(StatisticOf(a_.largest, query)), v_.At(to, v_.Add(row, kLargest * rows)));
      StoreNumber(Reciprocal(LoadNumber(StatisticOf(a_.sum, query))), v_.At(to, v_.Add(row, kReciprocal * rows)));
      StoreNumber(dot, v_.At(to, v_.Add(row, kDot * rows)));
    });
  }

  // Of 8 numbers of a row of both.
  Value DotOfChunks(const Rows& x, const Rows& y, Value row, Value column) {
    const mlir::Type words = mlir::VectorType::get({4}, b_.getI32Type());
    const auto load = [&](const Rows& rows) {
      Value place = v_.At16(rows.pointer, v_.Add(v_.Mul(row, rows.stride), column));
      return b_.create<LLVM::LoadOp>(v_.loc(), words, place, /*alignment=*/16).getResult();
    };
    const auto bits = [&](uint32_t n) { return b_.create<arith::ConstantOp>(v_.loc(), b_.getI32IntegerAttr(n)); };
    const auto number = [&](Value vector, int i) -> Value {
      Value place = b_.create<LLVM::ConstantOp>(v_.loc(), b_.getI32Type(), b_.getI32IntegerAttr(i / 2));
      Value word = b_.create<LLVM::ExtractElementOp>(v_.loc(), vector, place);
      word = i % 2 == 0 ? b_.create<arith::ShLIOp>(v_.loc(), word, bits(16)).getResult()
                        : b_.create<arith::AndIOp>(v_.loc(), word, bits(0xffff0000)).getResult();
      return b_.create<arith::BitcastOp>(v_.loc(), b_.getF32Type(), word);
    };
    Value a = load(x), b = load(y), sum = v_.MulF(number(a, 0), number(b, 0));
    for (int i = 1; i < 8; ++i) sum = v_.AddF(sum, v_.MulF(number(a, i), number(b, i)));
    return sum;
  }

  // What a thread reads of the statistics of its rows, or of its columns, for a product's number `i`.
  Value StatisticAt(Value from, Statistic kind, int64_t rows, const Block& block, int64_t i) {
    Value at =
        block.columns_are_queries ? v_.Add(tiles_.column(), i / 4 * 8 + i % 2) : v_.Add(tiles_.row(), i % 4 / 2 * 8);
    return LoadNumber(v_.At(from, v_.Add(at, kind * rows)));
  }

  struct WeightGradients {
    Values weights, dproducts;
  };
  // From a block's products and its gradients of weights.
  WeightGradients Weigh(const Values& products, const Values& dweights, const Block& block, Value statistics,
                        int64_t rows) {
    const Scored scored = Scores(products, block);
    WeightGradients made;
    for (size_t i = 0; i < products.size(); ++i) {
      const auto statistic = [&](Statistic kind) { return StatisticAt(statistics, kind, rows, block, i); };
      Value p = v_.MulF(Exp(v_.SubF(scored.scores[i], statistic(kLargest))), statistic(kReciprocal));
      Value d = v_.MulF(v_.MulF(p, v_.SubF(dweights[i], statistic(kDot))), Number(a_.scale));
      if (!scored.kept.empty()) d = v_.Select(scored.kept[i], d, Number(0));
      made.weights.push_back(p);
      made.dproducts.push_back(d);
    }
    return made;
  }

  // Tiles of a block's own rows, then of those that it takes rows at a time, and the statistics of one of both.
  struct GradientTiles {
    Tile own, own_values, others, other_values;
    Value statistics;
  };
  GradientTiles PlaceTiles(int64_t rows) {
    GradientTiles t;
    t.own = {shared_, s_.size};
    t.own_values = {After(t.own, kTileRows), s_.value_size};
    t.others = {After(t.own_values, kTileRows), s_.size};
    t.other_values = {After(t.others, rows), s_.value_size};
    t.statistics = After(t.other_values, rows);
    return t;
  }

  void QueryGradients(Value first) {
    const int64_t rows = RowsAtOnce(s_, /*gradient=*/true);
    const GradientTiles t = PlaceTiles(rows);
    tiles_.Load(QueryRows(a_.query, s_.size), first, kTileRows, t.own);
    tiles_.Load(QueryRows(a_.dy, s_.value_size), first, kTileRows, t.own_values);
    LoadStatistics(first, kTileRows, t.statistics);
    Values dquery =
        v_.For(v_.Int(0), EndOfKeys(first), rows, tiles_.Zeros(s_.size), [&](Value k, const Values& before) {
          Sync();
          tiles_.Load(KeyRows(a_.key, s_.size), k, rows, t.others);
          tiles_.Load(KeyRows(a_.value, s_.value_size), k, rows, t.other_values);
          Sync();
          const WeightGradients made = Weigh(tiles_.MeetRows(tiles_.Left(t.own), t.others, rows),
                                             tiles_.MeetRows(tiles_.Left(t.own_values), t.other_values, rows),
                                             {first, k, rows}, t.statistics, kTileRows);
          return tiles_.AddRows(before, tiles_.Left(made.dproducts), t.others, rows);
        });
    tiles_.Store(dquery, t.own, QueryRows(a_.dquery, s_.size), first);
  }

  void KeyGradients(Value first) {
    const int64_t rows = RowsAtOnce(s_, /*gradient=*/true);
    const GradientTiles t = PlaceTiles(rows);
    tiles_.Load(KeyRows(a_.key, s_.size), first, kTileRows, t.own);
    tiles_.Load(KeyRows(a_.value, s_.value_size), first, kTileRows, t.own_values);
    Values sums = tiles_.Zeros(s_.size + s_.value_size);
    const auto of_keys = static_cast<int64_t>(tiles_.Zeros(s_.size).size());
    Value begin = a_.skips_later_keys() ? first : v_.Int(0);
    sums = v_.For(begin, v_.Int(s_.queries), rows, sums, [&](Value q, const Values& before) {
      Sync();
      tiles_.Load(QueryRows(a_.query, s_.size), q, rows, t.others);
      tiles_.Load(QueryRows(a_.dy, s_.value_size), q, rows, t.other_values);
      LoadStatistics(q, rows, t.statistics);
      Sync();
      const WeightGradients made = Weigh(tiles_.MeetRows(tiles_.Left(t.own), t.others, rows),
                                         tiles_.MeetRows(tiles_.Left(t.own_values), t.other_values, rows),
                                         {first, q, rows, /*columns_are_queries=*/true}, t.statistics, rows);
      Values dkey(before.begin(), before.begin() + of_keys), dvalue(before.begin() + of_keys, before.end());
      dvalue = tiles_.AddRows(std::move(dvalue), tiles_.Left(made.weights), t.other_values, rows);
      dkey = tiles_.AddRows(std::move(dkey), tiles_.Left(made.dproducts), t.others, rows);
      dkey.insert(dkey.end(), dvalue.begin(), dvalue.end());
      return dkey;
    });
    tiles_.Store({sums.begin(), sums.begin() + of_keys}, t.own, KeyRows(a_.dkey, s_.size), first);
    tiles_.Store({sums.begin() + of_keys, sums.end()}, t.own_values, KeyRows(a_.dvalue, s_.value_size), first);
  }

  const Attention& a_;
  const AttentionShape& s_;
  mlir::OpBuilder& b_;
  VectorBuilder v_;
  Device& device_;
  MatrixTiles tiles_;
  Value thread_, example_, head_, shared_;
};

}  // namespace

bool IsMatrixKernel(mlir::func::FuncOp kernel) {
  return mlir::isa<td::AttentionOp, td::AttentionGradOp>(kernel.getBody().front().front());
}

void GpuKernelBuilder::EmitAttentionKernel() {
  mlir::Operation* op = &kernel_.getBody().front().front();
  const bool gradient = mlir::isa<td::AttentionGradOp>(op);
  plan_.block = kTileThreads;
  Function(symbol_, [&](ElementEmitter& e) {
    llvm::SmallVector<Value> operands(f_.getArguments().take_front(kernel_.getNumArguments())), results;
    for (unsigned r = 0; r < results_.size(); ++r) results.push_back(ResultBuffer(r).pointer);
    const Attention attention = gradient ? Attention(mlir::cast<td::AttentionGradOp>(op), operands, results)
                                         : Attention(mlir::cast<td::AttentionOp>(op), operands, results);
    const AttentionShape& s = attention.shape;
    if (!Fits(s.size) || !Fits(s.value_size) || !td::TypeOf(kernel_.getArgument(0)).getElementType().isBF16()) {
      status_.Update(absl::UnimplementedError(
          absl::StrCat("kernel ", symbol_, ": attention on GPUs takes bfloat16 rows of 16, 32, ... or 128 numbers")));
      return;
    }
    // With three blocks ptxas would have to store a few registers.
    if (gradient && attention.keep) plan_.blocks_per_processor = 2;
    plan_.split = s.heads * (Blocks(s.queries) + (gradient ? Blocks(s.keys) : 0));
    plan_.shared_bytes = gradient ? MatrixTiles::TileBytes(kTileRows + RowsAtOnce(s, true), s.size + s.value_size + 8) +
                                        kStatistics * kTileRows * 4
                                  : MatrixTiles::TileBytes(kTileRows, s.size + s.value_size + 8);
    Value example = Add(Number(0), Div(block_, plan_.split));
    EmitIf(e, loc_, Less(example, Number(1)), [&] {
      AttentionEmitter emitter(attention, b_, loc_, device_, thread_, example);
      gradient ? emitter.Gradient(Rem(block_, plan_.split)) : emitter.Forward(Rem(block_, plan_.split));
    });
  });
}

}  // namespace tandem
