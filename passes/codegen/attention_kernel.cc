// Emits kernels of attention and its gradient (passes/exec/attention.td), which compute examples [begin, end). They
// work on one head of one example at a time: its keys and values are packed once, and blocks of queries are multiplied
// with all keys. Only the scores of one block are in memory, so that memory grows with the length of the sequence and
// not with its square. The gradient computes the weights of a block again from the scores' largest value and sum (Dao
// et al. 2022, with whole rows in place of blocks of keys: a row of scores is much smaller than a cache).
#include <limits>

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/codegen/product_tile.h"
#include "passes/codegen/vector_kernel.h"
#include "passes/codegen/winograd_tiles.h"
#include "passes/exec/attention.h"
#include "passes/exec/attention_scratch.h"

namespace tandem {
namespace {

namespace arith = mlir::arith;
namespace LLVM = mlir::LLVM;
using mlir::Value;
using Values = VectorBuilder::Values;

// The number of keys that a product with values sums over at a time, so that the values stay in the first-level cache
// for all rows of a block.
constexpr int64_t kDepth = 128;

// Masks of a vector of scores, one lane for each key of a query.
struct ScoreMasks {
  Value there;  // vector lanes whose key exists and is not skipped; null: all lanes
  Value kept;   // vector lanes that are not masked, where masked lanes get the score `low`; null: all lanes
};

class AttentionEmitter : private VectorKernel {
 public:
  template <typename Op>
  AttentionEmitter(Op op, const EmitRequest& request)
      : VectorKernel(request),
        s_(exec::ShapeOf(op)),
        gradient_(mlir::isa<exec::AttentionGradOp>(op.getOperation())),
        at_(s_, gradient_),
        scale_(op.getScale().convertToDouble()),
        low_(op.getLow().convertToDouble()),
        causal_(op.getCausal()) {
    query_ = buffers_[0], key_ = buffers_[1], value_ = buffers_[2];
    if (gradient_) {
      output_ = buffers_[3], largest_ = buffers_[4], sum_ = buffers_[5], dy_ = buffers_[6];
      dquery_ = Result(0), dkey_ = Result(1), dvalue_ = Result(2);
    } else {
      output_ = Result(0), largest_ = Result(1), sum_ = Result(2);
    }
    if (op.getKeep()) {
      keep_ = buffers_[kernel_.getNumArguments() - 1];
      keep_is_by_query_ = td::TypeOf(op.getKeep()).getRank() == 3;
    }
    scratch_ = buffers_.back();
  }

  void Emit() {
    v_.For(begin_, end_, 1, [&](Value example) {
      v_.For(0, s_.heads, 1, [&](Value head) { gradient_ ? HeadGradient(example, head) : Head(example, head); });
    });
    End();
  }

 private:
  // A block of queries [first, first + count) of a head; `keys`: how many keys it is multiplied with, including
  // padding.
  struct Block {
    Value first, count, keys;
  };

  // The rows of a head: `width` numbers each, `stride` floats apart.
  struct Rows {
    Value pointer;
    int64_t stride, width;
  };
  Rows RowsOf(Value tensor, int64_t positions, int64_t width, Value example, Value head) {
    Value of_example = v_.At(tensor, v_.Mul(example, s_.heads * positions * width));
    return {v_.At(of_example, v_.Mul(head, s_.head_stride(positions, width))), s_.position_stride(width), width};
  }

  Value Scratch(int64_t offset) { return v_.At(scratch_, offset); }

  // Calls f(first column, number of columns) for every vector of a row of `width` numbers.
  template <typename F>
  void ForVectors(int64_t width, F f) {
    for (int64_t n = 0; n < width; n += v_.width()) f(n, std::min<int64_t>(v_.width(), width - n));
  }

  // Copies rows [first, first + count) to `to`, where they follow one another, each padded with zeros to whole cache
  // lines.
  void Pack(const Rows& from, Value first, Value count, Value to, int64_t padded) {
    v_.For(v_.Int(0), count, 1, [&](Value r) {
      Value source = v_.At(from.pointer, v_.Mul(v_.Add(first, r), from.stride)), target = v_.At(to, v_.Mul(r, padded));
      ForVectors(padded,
                 [&](int64_t n, int64_t) { v_.Store(v_.Load(v_.At(source, n), from.width - n), v_.At(target, n)); });
    });
  }

