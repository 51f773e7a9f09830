// td-rematerialize: computes cheap values again in the loops over microbatches (maps) that read them, instead of
// keeping them (passes/Passes.td).
#include <algorithm>
#include <vector>

#include "graph/ir/interfaces.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "passes/analysis/offset_assignment.h"
#include "passes/base/pass_util.h"
#include "passes/base/passes.h"
#include "passes/codegen/op_weight.h"
#include "passes/exec/dialect.h"

namespace tandem {

#define GEN_PASS_DEF_REMATERIALIZEPASS
#include "passes/passes.h.inc"

namespace {

// Most ops of a recomputation. Results of longer chains are stored, since every map that reads the result repeats the
// chain.
constexpr size_t kMaxOps = 24;
constexpr int kMaxSources = 4;

// How a batched value that a map keeps can be computed again in another map, from values outside of maps.
struct Recipe {
  llvm::SetVector<mlir::Operation*> ops;  // the ops to repeat, which are in the map that computes the value, in order
  // What the ops read: pairs of a value in that map and the value outside of maps that it stands for.
  llvm::SmallVector<std::pair<mlir::Value, mlir::Value>> sources;
  // Those values outside of maps in `sources` that are batched.
  llvm::SmallSetVector<mlir::Value, kMaxSources> batched;
  mlir::Value narrow;  // a value in that map, smaller than the one to recompute, which is kept instead of it
};

exec::MapMicrobatchesOp MapOf(mlir::Value v) { return v.getDefiningOp<exec::MapMicrobatchesOp>(); }

class RematerializePass : public impl::RematerializePassBase<RematerializePass> {
 public:
  void getDependentDialects(mlir::DialectRegistry& registry) const final {
    impl::RematerializePassBase<RematerializePass>::getDependentDialects(registry);
    RegisterTrialDialects(registry);
  }

  void runOnOperation() final {
    step_ = StepFunction(getOperation());
    if (!step_) return;
    const int64_t limit = ConfigOf(getOperation()).getMemoryLimit();
    for (auto map : step_.getOps<exec::MapMicrobatchesOp>()) KeepNarrow(map);
    Run(1);
    for (int sources = 2; limit > 0 && sources <= kMaxSources && ExpectedBytes() > limit; ++sources) Run(sources);
  }

 private:
  // Goes over all maps once and recomputes kept values where that takes at most `max_sources` batched sources.
  void Run(int max_sources) {
    llvm::SmallVector<exec::MapMicrobatchesOp> maps(step_.getOps<exec::MapMicrobatchesOp>());
    for (exec::MapMicrobatchesOp map : maps) {
      for (mlir::OpResult result : map.getResults()) {
        if (!td::IsBatched(result.getType()) || result.use_empty()) continue;
        if (!OnlyMapsRead(result)) continue;
        Recipe recipe;
        mlir::Value inner = map.getBody().front().getTerminator()->getOperand(result.getResultNumber());
        if (!MakeRecipe(map, inner, result, max_sources, recipe)) continue;
        if (max_sources == 1 && !CostsNoMemory(result, recipe)) continue;
        Apply(result, recipe);
      }
    }
    for (exec::MapMicrobatchesOp map : maps) RemoveUnused(map);
  }

  static bool OnlyMapsRead(mlir::Value v) {
    return llvm::all_of(v.getUsers(), [](mlir::Operation* user) { return mlir::isa<exec::MapMicrobatchesOp>(user); });
  }

  // If cheap ops compute a kept value from a smaller value of the same map, keeps the smaller value instead.
  void KeepNarrow(exec::MapMicrobatchesOp map) {
    mlir::Operation* yield = map.getBody().front().getTerminator();
    for (mlir::OpResult result : map.getResults()) {
      if (!td::IsBatched(result.getType()) || result.use_empty() || !OnlyMapsRead(result)) continue;
      mlir::Value wide = yield->getOperand(result.getResultNumber());
      Recipe recipe;
      recipe.narrow = NarrowSource(wide);
      if (!recipe.narrow || !MakeRecipe(map, wide, result, 0, recipe)) continue;
      if (mlir::Value kept = SourceOf(map, recipe.narrow, result)) {
        recipe.sources.push_back({recipe.narrow, kept});
        Apply(result, recipe);
        continue;
      }
      yield->setOperand(result.getResultNumber(), recipe.narrow);
      result.setType(recipe.narrow.getType());
      for (mlir::OpOperand& use : llvm::make_early_inc_range(result.getUses())) Widen(use, wide, recipe);
      for (mlir::Operation* op : llvm::reverse(recipe.ops)) {
        if (mlir::isOpTriviallyDead(op)) op->erase();
      }
    }
  }

