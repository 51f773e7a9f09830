// Emits attention after FlashAttention-2 (Dao 2023): a block of threads has 64 or 32 queries of a head, takes keys and
// values block by block through shared memory, and keeps the weights in registers, where the numbers of a product are
// laid out like those of a left factor. The gradient computes the weights again from the scores' largest value and sum.
// It is one launch without sums between blocks, so that its bits are reproducible: some blocks compute the gradients of
// queries, others those of keys and values.
#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
#include "graph/ir/attention.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/codegen/gpu/attention_plan.h"
#include "passes/codegen/gpu/gpu_kernel_builder.h"

namespace tandem {
namespace {

namespace arith = mlir::arith;
namespace LLVM = mlir::LLVM;
using mlir::Value;
using Tile = MatrixTiles::Tile;
using Rows = MatrixTiles::Rows;
using Values = MatrixTiles::Values;

constexpr double kInfiniteScore = std::numeric_limits<double>::infinity();

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

  // True if keys later than the query need not be computed: their scores are -infinity, so that their weights are 0.
  // With the mask `keep` scores of masked keys are the finite number `low`, so that such a key can have a weight above
  // 0.
  bool skips_later_keys() const { return causal && !keep; }

  AttentionShape shape;
  double scale, low;
  bool causal;
  Value query, key, value, output, largest, sum, dy, dquery, dkey, dvalue;
  Value keep;  // the mask; null where there is none
  bool keep_is_by_query = false;
};

class AttentionEmitter {
 public:
  AttentionEmitter(const Attention& attention, const AttentionPlan& plan, mlir::OpBuilder& b, mlir::Location loc,
                   Device& device, Value thread, Value example)
      : a_(attention),
        s_(attention.shape),
        plan_(plan),
        b_(b),
        v_(b, loc, /*width=*/1),
        device_(device),
        tiles_(v_, device, plan.factors, thread, plan.threads()),
        thread_(thread),
        example_(example),
        shared_(device.Shared(loc)) {}

  // Emits the forward pass. `part`: the number of this block among those of an example.
  void Forward(Value part) {
    const int64_t blocks = plan_.BlocksOf(s_.queries), rows = plan_.others;
    head_ = v_.Div(part, blocks);
    Value first = v_.Mul(v_.Rem(part, blocks), plan_.own);
    // Matrix instructions read the queries from registers. On their way there the queries pass through the shared
    // memory that keys use later.
    const bool in_registers = plan_.factors != Factors::kFloat32;
    const Tile queries = tiles_.At(shared_, s_.size);
    const Tile keys = tiles_.At(in_registers ? shared_ : After(queries, plan_.own), s_.size);
    const Tile values = tiles_.At(After(keys, rows), s_.value_size);
    tiles_.Load(QueryRows(a_.query, s_.size), first, plan_.own, queries);
    std::vector<Device::Words> held;
    if (in_registers) {
      Sync();
      held = tiles_.LoadLeft(queries);
    }
    // Behind the output's numbers the state has, for both rows of a thread, the largest scores and then the sums.
    Values state = tiles_.Zeros(s_.value_size);
    state.insert(state.end(), {Number(-kInfiniteScore), Number(-kInfiniteScore), Number(0), Number(0)});
    state = v_.For(v_.Int(0), EndOfKeys(first), rows, state, [&](Value k, const Values& before) {
      Sync();
      tiles_.Load(KeyRows(a_.key, s_.size), k, rows, keys);
      tiles_.Load(KeyRows(a_.value, s_.value_size), k, rows, values);
      Sync();
      const Values products = in_registers ? tiles_.MeetRows(held, keys, rows) : tiles_.MeetRows(queries, keys, rows);
      return Mix(Scores(products, {first, k, rows}).scores, values, before);
    });
    Sync();
    Finish(std::move(state), tiles_.At(shared_, s_.value_size), first);
  }

  void Gradient(Value part) {
    const int64_t of_queries = plan_.BlocksOf(s_.queries), blocks = of_queries + plan_.BlocksOf(s_.keys);
    head_ = v_.Div(part, blocks);
    Value block = v_.Rem(part, blocks);
    v_.If(
        v_.Within(block, of_queries), [&] { QueryGradients(v_.Mul(block, plan_.own)); },
        [&] { KeyGradients(v_.Mul(v_.Sub(block, v_.Int(of_queries)), plan_.own)); });
  }