  // Copies `rows` rows into panels, blocks of columns of which each is stored row by row.
  void PackDown(const Rows& from, int64_t rows, Value to) {
    v_.For(0, rows, 1, [&](Value r) {
      Value source = v_.At(from.pointer, v_.Mul(r, from.stride));
      ForPanels(Padded(from.width), [&](int64_t first, int64_t width) {
        Value target = v_.At(v_.At(to, first * rows), v_.Mul(r, width));
        ForVectors(width, [&](int64_t n, int64_t) {
          v_.Store(v_.Load(v_.At(source, first + n), from.width - first - n), v_.At(target, n));
        });
      });
    });
  }

  // Transposes `rows` rows, which become columns, into panels (blocks of columns). Columns of zeros follow up to whole
  // cache lines.
  void PackAcross(const Rows& from, int64_t rows, Value to) {
    // Transposes as many rows as a vector has elements, from `row` on, to columns from `column` on. Only `live` of
    // these rows exist.
    auto square = [&](Value panel, Value row, Value column, int64_t panel_width, int64_t live) {
      Value source = v_.At(from.pointer, v_.Mul(row, from.stride)), target = v_.At(panel, column);
      ForVectors(from.width, [&](int64_t c, int64_t count) {
        Values matrix;
        for (int r = 0; r < v_.width(); ++r) {
          matrix.push_back(r < live ? v_.Load(v_.At(v_.At(source, r * from.stride), c), count) : v_.Splat(0));
        }
        matrix = v_.Transpose(matrix);
        for (int64_t r = 0; r < count; ++r) v_.Store(matrix[r], v_.At(target, (c + r) * panel_width));
      });
    };
    auto panel = [&](Value first, int64_t width, int64_t live) {
      Value target = v_.At(to, v_.Mul(first, from.width));
      const int64_t whole = live / v_.width() * v_.width();
      v_.For(0, whole, v_.width(), [&](Value c) { square(target, v_.Add(first, c), c, width, v_.width()); });
      for (int64_t c = whole; c < width; c += v_.width())
        square(target, v_.Add(first, c), v_.Int(c), width, std::max<int64_t>(0, live - c));
    };
    const int64_t whole = rows / kAttentionPanel * kAttentionPanel;
    v_.For(0, whole, kAttentionPanel, [&](Value first) { panel(first, kAttentionPanel, kAttentionPanel); });
    if (whole < rows) panel(v_.Int(whole), Padded(rows) - whole, rows - whole);
  }

  static int64_t Padded(int64_t n) { return (n + kLineFloats - 1) / kLineFloats * kLineFloats; }

  template <typename F>
  static void ForPanels(int64_t columns, F f) {
    for (int64_t first = 0; first < columns; first += kAttentionPanel)
      f(first, std::min(kAttentionPanel, columns - first));
  }

  void ForBlocks(const std::function<void(const Block&)>& body) {
    v_.For(0, s_.queries, kAttentionQueries, [&](Value first) {
      Block block = {first, v_.Min(v_.Int(kAttentionQueries), v_.Sub(v_.Int(s_.queries), first)), v_.Int(at_.keys)};
      if (SkipsLaterKeys()) {
        Value last = v_.Add(v_.Add(first, block.count), kAttentionPanel - 1);
        block.keys = v_.Min(block.keys, v_.Mul(v_.Div(last, kAttentionPanel), kAttentionPanel));
      }
      body(block);
    });
  }

  // Keys later than the query can be skipped, unless there is `keep`: then their scores are `low`, which may count.
  bool SkipsLaterKeys() const { return causal_ && !keep_; }

  int64_t MostQueries() const { return std::min(s_.queries, kAttentionQueries); }