  // Returns the smallest value from which cheap ops compute `v` without another batched operand; null if none is
  // smaller than `v`.
  mlir::Value NarrowSource(mlir::Value v) {
    mlir::Value narrow;
    int64_t bytes = RowBytes(v.getType());
    for (size_t n = 0; n < kMaxOps && v.getDefiningOp() && IsCheap(v.getDefiningOp()); ++n) {
      llvm::SmallSetVector<mlir::Value, 2> sources;
      for (mlir::Value operand : v.getDefiningOp()->getOperands()) {
        if (td::IsBatched(operand.getType()) && !FollowsFromStatic(operand)) sources.insert(operand);
      }
      if (sources.size() != 1) break;
      v = sources[0];
      if (RowBytes(v.getType()) >= bytes) continue;
      narrow = v;
      bytes = RowBytes(v.getType());
    }
    return narrow;
  }

  // True if `v` follows from unbatched values alone: it is unbatched, or cheap ops compute it from unbatched values.
  bool FollowsFromStatic(mlir::Value v) {
    if (!td::IsBatched(v.getType())) return true;
    mlir::Operation* op = v.getDefiningOp();
    return op && IsCheap(op) && llvm::all_of(op->getOperands(), [&](mlir::Value o) { return FollowsFromStatic(o); });
  }

  // Replaces the operand `use` of a map by the smaller value of `recipe`, from which the map then computes `wide`
  // again.
  static void Widen(mlir::OpOperand& use, mlir::Value wide, const Recipe& recipe) {
    auto map = mlir::cast<exec::MapMicrobatchesOp>(use.getOwner());
    mlir::Block& body = map.getBody().front();
    mlir::BlockArgument argument = body.getArgument(use.getOperandNumber());
    mlir::IRMapping inside;
    for (auto [inner, outer] : recipe.sources) inside.map(inner, ArgumentFor(map, outer));
    mlir::OpBuilder builder = mlir::OpBuilder::atBlockBegin(&body);
    mlir::BlockArgument narrow = body.insertArgument(argument.getArgNumber(), recipe.narrow.getType(), wide.getLoc());
    inside.map(recipe.narrow, narrow);
    for (mlir::Operation* op : recipe.ops) builder.clone(*op, inside);
    argument.replaceAllUsesWith(inside.lookup(wide));
    body.eraseArgument(argument.getArgNumber());
  }

  // True if `v`, a value of the map's body, can be computed in another map. Adds the ops and sources for it to
  // `recipe`. `goal` is the kept result to be replaced, which may not be its own source.
  bool MakeRecipe(exec::MapMicrobatchesOp map, mlir::Value v, mlir::OpResult goal, int max_sources, Recipe& recipe) {
    if (recipe.narrow && v == recipe.narrow) return true;
    mlir::Value source = SourceOf(map, v, goal);
    mlir::Operation* op = v.getDefiningOp();
    if (source) {
      if (!llvm::is_contained(recipe.sources, std::make_pair(v, source))) recipe.sources.push_back({v, source});
      if (td::IsBatched(source.getType())) recipe.batched.insert(source);
      return recipe.batched.size() <= static_cast<size_t>(max_sources);
    }
    if (!op || !IsCheap(op)) return false;
    if (recipe.ops.contains(op)) return true;
    for (mlir::Value operand : op->getOperands()) {
      if (!MakeRecipe(map, operand, goal, max_sources, recipe)) return false;
    }
    recipe.ops.insert(op);
    return recipe.ops.size() <= kMaxOps;
  }

  // Returns the value outside of maps that `v`, a value of the map's body, stands for: the operand if `v` is an
  // argument, or a kept result if the map yields `v`. Null if there is none but `goal`.
  static mlir::Value SourceOf(exec::MapMicrobatchesOp map, mlir::Value v, mlir::OpResult goal) {
    if (auto argument = mlir::dyn_cast<mlir::BlockArgument>(v)) return map.getOperand(argument.getArgNumber());
    mlir::Operation* yield = map.getBody().front().getTerminator();
    for (mlir::OpOperand& use : v.getUses()) {
      if (use.getOwner() != yield || !td::IsBatched(v.getType())) continue;
      mlir::OpResult result = map->getResult(use.getOperandNumber());
      if (result != goal && !result.use_empty()) return result;
    }
    return {};
  }

  bool IsCheap(mlir::Operation* op) {
    if (mlir::matchPattern(op, mlir::m_Constant())) return true;
    const td::FusionKind kind = td::FusionKindOf(op);
    if (kind != td::FusionKind::kElementwise && kind != td::FusionKind::kInjective) return false;
    if (op->getNumResults() != 1) return false;
    auto [it, added] = cheap_.try_emplace(op->getName(), false);
    if (added) it->second = !WeightOf(op).expensive;
    return it->second;
  }

  int Position(mlir::Operation* op) {
    int n = 0;
    for (mlir::Operation& other : *op->getBlock()) {
      if (&other == op) break;
      ++n;
    }
    return n;
  }

