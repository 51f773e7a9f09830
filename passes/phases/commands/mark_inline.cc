// td-mark-inline, as Passes.td describes it.
#include <optional>

#include "graph/ir/reference_util.h"
#include "passes/base/pass_util.h"
#include "passes/base/passes.h"
#include "passes/phases/commands/commands.h"

namespace tandem {

#define GEN_PASS_DEF_MARKINLINEPASS
#include "passes/passes.h.inc"

namespace {

// A command that reads fewer than kInlineElements elements runs inline: waking a thread costs more than it saves. The
// limit for all elements that a map touches is kInlineMapElements, because kernels of maps do more work per element.
constexpr int64_t kInlineElements = 32768, kInlineMapElements = 8192;
// Most calls of a flat program: a longer list has calls that take long themselves, so that a flat list gains little.
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

  // Returns the elements that the commands of a map touch for a full batch on all replicas.
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

  // True if the map can be part of a flat program: one of launches only, with one microbatch per lane, since lanes of
  // several microbatches also add up their sums between calls.
  static bool IsListable(exec::MapMicrobatchesOp map) {
    if (map.getRowsPerLane() > map.getMicrobatchRows()) return false;
    return llvm::all_of(CommandsOf(map.getBody().front()),
                        [](mlir::Operation* op) { return mlir::isa<exec::LaunchOp>(op); });
  }

  int64_t replicas_ = 1, lanes_ = 1;
};

}  // namespace

}  // namespace tandem