  // Multiplies a block's rows `left`, of `padded` numbers each, with all keys. The result is [queries of a
  // block][keys].
  void MeetKeys(const Block& block, Value left, int64_t padded, Value across, int64_t depth, Value to) {
    auto panel = [&](Value first, int64_t width) {
      EmitProduct(v_, block.count, MostQueries(), v_.Int(depth), {left, padded, 1},
                  {v_.At(across, v_.Mul(first, depth)), width}, {v_.At(to, first), at_.score_row, width}, false);
    };
    const int64_t whole = at_.keys / kAttentionPanel * kAttentionPanel;
    v_.For(v_.Int(0), v_.Min(block.keys, v_.Int(whole)), kAttentionPanel,
           [&](Value first) { panel(first, kAttentionPanel); });
    if (whole == at_.keys) return;
    v_.If(v_.AtLeast(block.keys, whole + 1), [&] { panel(v_.Int(whole), at_.keys - whole); });
  }

  // Computes weighted sums of rows: for each query of the block, the rows of `down`, one for each key and packed in
  // panels, times the query's `weights`.
  void Mix(const Block& block, Value weights, Value down, int64_t padded, Value to) {
    EmitZeros(v_, to, v_.Mul(block.count, padded), padded);
    v_.For(v_.Int(0), v_.Min(block.keys, v_.Int(s_.keys)), kDepth, [&](Value first) {
      Value depth = v_.Min(v_.Int(kDepth), v_.Sub(v_.Min(block.keys, v_.Int(s_.keys)), first));
      ForPanels(padded, [&](int64_t column, int64_t width) {
        Value right = v_.At(v_.At(down, column * s_.keys), v_.Mul(first, width));
        EmitProduct(v_, block.count, MostQueries(), depth, {v_.At(weights, first), at_.score_row, 1}, {right, width},
                    {v_.At(to, column), padded, width}, true);
      });
    });
  }

  // Emits to += weights^T rows: for each key, the block's rows times their weights for that key.
  void GiveToKeys(const Block& block, Value weights, Value rows, int64_t padded, Value to) {
    EmitProduct(v_, block.keys, kAttentionPanel, block.count, {weights, 1, at_.score_row}, {rows, padded},
                {to, padded, padded}, true);
  }

  // Returns a mask of the lanes l < n of a vector.
  Value Lanes(Value n) {
    auto ints = mlir::VectorType::get({v_.width()}, b_.getI32Type());
    llvm::SmallVector<int32_t> numbers;
    for (int i = 0; i < v_.width(); ++i) numbers.push_back(i);
    Value lanes =
        b_.create<arith::ConstantOp>(v_.loc(), mlir::DenseElementsAttr::get(ints, llvm::ArrayRef<int32_t>(numbers)));
    Value limit = b_.create<arith::IndexCastOp>(v_.loc(), b_.getI32Type(), n);
    Value zero = b_.create<LLVM::ConstantOp>(v_.loc(), b_.getI64Type(), b_.getI64IntegerAttr(0));
    Value vector = b_.create<LLVM::InsertElementOp>(v_.loc(), b_.create<LLVM::UndefOp>(v_.loc(), ints), limit, zero);
    vector = b_.create<LLVM::ShuffleVectorOp>(v_.loc(), vector, vector, llvm::SmallVector<int32_t>(v_.width(), 0));
    return b_.create<arith::CmpIOp>(v_.loc(), arith::CmpIPredicate::slt, lanes, vector);
  }

  // Loads bytes and returns a mask of those that are not 0. With `lanes`, only the bytes of these lanes are read.
  Value LoadFlags(Value pointer, Value offset, Value lanes) {
    auto bytes = mlir::VectorType::get({v_.width()}, b_.getI8Type());
    Value place = v_.Address(pointer, b_.getI8Type(), offset);
    Value zero = b_.create<arith::ConstantOp>(v_.loc(), mlir::DenseElementsAttr::get(bytes, int8_t{0}));
    Value flags = lanes ? b_.create<LLVM::MaskedLoadOp>(v_.loc(), bytes, place, lanes, mlir::ValueRange{zero},
                                                        b_.getI32IntegerAttr(1))
                              .getResult()
                        : b_.create<LLVM::LoadOp>(v_.loc(), bytes, place, /*alignment=*/1).getResult();
    return b_.create<arith::CmpIOp>(v_.loc(), arith::CmpIPredicate::ne, flags, zero);
  }

