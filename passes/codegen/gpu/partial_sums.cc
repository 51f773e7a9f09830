// Emits sums over the batch: blocks leave partial sums in `scratch`, which the last block to arrive adds up. Blocks
// form groups: the last block of a group adds up the partial sums of the group, and the last of these blocks adds up
// the groups. Which block is last changes from launch to launch, but the order of additions does not.
#include "passes/codegen/gpu/partial_sums.h"

#include "base/align.h"
#include "graph/ir/register_type.h"
#include "runtime/commands/gpu_launch.h"

namespace tandem {
namespace {

// The number of blocks in a group. A thread loads as many partial sums at once, which takes about as long as loading
// one.
constexpr int64_t kGroup = 16;

int64_t GroupsOf(int64_t blocks) { return (blocks + kGroup - 1) / kGroup; }

}  // namespace

void PartialSums::PlanPartials(int64_t most) {
  for (unsigned r : batch_reduces_) {
    auto type = mlir::cast<mlir::RankedTensorType>(results_[r].getType());
    const td::ReduceKind kind = BatchReductionOf(results_[r].getDefiningOp())->kind;
    mlir::Type element = td::RegisterType(type.getElementType());  // partial sums are not rounded
    const int64_t elements = InnerSize(type);
    partials_.push_back(
        {r, kind, elements, plan_.scratch_bytes, mlir::RankedTensorType::get(type.getShape(), element)});
    plan_.scratch_bytes += AlignUp(most * elements * StorageBytes(element), 256);
  }
}

ElementEmitter::Buffer PartialSums::PartialBuffer(const Partial& partial, mlir::Value number) {
  const int64_t bytes = partial.elements * StorageBytes(partial.type.getElementType());
  return {Offset(Scratch(), Add(Mul(number, bytes), Int(partial.offset)))};
}

mlir::Value PartialSums::SumOfPartials(ElementEmitter& e, const Partial& partial, mlir::Value element,
                                       const Slots& slots) {
  const mlir::Type type = partial.type.getElementType();
  const auto all = mlir::RankedTensorType::get({mlir::ShapedType::kDynamic, partial.elements}, type);
  mlir::Value neutral = NeutralElement(b_, loc_, partial.kind, type), end = Sub(slots.count, Int(1));
  const auto combine = [&](mlir::Value x, mlir::Value y) { return Combine(b_, loc_, partial.kind, x, y, false); };
  const auto sum_from = [&](mlir::Value begin) {
    std::vector<mlir::Value> v;
    for (int64_t i = 0; i < std::min(kGroup, slots.most); ++i) {
      mlir::Value number = Add(begin, Int(i)), slot = Add(slots.first, Mul(Min(number, end), slots.stride));
      mlir::Value sum = e.Load(loc_, all, {Offset(Scratch(), Int(partial.offset))}, {slot, element});
      v.push_back(Select(Less(number, slots.count), sum, neutral));
    }
    for (size_t step = 1; step < v.size(); step *= 2) {
      for (size_t i = 0; i + step < v.size(); i += 2 * step) v[i] = combine(v[i], v[i + step]);
    }
    return v[0];
  };
  if (slots.most <= kGroup) return sum_from(Int(0));
  return For(Int(0), slots.count, kGroup, {neutral},
             [&](mlir::Value begin, const std::vector<mlir::Value>& before) -> std::vector<mlir::Value> {
               return {combine(before[0], sum_from(begin))};
             })[0];
}

void PartialSums::SumSlots(ElementEmitter& e, const Arrival& arrival, const Slots& slots, bool whole) {
  // Calls `body` for this thread's elements of a result of `elements` elements, if they are in the block's tile. For
  // all results of equal size a thread has the same elements.
  const auto for_elements = [&](int64_t elements, const std::function<void(mlir::Value, const Point&)>& body) {
    const auto at = [&](mlir::Value k) {
      Point point;
      if (elements > 1) point.digits.push_back({k, elements});
      body(k, point);
    };
    if (arrival.tiles == 1) return For(thread_, Int(elements), plan_.block, at);
    const int64_t columns = arrival.columns, of_tile = arrival.columns_of_tile, taps = elements / columns;
    mlir::Value begin = Mul(arrival.tile, of_tile);
    For(thread_, Int(taps * of_tile), plan_.block, [&](mlir::Value k) {
      mlir::Value column = Add(begin, Rem(k, of_tile)), element = Add(Mul(Div(k, of_tile), columns), column);
      if (columns % of_tile == 0) return at(element);
      If(Less(column, Int(columns)), [&] { at(element); });
    });
  };
  for (const Partial& partial : partials_) {
    for_elements(partial.elements, [&](mlir::Value k, const Point& point) {
      mlir::Value sum = SumOfPartials(e, partial, k, slots);
      const mlir::Type type = whole ? results_[partial.result].getType() : mlir::Type(partial.type);
      e.Store(loc_, type, whole ? ResultBuffer(partial.result) : PartialBuffer(partial, slots.first),
              IndicesAt(e, loc_, point, type), sum);
    });
  }
  if (!whole) return;
  for (const auto& group : GroupBySize(results_, epilogue_results_)) {
    for_elements(InnerSize(results_[group[0]].getType()),
                 [&](mlir::Value, const Point& point) { StoreEpilogue(e, group, {point}); });
  }
}

void PartialSums::StoreEpilogue(ElementEmitter& e, const std::vector<unsigned>& which, llvm::ArrayRef<Point> points) {
  for (unsigned r : batch_reduces_) e.Bind(results_[r], ResultBuffer(r));
  StorePoints(e, which, points);
}

void PartialSums::AddUpPartials(ElementEmitter& e, const Arrival& arrival) {
  const int64_t per_block = arrival.partials_per_block, groups = GroupsOf(arrival.most);
  const int64_t counters = groups == 1 ? 1 : 1 + groups;
  if (arrival.tiles * counters > kGpuCounters) {
    status_.Update(absl::InternalError(symbol_ + " sums over too many blocks"));
    return;
  }
  mlir::Value counter = Mul(arrival.tile, counters);
  if (per_block > 1) {
    device_.SyncBlock(loc_);
    SumSlots(e, arrival, {Mul(arrival.number, per_block), Int(per_block), per_block, 1}, /*whole=*/false);
  }
  if (groups == 1) {
    If(IsLastBlock(e, counter, arrival.count), [&] {
      SumSlots(e, arrival, {Int(0), arrival.count, arrival.most, per_block}, /*whole=*/true);
    });
    return;
  }
  mlir::Value group = Div(arrival.number, kGroup), first = Mul(group, kGroup);
  mlir::Value members = Min(Int(kGroup), Sub(arrival.count, first));
  If(IsLastBlock(e, Add(Add(counter, Int(1)), group), members), [&] {
    SumSlots(e, arrival, {Mul(first, per_block), members, kGroup, per_block}, /*whole=*/false);
    mlir::Value all = CeilDiv(arrival.count, kGroup);
    If(IsLastBlock(e, counter, all), [&] {
      SumSlots(e, arrival, {Int(0), all, groups, per_block * kGroup}, /*whole=*/true);
    });
  });
}

}  // namespace tandem