 private:
  // A block of scores: rows [row, ...), which are queries, and `columns` columns from `column` on, which are keys; or
  // the other way round.
  struct Block {
    Value row, column;
    int64_t columns;
    bool columns_are_queries = false;
  };
  struct Scored {
    Values scores;
    Values kept;  // for each score the condition that it is not masked (set to `low`); empty: none is
  };

  void Sync() { device_.SyncBlock(v_.loc()); }
  Value Number(double n) { return tiles_.Number(n); }
  Value Exp(Value x) { return device_.Exp(v_.loc(), x); }
  Value Larger(Value a, Value b) { return b_.create<arith::MaxNumFOp>(v_.loc(), a, b); }
  Value Reciprocal(Value x) { return b_.create<arith::DivFOp>(v_.loc(), Number(1), x); }
  Value Compare(arith::CmpIPredicate how, Value a, Value b) { return b_.create<arith::CmpIOp>(v_.loc(), how, a, b); }
  // Combines the values that `threads` neighbouring threads have; each of these threads gets the result.
  Value Across(Value x, int threads, const std::function<Value(Value, Value)>& combine) {
    for (int mask = 1; mask < threads; mask *= 2) x = combine(x, device_.ShuffleXor(v_.loc(), x, mask));
    return x;
  }
  Value SumAcross(Value x, int threads) {
    return Across(x, threads, [&](Value a, Value b) { return v_.AddF(a, b); });
  }
  Value LoadNumber(Value address) { return b_.create<LLVM::LoadOp>(v_.loc(), b_.getF32Type(), address); }
  void StoreNumber(Value x, Value address) { b_.create<LLVM::StoreOp>(v_.loc(), x, address); }

  // Returns the address behind `rows` rows of a tile, where the next tile begins.
  Value After(const Tile& tile, int64_t rows) { return tiles_.Behind(tile.pointer, rows * tile.stride); }

  Rows RowsOf(Value tensor, int64_t positions, int64_t width) {
    Value of_example = tiles_.Behind(tensor, v_.Mul(example_, s_.heads * positions * width));
    return {tiles_.Behind(of_example, v_.Mul(head_, s_.head_stride(positions, width))), s_.position_stride(width),
            width, positions};
  }
  Rows QueryRows(Value tensor, int64_t width) { return RowsOf(tensor, s_.queries, width); }
  Rows KeyRows(Value tensor, int64_t width) { return RowsOf(tensor, s_.keys, width); }

  // Returns the address of a query's number in a tensor [examples, heads, queries].
  Value StatisticOf(Value tensor, Value query) {
    return v_.At(tensor, v_.Add(v_.Mul(v_.Add(v_.Mul(example_, s_.heads), head_), s_.queries), query));
  }

  // Returns the end of the keys that the queries of a block attend to.
  Value EndOfKeys(Value first_query) {
    Value all = v_.Int(s_.keys);
    return a_.skips_later_keys() ? v_.Min(all, v_.Add(first_query, plan_.own)) : all;
  }

  // Return the row and the column that number `i` of this thread's part of a product belongs to.
  Value RowAt(const Block& block, int64_t i) { return v_.Add(v_.Add(block.row, tiles_.row()), i % 4 / 2 * 8); }
  Value ColumnAt(const Block& block, int64_t i) {
    return v_.Add(v_.Add(block.column, tiles_.column()), i / 4 * 8 + i % 2);
  }

  // True if the mask keeps the score of a query and a key. Positions behind the last one are allowed.
  Value Kept(Value query, Value key) {
    Value row = example_;
    if (a_.keep_is_by_query) {
      row = v_.Add(v_.Mul(example_, s_.queries), v_.Min(query, v_.Int(s_.queries - 1)));
    }
    Value at = v_.Add(v_.Mul(row, s_.keys), v_.Min(key, v_.Int(s_.keys - 1)));
    Value byte = b_.create<LLVM::LoadOp>(v_.loc(), b_.getI8Type(), v_.Address(a_.keep, b_.getI8Type(), at));
    Value zero = b_.create<arith::ConstantOp>(v_.loc(), b_.getI8IntegerAttr(0));
    return Compare(arith::CmpIPredicate::ne, byte, zero);
  }