  // Returns the masks of a query for a vector of keys from `j` on, of which `live` exist.
  ScoreMasks MasksAt(Value example, Value query, Value j, int64_t live) {
    ScoreMasks masks;
    Value inside = live < v_.width() ? Lanes(v_.Int(live)) : Value();
    Value earlier = causal_ ? Lanes(v_.Add(v_.Sub(query, j), 1)) : Value();
    if (!keep_) {
      // Keys beyond the last one come after all queries, so this masks them too.
      masks.there = earlier ? earlier : inside;
      return masks;
    }
    Value row = keep_is_by_query_ ? v_.Add(v_.Mul(example, s_.queries), query) : example;
    masks.there = inside;
    masks.kept = LoadFlags(keep_, v_.Add(v_.Mul(row, s_.keys), j), inside);
    if (earlier) masks.kept = v_.And(masks.kept, earlier);
    return masks;
  }

  // Returns the scores that belong to `products`: scaled and masked.
  Value Masked(Value products, const ScoreMasks& masks) {
    Value x = v_.MulF(products, v_.Splat(scale_));
    if (masks.kept) x = v_.Select(masks.kept, x, v_.Splat(low_));
    if (masks.there) x = v_.Select(masks.there, x, v_.Splat(-std::numeric_limits<double>::infinity()));
    return x;
  }

  // Calls f(first key, masks, values) for all vectors of a query's scores. `values` are carried from one call to the
  // next.
  Values ForScores(Value example, Value query, const Block& block, const Values& first,
                   const std::function<Values(Value, const ScoreMasks&, const Values&)>& f) {
    const auto vectors = [&](Value end, const Values& before) {
      return v_.For(v_.Int(0), end, v_.width(), before, [&](Value j, const Values& values) {
        return f(j, MasksAt(example, query, j, v_.width()), values);
      });
    };
    if (SkipsLaterKeys()) return vectors(block.keys, first);
    const int64_t whole = s_.keys / v_.width() * v_.width();
    Values values = vectors(v_.Int(whole), first);
    // The padding behind the last key is covered too: products read it, so the weights there must be 0.
    for (int64_t j = whole; j < at_.keys; j += v_.width()) {
      values = f(v_.Int(j), MasksAt(example, query, v_.Int(j), std::max<int64_t>(0, s_.keys - j)), values);
    }
    return values;
  }

  // Combines all lanes of a vector; every lane of the result holds the combined number.
  template <typename F>
  Value AcrossLanes(Value vector, F combine) {
    for (int distance = 1; distance < v_.width(); distance *= 2) {
      llvm::SmallVector<int32_t> order;
      for (int i = 0; i < v_.width(); ++i) order.push_back(i ^ distance);
      vector = combine(vector, b_.create<LLVM::ShuffleVectorOp>(v_.loc(), vector, vector, order));
    }
    return vector;
  }
  Value Largest(Value a, Value b) {
    return v_.Select(b_.create<arith::CmpFOp>(v_.loc(), arith::CmpFPredicate::OGT, a, b), a, b);
  }
  Value Exp(Value x) { return b_.create<mlir::math::ExpOp>(v_.loc(), x); }
  Value Reciprocal(Value x) { return b_.create<arith::DivFOp>(v_.loc(), v_.Splat(1), x); }

  // Returns the address of the number that a tensor [examples, heads, queries] has for a query.
  Value Statistic(Value tensor, Value example, Value head, Value query) {
    return v_.At(tensor, v_.Add(v_.Mul(v_.Add(v_.Mul(example, s_.heads), head), s_.queries), query));
  }