  int LastUse(mlir::Value v) {
    int last = v.getDefiningOp() ? Position(v.getDefiningOp()) : 0;
    for (mlir::Operation* user : v.getUsers()) last = std::max(last, Position(user));
    return last;
  }

  // True if each batched source of the recipe is an input, lives as long as `value` in any case, or is no larger than
  // it.
  bool CostsNoMemory(mlir::OpResult value, const Recipe& recipe) {
    const int last = LastUse(value);
    for (mlir::Value source : recipe.batched) {
      if (!MapOf(source)) continue;  // inputs are not in the arena
      if (LastUse(source) < last && RowBytes(source.getType()) > RowBytes(value.getType())) return false;
    }
    return true;
  }

  // Makes every map that reads `value` compute it by the recipe.
  void Apply(mlir::OpResult value, const Recipe& recipe) {
    llvm::SmallSetVector<mlir::Operation*, 8> readers(value.getUsers().begin(), value.getUsers().end());
    for (mlir::Operation* reader : readers) {
      auto map = mlir::cast<exec::MapMicrobatchesOp>(reader);
      mlir::Block& body = map.getBody().front();
      mlir::IRMapping inside;
      for (auto [inner, outer] : recipe.sources) inside.map(inner, ArgumentFor(map, outer));
      mlir::OpBuilder builder = mlir::OpBuilder::atBlockBegin(&body);
      for (mlir::Operation* op : recipe.ops) builder.clone(*op, inside);
      const auto yield = mlir::cast<exec::MapMicrobatchesOp>(value.getOwner()).getBody().front().getTerminator();
      mlir::Value again = inside.lookup(yield->getOperand(value.getResultNumber()));
      for (unsigned i = map.getNumOperands(); i-- > 0;) {
        if (map.getOperand(i) != value) continue;
        body.getArgument(i).replaceAllUsesWith(again);
        body.eraseArgument(i);
        map.getOperandsMutable().erase(i);
      }
    }
  }

  static mlir::Value ArgumentFor(exec::MapMicrobatchesOp map, mlir::Value outer) {
    mlir::Block& body = map.getBody().front();
    for (unsigned i = 0; i < map.getNumOperands(); ++i) {
      if (map.getOperand(i) == outer) return body.getArgument(i);
    }
    map.getOperandsMutable().append(outer);
    return body.addArgument(outer.getType(), outer.getLoc());
  }

  // Removes from the map the kept results and the ops that nothing reads any more, and its operands that are not used
  // any more.
  void RemoveUnused(exec::MapMicrobatchesOp map) {
    mlir::Block& body = map.getBody().front();
    mlir::Operation* yield = body.getTerminator();
    llvm::SmallVector<unsigned> kept;
    for (unsigned i = 0; i < map.getNumResults(); ++i) {
      if (!td::IsBatched(map.getResult(i).getType()) || !map.getResult(i).use_empty()) kept.push_back(i);
    }
    if (kept.size() == map.getNumResults()) return;
    mlir::OpBuilder builder(map);
    llvm::SmallVector<mlir::Type> types;
    llvm::SmallVector<mlir::Attribute> kinds, scopes;
    llvm::SmallVector<mlir::Value> yields;
    for (unsigned i : kept) {
      types.push_back(map.getResult(i).getType());
      kinds.push_back(map.getReduce()[i]);
      scopes.push_back(map.getScope()[i]);
      yields.push_back(yield->getOperand(i));
    }
    yield->setOperands(yields);
    EraseUnusedOperands(map);
    auto smaller = builder.create<exec::MapMicrobatchesOp>(
        map.getLoc(), types, map.getOperands(), builder.getArrayAttr(kinds), builder.getArrayAttr(scopes),
        map.getLanes(), map.getRowsPerLane(), map.getMicrobatchRows());
    smaller.getBody().takeBody(map.getBody());
    for (auto [i, old] : llvm::enumerate(kept)) map.getResult(old).replaceAllUsesWith(smaller.getResult(i));
    map.erase();
  }

  // Returns the expected bytes on one device: variables, one copy of the sums, and the values that maps keep.
  int64_t ExpectedBytes() {
    int64_t bytes = 0, rows = ConfigOf(getOperation()).getBatch();
    for (mlir::BlockArgument a : step_.getArguments()) {
      if (td::VariableOf(step_, a.getArgNumber())) bytes += StaticBytes(a.getType());
    }
    std::vector<LiveRange> ranges;
    for (auto map : step_.getOps<exec::MapMicrobatchesOp>()) {
      for (mlir::Value v : map.getResults()) {
        if (td::IsBatched(v.getType())) {
          ranges.push_back({rows * RowBytes(v.getType()), Position(map), LastUse(v)});
        } else {
          bytes += StaticBytes(v.getType());
        }
      }
    }
    return bytes + PeakLiveBytes(ranges);
  }

  mlir::func::FuncOp step_;
  llvm::DenseMap<mlir::OperationName, bool> cheap_;
};

}  // namespace

}  // namespace tandem
