// Emits reductions of one row by several threads. Every thread combines elements a fixed distance apart, then threads
// combine in pairs by shuffles, then warps in the order of their numbers. The tree is the same for every row, whichever
// threads compute it.
#include "graph/ir/register_type.h"
#include "llvm/Support/MathExtras.h"
#include "passes/codegen/gpu/row.h"

namespace tandem {

int64_t RowKernel::LanesPerElement(const Team& team, mlir::Operation* op, const Reduction& reduction, int64_t results) {
  auto shape = mlir::cast<mlir::RankedTensorType>(op->getOperand(0).getType()).getShape();
  // Chooses the number of threads per result so that neighbouring threads read neighbouring elements. If the last
  // dimension is reduced, these belong to one result; else to several results, and one thread computes each.
  int64_t last = static_cast<int64_t>(shape.size()) - 1;
  while (last > 0 && shape[last] == 1) --last;
  if (!llvm::is_contained(reduction.axes, last)) return 1;
  int64_t reduced = 1;
  for (int64_t axis : reduction.axes) reduced *= shape[axis];
  if (!team.warp && results <= 2 && reduced >= 4 * team.size) return team.size;
  const int64_t runs = reduced % 4 == 0 ? reduced / 4 : reduced;
  return std::min<int64_t>(kWarp, llvm::PowerOf2Ceil(static_cast<uint64_t>(runs)));
}

mlir::Value GpuKernelBuilder::ReduceAcross(ElementEmitter& e, mlir::Operation* op, const Reduction& reduction,
                                           mlir::ValueRange fixed, mlir::Value lane, int64_t lanes, bool in_registers) {
  mlir::Location loc = op->getLoc();
  const Space space = ReducedSpace(op, reduction);
  auto element_at = [&](const Point& point) { return e.ReducedElement(op, reduction, fixed, point.digits); };
  if (space.radices.empty()) return element_at(Point{});
  const LinearSpace linear(e, loc, space, /*border=*/0, [&](const Point& p) { element_at(p); });
  auto combine = [&](mlir::Value x, mlir::Value y) { return Combine(b_, loc, reduction.kind, x, y, false); };
  auto reduce = [&] {
    const int width = linear.width();
    mlir::Type scalar = td::RegisterType(mlir::getElementTypeOrSelf(op->getOperand(0).getType()));
    mlir::Value neutral = NeutralElement(b_, loc, reduction.kind, scalar);
    auto of_run = [&](mlir::Value run) {
      std::vector<mlir::Value> v;
      for (const Point& point : linear.At(Mul(run, width), width)) v.push_back(element_at(point));
      return CombinePairs(b_, loc, reduction.kind, std::move(v));
    };
    if (in_registers) {
      mlir::Value all = neutral;
      ForRuns(lane, lanes, linear.size() / width, [&](mlir::Value run, mlir::Value is_one) {
        mlir::Value v = of_run(run);
        if (is_one) v = Select(is_one, v, neutral);
        all = combine(all, v);
      });
      return all;
    }
    return For(lane, Int(linear.size() / width), lanes, {neutral},
               [&](mlir::Value run, const std::vector<mlir::Value>& before) -> std::vector<mlir::Value> {
                 return {combine(before[0], of_run(run))};
               })[0];
  };
  mlir::Value sum = reduction.arg_max ? ArgMaxKey(loc, linear, lane, lanes, element_at) : reduce();
  for (int mask = static_cast<int>(std::min<int64_t>(lanes, kWarp)) / 2; mask > 0; mask /= 2) {
    sum = combine(sum, device_.ShuffleXor(loc, sum, mask));
  }
  return sum;
}

mlir::Value GpuKernelBuilder::CombineAcrossBlock(ElementEmitter& e, const Team& team, td::ReduceKind kind,
                                                 mlir::Value value, int64_t area) {
  const int64_t warps = team.size / kWarp;
  auto type = mlir::RankedTensorType::get({warps}, value.getType());
  ElementEmitter::Buffer buffer = {Offset(shared_, Int(area))};
  If(Less(Rem(team.lane, kWarp), Int(1)), [&] { e.Store(loc_, type, buffer, {Div(team.lane, kWarp)}, value); });
  device_.SyncBlock(loc_);
  mlir::Value sum;
  for (int64_t w = 0; w < warps; ++w) {
    mlir::Value part = e.Load(loc_, type, buffer, {Int(w)});
    sum = sum ? Combine(b_, loc_, kind, sum, part, false) : part;
  }
  return sum;
}

void RowKernel::EmitReduction(ElementEmitter& e, const Team& team, mlir::Operation* op, mlir::Value row,
                              const Store& store) {
  const bool over_batch = IsBatchReduce(op);
  Reduction reduction = over_batch ? *BatchReductionOf(op) : *ReductionOrArgMaxOf(op);
  const bool arg_max = reduction.arg_max;
  auto result = [&](mlir::Value sum) { return arg_max ? ArgMaxPlace(op->getLoc(), sum) : sum; };
  const bool contributes = over_batch && reduction.axes.empty();  // the op's own emitElement emits what a row adds
  if (reduction.taps > 0) {
    status_.Update(absl::UnimplementedError("a kernel for GPUs has a column sum among other reductions"));
    return;
  }
  auto type = mlir::cast<mlir::RankedTensorType>(op->getResult(0).getType());
  const int64_t results = InnerSize(type);
  auto indices = [&](mlir::Value o) {
    Point point;
    if (td::IsBatched(type)) point.digits.push_back({row, mlir::ShapedType::kDynamic});
    if (results > 1) point.digits.push_back({o, results});
    if (parts_ > 1) own_parts_.insert(o);
    return IndicesAt(e, op->getLoc(), point, type);
  };
  if (over_batch && !contributes) reduction.axes.erase(reduction.axes.begin());
  auto fixed = [&](mlir::ValueRange at) {
    llvm::SmallVector<mlir::Value> all;
    if (over_batch) all.push_back(row);
    all.append(at.begin(), at.end());
    return all;
  };
  const bool alone = contributes || (arg_max && !HasArgMaxKeys(op, reduction));
  const int64_t lanes = alone ? 1 : LanesPerElement(team, op, reduction, results);
  if (lanes > kWarp) {
    for (int64_t o = 0; o < results; ++o) {
      auto at = indices(Int(o));
      mlir::Value sum = ReduceAcross(e, op, reduction, fixed(at), team.lane, lanes);
      sum = CombineAcrossBlock(e, team, reduction.kind, sum, team_shared_ + kReduceAreaBytes * reduce_areas_++);
      If(Less(team.lane, Int(1)), [&] { store(indices(Int(o)), result(sum)); });
    }
    return;
  }
  auto element = [&](mlir::Value o, mlir::Value lane) -> mlir::Value {
    auto at = indices(o);
    if (contributes) return e.ReduceRow(op, row, at);
    if (arg_max && lanes == 1) return e.Element(op->getLoc(), op->getResult(0), at);
    return ReduceAcross(e, op, reduction, fixed(at), lane, lanes);
  };
  // If rows are cut into parts, each part has one result, and this block computes the results of its parts.
  mlir::Value begin = parts_ > 1 ? part_begin_ : Int(0), end = parts_ > 1 ? part_end_ : Int(results);
  if (lanes == 1) {
    For(Add(begin, team.lane), end, team.size, [&](mlir::Value o) { store(indices(o), element(o, Int(0))); });
    return;
  }
  // All threads of a warp must take part in a shuffle, so those without a result of their own compute the last one
  // again.
  const int64_t groups = team.size / lanes;
  mlir::Value group = Div(team.lane, lanes), lane = Rem(team.lane, lanes);
  For(Int(0), CeilDiv(Sub(end, begin), groups), 1, [&](mlir::Value trip) {
    mlir::Value o = Add(begin, Add(Mul(trip, groups), group));
    mlir::Value sum = element(parts_ == 1 && results % groups == 0 ? o : Min(o, Sub(end, Int(1))), lane);
    If(And(Less(lane, Int(1)), Less(o, end)), [&] { store(indices(o), result(sum)); });
  });
}

}  // namespace tandem