  void Head(Value example, Value head) {
    const Rows query = RowsOf(query_, s_.queries, s_.size, example, head);
    const Rows output = RowsOf(output_, s_.queries, s_.value_size, example, head);
    PackAcross(RowsOf(key_, s_.keys, s_.size, example, head), s_.keys, Scratch(at_.keys_across));
    PackDown(RowsOf(value_, s_.keys, s_.value_size, example, head), s_.keys, Scratch(at_.values));
    ForBlocks([&](const Block& block) {
      Pack(query, block.first, block.count, Scratch(at_.query), at_.size);
      MeetKeys(block, Scratch(at_.query), at_.size, Scratch(at_.keys_across), s_.size, Scratch(at_.scores));
      v_.For(v_.Int(0), block.count, 1, [&](Value r) { Weigh(example, head, block, r); });
      Mix(block, Scratch(at_.scores), Scratch(at_.values), at_.value_size, Scratch(at_.output));
      v_.For(v_.Int(0), block.count, 1, [&](Value r) {
        Value i = v_.Add(block.first, r);
        Value factor = Reciprocal(v_.LoadSplat(Statistic(sum_, example, head, i)));
        Value from = v_.At(Scratch(at_.output), v_.Mul(r, at_.value_size));
        Value to = v_.At(output.pointer, v_.Mul(i, output.stride));
        ForVectors(s_.value_size, [&](int64_t n, int64_t live) {
          v_.Store(v_.MulF(v_.Load(v_.At(from, n)), factor), v_.At(to, n), live);
        });
      });
    });
  }

  // Replaces the products of the block's query `r` by exp(score - largest), and stores the largest score and the sum.
  void Weigh(Value example, Value head, const Block& block, Value r) {
    Value query = v_.Add(block.first, r), row = v_.At(Scratch(at_.scores), v_.Mul(r, at_.score_row));
    Value lowest = v_.Splat(-std::numeric_limits<double>::infinity());
    Value largest = ForScores(example, query, block, {lowest}, [&](Value j, const ScoreMasks& masks, const Values& m) {
      Value place = v_.At(row, j), x = Masked(v_.Load(place), masks);
      v_.Store(x, place);
      return Values{Largest(x, m[0])};
    })[0];
    largest = AcrossLanes(largest, [&](Value a, Value b) { return Largest(a, b); });
    Value sum = v_.For(v_.Int(0), block.keys, v_.width(), {v_.Splat(0)}, [&](Value j, const Values& before) {
      Value place = v_.At(row, j), e = Exp(v_.SubF(v_.Load(place), largest));
      v_.Store(e, place);
      return Values{v_.AddF(before[0], e)};
    })[0];
    sum = AcrossLanes(sum, [&](Value a, Value b) { return v_.AddF(a, b); });
    v_.Store(largest, Statistic(largest_, example, head, query), 1);
    v_.Store(sum, Statistic(sum_, example, head, query), 1);
  }

  void HeadGradient(Value example, Value head) {
    const Rows query = RowsOf(query_, s_.queries, s_.size, example, head);
    const Rows key = RowsOf(key_, s_.keys, s_.size, example, head);
    const Rows value = RowsOf(value_, s_.keys, s_.value_size, example, head);
    const Rows output = RowsOf(output_, s_.queries, s_.value_size, example, head);
    const Rows dy = RowsOf(dy_, s_.queries, s_.value_size, example, head);
    PackAcross(key, s_.keys, Scratch(at_.keys_across));
    PackDown(key, s_.keys, Scratch(at_.keys_down));
    PackAcross(value, s_.keys, Scratch(at_.values_across));
    EmitZeros(v_, Scratch(at_.dkey), v_.Int(at_.keys * at_.size), at_.size);
    EmitZeros(v_, Scratch(at_.dvalue), v_.Int(at_.keys * at_.value_size), at_.value_size);
    ForBlocks([&](const Block& block) {
      Pack(query, block.first, block.count, Scratch(at_.query), at_.size);
      Pack(dy, block.first, block.count, Scratch(at_.dy), at_.value_size);
      MeetKeys(block, Scratch(at_.query), at_.size, Scratch(at_.keys_across), s_.size, Scratch(at_.scores));
      MeetKeys(block, Scratch(at_.dy), at_.value_size, Scratch(at_.values_across), s_.value_size, Scratch(at_.dscores));
      v_.For(v_.Int(0), block.count, 1, [&](Value r) { WeighAgain(example, head, block, output, r); });
      GiveToKeys(block, Scratch(at_.scores), Scratch(at_.dy), at_.value_size, Scratch(at_.dvalue));
      GiveToKeys(block, Scratch(at_.dscores), Scratch(at_.query), at_.size, Scratch(at_.dkey));
      Mix(block, Scratch(at_.dscores), Scratch(at_.keys_down), at_.size, Scratch(at_.dquery));
      Unpack(Scratch(at_.dquery), at_.size, block.count, RowsOf(dquery_, s_.queries, s_.size, example, head),
             block.first);
    });
    Unpack(Scratch(at_.dkey), at_.size, v_.Int(s_.keys), RowsOf(dkey_, s_.keys, s_.size, example, head), v_.Int(0));
    Unpack(Scratch(at_.dvalue), at_.value_size, v_.Int(s_.keys), RowsOf(dvalue_, s_.keys, s_.value_size, example, head),
           v_.Int(0));
  }