  // Returns the scores of a block: its products, scaled and masked. A score is -inf if its column does not exist or its
  // key is skipped.
  Scored Scores(const Values& products, const Block& block) {
    Scored scored;
    for (Value p : products) scored.scores.push_back(v_.MulF(p, Number(a_.scale)));
    const int64_t end = block.columns_are_queries ? s_.queries : s_.keys;
    const bool cuts_columns = end % block.columns != 0;
    if (a_.keep) {
      Mask(block, cuts_columns, scored);
      return scored;
    }
    // Emits masks under a condition on the block's position, since most blocks need none.
    Value masks;
    const auto add = [&](Value condition) {
      masks = masks ? b_.create<arith::OrIOp>(v_.loc(), masks, condition).getResult() : condition;
    };
    if (cuts_columns) add(v_.AtLeast(block.column, end - block.columns + 1));
    if (a_.causal) {
      Value query = block.columns_are_queries ? block.column : block.row;
      Value last =
          block.columns_are_queries ? v_.Add(block.row, plan_.own - 1) : v_.Add(block.column, block.columns - 1);
      add(Compare(arith::CmpIPredicate::sgt, last, query));
    }
    if (!masks) return scored;
    const Values unmasked = scored.scores;
    const auto mask = [&] {
      Mask(block, cuts_columns, scored);
      return scored.scores;
    };
    scored.scores = v_.If(masks, mlir::ValueRange(unmasked).getTypes(), mask, [&] { return unmasked; });
    return scored;
  }

  void Mask(const Block& block, bool cuts_columns, Scored& scored) {
    const int64_t end = block.columns_are_queries ? s_.queries : s_.keys;
    for (size_t i = 0; i < scored.scores.size(); ++i) {
      Value row = RowAt(block, i), column = ColumnAt(block, i);
      Value query = block.columns_are_queries ? column : row, key = block.columns_are_queries ? row : column;
      Value& x = scored.scores[i];
      Value earlier = a_.causal ? v_.AtMost(key, query) : Value();
      if (a_.keep) {
        Value kept = Kept(query, key);
        if (earlier) kept = v_.And(kept, earlier);
        x = v_.Select(kept, x, Number(a_.low));
        scored.kept.push_back(kept);
      } else if (earlier) {
        x = v_.Select(earlier, x, Number(-kInfiniteScore));
      }
      if (cuts_columns) x = v_.Select(v_.AtMost(column, end - 1), x, Number(-kInfiniteScore));
    }
  }

  // Adds a block of keys, of which `scores` and `values` are given, to the state of its queries and returns the new
  // state: weighted sums of values, largest scores, and sums of weights.
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
      // If all scores are -inf so far, 0 is taken for the largest, so that their differences from it are -inf too.
      Value none = b_.create<arith::CmpFOp>(v_.loc(), arith::CmpFPredicate::OEQ, m, Number(-kInfiniteScore));
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
    output = tiles_.AddRows(std::move(output), scores, values, plan_.others);
    output.insert(output.end(), largest.begin(), largest.end());
    output.insert(output.end(), sum.begin(), sum.end());
    return output;
  }

  // Computes the results of this thread's queries from their state and stores them.
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

