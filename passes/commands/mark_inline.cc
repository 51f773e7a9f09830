// td-mark-inline, as Passes.td describes it.
#include <algorithm>

#include "mlir/IR/TypeUtilities.h"
#include "passes/commands/commands.h"
#include "passes/pass_util.h"
#include "passes/passes.h"

namespace tandem {

#define GEN_PASS_DEF_MARKINLINEPASS
#include "passes/passes.h.inc"

namespace {

// A command that reads fewer than kInlineElements elements runs inline: waking a thread costs more than it saves. The
// limit for all elements that a map touches is kInlineMapElements, because kernels of maps do more work per element.
constexpr int64_t kInlineElements = 32768, kInlineMapElements = 8192;
// Most calls of a flat program: a longer list has calls that take long themselves, so that a flat list gains little.
constexpr int64_t kMaxCalls = 512;

// Returns the elements of one row of a batched type, or all elements of an unbatched one.
int64_t RowElements(mlir::Type type) {
  auto tensor = mlir::cast<mlir::RankedTensorType>(type);
  return mlir::ShapedType::getNumElements(td::IsBatched(type) ? tensor.getShape().drop_front() : tensor.getShape());
}

int64_t RowElements(mlir::ValueRange values) {
  int64_t elements = 0;
  for (mlir::Value v : values) elements += RowElements(v.getType());
  return elements;
}

class MarkInlinePass : public impl::MarkInlinePassBase<MarkInlinePass> {
 public:
  void runOnOperation() final {
    mlir::func::FuncOp step = CpuStep(getOperation());
    if (!step) return;
    replicas_ = ConfigOf(getOperation()).getReplicas();
    lanes_ = 1;
    bool flat = true;
    int64_t calls = 0;
    for (mlir::Operation* op : CommandsOf(step.getBody().front())) {
      auto map = mlir::dyn_cast<exec::MapMicrobatchesOp>(op);
      if (map) lanes_ = map.getLanes() / replicas_;
      Execution execution = GetExecution(op);
      execution.run_inline = map ? MapElements(map) < kInlineMapElements : ElementsRead(op) < kInlineElements;
      SetExecution(op, execution);
      flat = flat && execution.run_inline && (map ? IsListable(map) : IsListable(op));
      calls += map ? lanes_ * static_cast<int64_t>(CommandsOf(map.getBody().front()).size()) : Items(op);
    }
    if (flat && calls * replicas_ <= kMaxCalls) SetFlat(getOperation());
  }

 private:
  // Returns the elements that a command outside of maps reads, or kInlineElements for one that is always worth a
  // thread.
  int64_t ElementsRead(mlir::Operation* op) const {
    if (mlir::isa<exec::LibraryCallOp>(op)) return kInlineElements;
    if (mlir::isa<exec::LaneReduceOp>(op)) return RowElements(op->getOperands()) * lanes_;
    if (mlir::isa<exec::AllReduceOp>(op)) return RowElements(op->getOperands()) * replicas_;
    if (auto group = mlir::dyn_cast<exec::GroupedLaunchOp>(op)) {
      const auto members = static_cast<int64_t>(group.getMembers());
      const int64_t arguments = (op->getNumOperands() + op->getNumResults()) / members;
      const int64_t results = op->getNumResults() / members;
      int64_t elements = 0;
      for (int64_t member = 0; member < members; ++member)
        elements += RowElements(op->getResult(member * results).getType());
      return elements * arguments;
    }
    if (mlir::isa<exec::LaunchOp>(op)) {
      switch (*LaunchedDomain(op)) {
        case format::Domain::kBlocks:
          return kInlineElements;
        case format::Domain::kElements:
          return 2 * std::max(op->getNumOperands() ? RowElements(op->getOperand(0).getType()) : 0,
                              RowElements(op->getResult(0).getType()));
        default:
          return 0;
      }
    }
    if (mlir::isa<exec::CheckFiniteOp>(op)) {
      int64_t elements = 0;
      for (mlir::Value v : op->getOperands()) {
        if (mlir::isa<mlir::FloatType>(mlir::getElementTypeOrSelf(v))) elements += RowElements(v.getType());
      }
      return elements;
    }
    return op->getNumResults() ? RowElements(op->getResult(0).getType()) : 0;
  }

  // Returns the elements that the commands of a map touch for a full batch on all replicas.
  int64_t MapElements(exec::MapMicrobatchesOp map) const {
    const int64_t rows = map.getRowsPerLane(),
                  microbatches = (rows + map.getMicrobatchRows() - 1) / map.getMicrobatchRows();
    int64_t total = 0;
    for (mlir::Operation* op : CommandsOf(map.getBody().front())) {
      if (mlir::isa<exec::LibraryCallOp>(op)) return kInlineMapElements;
      for (mlir::ValueRange values : {mlir::ValueRange(op->getOperands()), mlir::ValueRange(op->getResults())}) {
        for (mlir::Value v : values) {
          const int64_t times =
              static_cast<int64_t>(map.getLanes()) * (td::IsBatched(v.getType()) ? rows : microbatches);
          if (RowElements(v.getType()) >= kInlineMapElements / times) return kInlineMapElements;
          total += RowElements(v.getType()) * times;
        }
      }
    }
    return total;
  }

  // True if the map can be part of a flat program: one of launches only, with one microbatch per lane, since lanes of
  // several microbatches also add up their sums between calls.
  static bool IsListable(exec::MapMicrobatchesOp map) {
    if (map.getRowsPerLane() > map.getMicrobatchRows()) return false;
    return llvm::all_of(CommandsOf(map.getBody().front()),
                        [](mlir::Operation* op) { return mlir::isa<exec::LaunchOp>(op); });
  }
  bool IsListable(mlir::Operation* op) const {
    if (mlir::isa<exec::AllReduceOp>(op)) return replicas_ == 1;
    return mlir::isa<exec::LaneReduceOp, exec::LaunchOp, exec::GroupedLaunchOp, exec::CheckFiniteOp, exec::CopyOp>(op);
  }

  // Returns the number of calls of a command: a group has one per member, reductions and checks one per operand.
  static int64_t Items(mlir::Operation* op) {
    if (auto group = mlir::dyn_cast<exec::GroupedLaunchOp>(op)) return static_cast<int64_t>(group.getMembers());
    return mlir::isa<exec::LaneReduceOp, exec::CheckFiniteOp>(op) ? op->getNumOperands() : 1;
  }

  int64_t replicas_ = 1, lanes_ = 1;
};

}  // namespace

}  // namespace tandem