  // Copies `count` packed rows of `padded` numbers to rows from `first` on: the opposite of Pack.
  void Unpack(Value from, int64_t padded, Value count, const Rows& to, Value first) {
    v_.For(v_.Int(0), count, 1, [&](Value r) {
      Value source = v_.At(from, v_.Mul(r, padded)), target = v_.At(to.pointer, v_.Mul(v_.Add(first, r), to.stride));
      ForVectors(to.width,
                 [&](int64_t n, int64_t live) { v_.Store(v_.Load(v_.At(source, n)), v_.At(target, n), live); });
    });
  }

  // Replaces the products of the block's query `r` by the weights, and the weights' gradients by those of the products.
  void WeighAgain(Value example, Value head, const Block& block, const Rows& output, Value r) {
    Value query = v_.Add(block.first, r), row = v_.Mul(r, at_.score_row);
    Value largest = v_.LoadSplat(Statistic(largest_, example, head, query));
    Value factor = Reciprocal(v_.LoadSplat(Statistic(sum_, example, head, query)));
    Value y = v_.At(output.pointer, v_.Mul(query, output.stride));
    Value dy = v_.At(Scratch(at_.dy), v_.Mul(r, at_.value_size)), dot = v_.Splat(0);
    ForVectors(s_.value_size, [&](int64_t n, int64_t live) {
      dot = v_.AddF(dot, v_.MulF(v_.Load(v_.At(y, n), live), v_.Load(v_.At(dy, n))));
    });
    dot = AcrossLanes(dot, [&](Value a, Value b) { return v_.AddF(a, b); });
    Value p_row = v_.At(Scratch(at_.scores), row), d_row = v_.At(Scratch(at_.dscores), row);
    ForScores(example, query, block, {}, [&](Value j, const ScoreMasks& masks, const Values&) {
      Value p_place = v_.At(p_row, j), d_place = v_.At(d_row, j);
      Value p = v_.MulF(Exp(v_.SubF(Masked(v_.Load(p_place), masks), largest)), factor);
      Value d = v_.MulF(v_.MulF(p, v_.SubF(v_.Load(d_place), dot)), v_.Splat(scale_));
      if (masks.kept) d = v_.Select(masks.kept, d, v_.Splat(0));
      v_.Store(p, p_place);
      v_.Store(d, d_place);
      return Values{};
    });
  }

  const AttentionShape s_;
  const bool gradient_;
  const AttentionScratch at_;
  const double scale_, low_;
  const bool causal_;
  Value query_, key_, value_, output_, largest_, sum_, dy_, dquery_, dkey_, dvalue_, scratch_;
  Value keep_;  // the mask; null where there is none
  bool keep_is_by_query_ = false;
};

absl::Status EmitAttention(const EmitRequest& request) {
  mlir::func::FuncOp kernel = request.kernel;
  // Lowering of vector functions to polynomials needs this dialect.
  kernel.getContext()->loadDialect<mlir::vector::VectorDialect>();
  mlir::Operation& op = kernel.getBody().front().front();
  if (auto forward = mlir::dyn_cast<exec::AttentionOp>(op)) {
    AttentionEmitter(forward, request).Emit();
  } else {
    AttentionEmitter(mlir::cast<exec::AttentionGradOp>(op), request).Emit();
  }
  return absl::OkStatus();
}

}  // namespace

extern const Emitter kAttentionEmitter = {"attention", IsKernelOf<exec::AttentionOp, exec::AttentionGradOp>,
                                          EmitAttention, /*has_vectors=*/true};

}  // namespace tandem