  // Loads the statistics (enum Statistic) of queries [first, first + rows) into shared memory, one kind after the
  // other.
  void LoadStatistics(Value first, int64_t rows, Value to) {
    const int64_t threads = plan_.threads() / rows;
    const int64_t run = MatrixTiles::RunOf(plan_.factors, s_.value_size), runs = s_.value_size / run;
    Value row = v_.Div(thread_, threads), member = v_.Rem(thread_, threads);
    Value query = v_.Min(v_.Add(first, row), v_.Int(s_.queries - 1));
    const Rows output = QueryRows(a_.output, s_.value_size), dy = QueryRows(a_.dy, s_.value_size);
    Value dot = Number(0);
    for (int64_t r = 0; r < runs; r += threads) {
      Value at = v_.Add(member, r), there = r + threads > runs ? v_.AtMost(at, runs - 1) : Value();
      if (there) at = v_.Min(at, v_.Int(runs - 1));
      Value product = DotOfRuns(output, dy, query, v_.Mul(at, run));
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

  // Returns the dot product of two runs, the neighbouring numbers from `column` on that a thread loads together.
  Value DotOfRuns(const Rows& x, const Rows& y, Value row, Value column) {
    const Values a = tiles_.LoadRun(x, row, column), b = tiles_.LoadRun(y, row, column);
    Value sum = v_.MulF(a[0], b[0]);
    for (size_t i = 1; i < a.size(); ++i) sum = v_.AddF(sum, v_.MulF(a[i], b[i]));
    return sum;
  }

  // Loads from shared memory the statistic of the query of number `i` of this thread's part of a product. The query is
  // the number's row, or its column if the block's columns are queries.
  Value StatisticAt(Value from, Statistic kind, int64_t rows, const Block& block, int64_t i) {
    Value at =
        block.columns_are_queries ? v_.Add(tiles_.column(), i / 4 * 8 + i % 2) : v_.Add(tiles_.row(), i % 4 / 2 * 8);
    return LoadNumber(v_.At(from, v_.Add(at, kind * rows)));
  }

  struct WeightGradients {
    Values weights, dproducts;
  };
  // Computes the attention weights of a block and the gradients of its products, from `products` (queries times keys),
  // `dweights` (the gradients of the weights) and the statistics of the block's queries.
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

  // The tiles of a block of threads: its own rows, the other rows, which it loads some at a time, and the statistics of
  // the rows that are queries.
  struct GradientTiles {
    Tile own, own_values, others, other_values;
    Value statistics;
  };
  GradientTiles PlaceTiles() {
    GradientTiles t;
    t.own = tiles_.At(shared_, s_.size);
    t.own_values = tiles_.At(After(t.own, plan_.own), s_.value_size);
    t.others = tiles_.At(After(t.own_values, plan_.own), s_.size);
    t.other_values = tiles_.At(After(t.others, plan_.others), s_.value_size);
    t.statistics = After(t.other_values, plan_.others);
    return t;
  }

  // Computes the weights of a block, and the gradients of its products, from the tiles.
  WeightGradients Weigh(const GradientTiles& t, const Block& block) {
    const int64_t rows = plan_.others;
    return Weigh(tiles_.MeetRows(t.own, t.others, rows), tiles_.MeetRows(t.own_values, t.other_values, rows), block,
                 t.statistics, block.columns_are_queries ? rows : plan_.own);
  }

  void QueryGradients(Value first) {
    const GradientTiles t = PlaceTiles();
    const int64_t rows = plan_.others;
    tiles_.Load(QueryRows(a_.query, s_.size), first, plan_.own, t.own);
    tiles_.Load(QueryRows(a_.dy, s_.value_size), first, plan_.own, t.own_values);
    LoadStatistics(first, plan_.own, t.statistics);
    Values dquery =
        v_.For(v_.Int(0), EndOfKeys(first), rows, tiles_.Zeros(s_.size), [&](Value k, const Values& before) {
          Sync();
          tiles_.Load(KeyRows(a_.key, s_.size), k, rows, t.others);
          tiles_.Load(KeyRows(a_.value, s_.value_size), k, rows, t.other_values);
          Sync();
          return tiles_.AddRows(before, Weigh(t, {first, k, rows}).dproducts, t.others, rows);
        });
    tiles_.Store(dquery, t.own, QueryRows(a_.dquery, s_.size), first);
  }

  void KeyGradients(Value first) {
    const GradientTiles t = PlaceTiles();
    const int64_t rows = plan_.others;
    tiles_.Load(KeyRows(a_.key, s_.size), first, plan_.own, t.own);
    tiles_.Load(KeyRows(a_.value, s_.value_size), first, plan_.own, t.own_values);
    Values sums = tiles_.Zeros(s_.size);
    const auto of_keys = static_cast<int64_t>(sums.size());
    const Values of_values = tiles_.Zeros(s_.value_size);
    sums.insert(sums.end(), of_values.begin(), of_values.end());
    Value begin = a_.skips_later_keys() ? first : v_.Int(0);
    sums = v_.For(begin, v_.Int(s_.queries), rows, sums, [&](Value q, const Values& before) {
      Sync();
      tiles_.Load(QueryRows(a_.query, s_.size), q, rows, t.others);
      tiles_.Load(QueryRows(a_.dy, s_.value_size), q, rows, t.other_values);
      LoadStatistics(q, rows, t.statistics);
      Sync();
      const WeightGradients made = Weigh(t, {first, q, rows, /*columns_are_queries=*/true});
      Values dkey(before.begin(), before.begin() + of_keys), dvalue(before.begin() + of_keys, before.end());
      dvalue = tiles_.AddRows(std::move(dvalue), made.weights, t.other_values, rows);
      dkey = tiles_.AddRows(std::move(dkey), made.dproducts, t.others, rows);
      dkey.insert(dkey.end(), dvalue.begin(), dvalue.end());
      return dkey;
    });
    tiles_.Store({sums.begin(), sums.begin() + of_keys}, t.own, KeyRows(a_.dkey, s_.size), first);
    tiles_.Store({sums.begin() + of_keys, sums.end()}, t.own_values, KeyRows(a_.dvalue, s_.value_size), first);
  }

  const Attention& a_;
  const AttentionShape& s_;
  const AttentionPlan& plan_;
  mlir::OpBuilder& b_;
  VectorBuilder v_;
  Device& device_;
  MatrixTiles tiles_;
  Value thread_, example_, head_, shared_;
};

class AttentionKernel : public GpuKernelBuilder {
 public:
  explicit AttentionKernel(const GpuRequest& request)
      : GpuKernelBuilder(request), factors_(AttentionFactors(request.kernel, request.arch)) {}
  bool Takes() override { return factors_.has_value(); }

 private:
  void EmitThread() override;

  const std::optional<Factors> factors_;
};

void AttentionKernel::EmitThread() {
  mlir::Operation* op = &kernel_.getBody().front().front();
  const bool gradient = mlir::isa<td::AttentionGradOp>(op);
  Function([&](ElementEmitter& e) {
    llvm::SmallVector<Value> operands(f_.getArguments().take_front(kernel_.getNumArguments())), results;
    for (unsigned r = 0; r < results_.size(); ++r) results.push_back(ResultBuffer(r).pointer);
    const Attention attention = gradient ? Attention(mlir::cast<td::AttentionGradOp>(op), operands, results)
                                         : Attention(mlir::cast<td::AttentionOp>(op), operands, results);
    const AttentionShape& s = attention.shape;
    if (std::max(s.size, s.value_size) > kMostHeadNumbers) {
      status_.Update(absl::UnimplementedError(
          absl::StrCat("kernel ", symbol_, ": attention on GPUs takes heads of up to ", kMostHeadNumbers,
                       " numbers, not of ", s.size, " and values of ", s.value_size)));
      return;
    }
    const AttentionPlan plan(s, *factors_, gradient);
    plan_.block = plan.threads();
    // With more blocks per multiprocessor, ptxas would have to spill a few registers.
    const bool large = s.size + s.value_size > 192;
    if (attention.keep ? gradient || large : gradient && *factors_ != Factors::kBFloat16)
      plan_.blocks_per_processor = 2;
    plan_.split = s.heads * (plan.BlocksOf(s.queries) + (gradient ? plan.BlocksOf(s.keys) : 0));
    plan_.shared_bytes = plan.shared_bytes;
    Value example = Add(Number(0), Div(block_, plan_.split));
    If(Less(example, Number(1)), [&] {
      AttentionEmitter emitter(attention, plan, b_, loc_, device_, thread_, example);
      gradient ? emitter.Gradient(Rem(block_, plan_.split)) : emitter.Forward(Rem(block_, plan_.split));
    });
  });
}

}  // namespace

extern const GpuEmitter kGpuAttention = {"attention", MakeBuilder<AttentionKernel>};

}  // namespace tandem
