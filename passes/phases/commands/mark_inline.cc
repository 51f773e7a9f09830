// td-mark-inline: marks commands that have too little work to wake a thread for, and programs of such commands only
// (passes/Passes.td).
#include <optional>

#include "graph/ir/reference_util.h"
#include "passes/base/pass_util.h"
#include "passes/base/passes.h"
#include "passes/phases/commands/commands.h"

namespace tandem {

#define GEN_PASS_DEF_MARKINLINEPASS
#include "passes/passes.h.inc"

namespace {

// A command that touches fewer than kInlineElements elements runs inline, on the thread that issues it: waking another
// thread would cost more than it saves. For all commands of a map together the limit is kInlineMapElements, because
// kernels in maps do more work per element.
constexpr int64_t kInlineElements = 32768, kInlineMapElements = 8192;
// Most calls of a flat program (one list of calls). Programs with more calls have some that take long themselves, so
// that a list gains little.
constexpr int64_t kMaxCalls = 512;

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
      execution.run_inline = map ? MapElements(map) < kInlineMapElements : IsSmall(op);
      SetExecution(op, execution);
      flat = flat && execution.run_inline && (map ? IsListable(map) : CommandOf(op).isListable(replicas_));
      calls += map ? lanes_ * static_cast<int64_t>(CommandsOf(map.getBody().front()).size())
                   : CommandOf(op).getListedCalls();
    }
    if (flat && calls * replicas_ <= kMaxCalls) SetFlat(getOperation());
  }

 private:
  static exec::CommandOp CommandOf(mlir::Operation* op) { return mlir::cast<exec::CommandOp>(op); }

  bool IsSmall(mlir::Operation* op) const {
    const std::optional<int64_t> elements = CommandOf(op).getElementsTouched(replicas_, lanes_);
    return elements && *elements < kInlineElements;
  }

  // Returns how many elements the commands of a map read and write for a full batch on all replicas.
  int64_t MapElements(exec::MapMicrobatchesOp map) const {
    const int64_t rows = map.getRowsPerLane(),
                  microbatches = (rows + map.getMicrobatchRows() - 1) / map.getMicrobatchRows();
    int64_t total = 0;
    for (mlir::Operation* op : CommandsOf(map.getBody().front())) {
      if (!CommandOf(op).getElementsTouched(replicas_, lanes_)) return kInlineMapElements;
      for (mlir::ValueRange values : {mlir::ValueRange(op->getOperands()), mlir::ValueRange(op->getResults())}) {
        for (mlir::Value v : values) {
          const int64_t times =
              static_cast<int64_t>(map.getLanes()) * (td::IsBatched(v.getType()) ? rows : microbatches);
          if (td::RowElements(v.getType()) >= kInlineMapElements / times) return kInlineMapElements;
          total += td::RowElements(v.getType()) * times;
        }
      }
    }
    return total;
  }

  // True if the map can be part of a flat program (one list of calls): it has only launches, and one microbatch per
  // lane. A lane of several microbatches would also have to add up its sums between the calls.
  static bool IsListable(exec::MapMicrobatchesOp map) {
    if (map.getRowsPerLane() > map.getMicrobatchRows()) return false;
    return llvm::all_of(CommandsOf(map.getBody().front()),
                        [](mlir::Operation* op) { return mlir::isa<exec::LaunchOp>(op); });
  }

  int64_t replicas_ = 1, lanes_ = 1;
};

}  // namespace

}  // namespace tandem
