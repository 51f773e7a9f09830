// td-join-lanes: computes products with a large matrix for two neighbouring lanes (parts of the batch) at once
// (passes/Passes.td).
#include "base/align.h"
#include "passes/base/pass_util.h"
#include "passes/base/passes.h"
#include "passes/phases/commands/commands.h"

namespace tandem {

#define GEN_PASS_DEF_JOINLANESPASS
#include "passes/passes.h.inc"

namespace {

constexpr int64_t kLanes = 2;
// The arenas of all lanes that run together may have at most so many bytes, so that they stay in the second-level
// cache.
constexpr int64_t kMaxArenaBytes = 1 << 20;
// The largest number of rows of a product that is computed for two lanes at once. With more rows, reading the matrix is
// a small part of the product's time, so that reading it once for two lanes saves little.
constexpr int64_t kMaxRows = 64;

class JoinLanesPass : public impl::JoinLanesPassBase<JoinLanesPass> {
 public:
  void runOnOperation() final {
    mlir::func::FuncOp step = CpuStep(getOperation());
    if (!step) return;
    const Places places(getOperation());
    const int64_t microbatch_bytes = GetArenas(getOperation()).getMicrobatch();
    const int64_t replicas = ConfigOf(getOperation()).getReplicas();
    for (auto map : step.getOps<exec::MapMicrobatchesOp>()) {
      const int64_t lanes = map.getLanes() / replicas;
      if (map.getMicrobatchRows() != map.getRowsPerLane() || lanes % kLanes != 0) continue;
      if (kLanes * microbatch_bytes > kMaxArenaBytes || GetExecution(map).run_inline || !FindsAll(places, map))
        continue;
      Join(places, map);
    }
  }

 private:
  static void Join(const Places& places, exec::MapMicrobatchesOp map) {
    for (mlir::Operation* op : CommandsOf(map.getBody().front())) {
      auto call = mlir::dyn_cast<exec::LibraryCallOp>(op);
      if (!call || !Gains(places, map, call)) continue;
      Execution execution = GetExecution(op);
      execution.joint = true;
      SetExecution(op, execution);
      Execution of_map = GetExecution(map);
      of_map.lanes_together = kLanes;
      SetExecution(map, of_map);
    }
  }

  // True if every buffer in the microbatch arena is just large enough for its rows, so that the rows of the next lane
  // can follow them in memory.
  static bool FindsAll(const Places& places, exec::MapMicrobatchesOp map) {
    for (mlir::Operation* op : CommandsOf(map.getBody().front())) {
      for (mlir::ValueRange values : {mlir::ValueRange(op->getOperands()), mlir::ValueRange(op->getResults())}) {
        for (mlir::Value v : values) {
          const format::Buffer& b = places.Buffer(v);
          const uint64_t bytes = b.row_bytes > 0 ? map.getMicrobatchRows() * b.row_bytes : StaticBytes(v.getType());
          if (b.space == exec::Space::kMicrobatch && b.bytes > AlignUp(bytes, 64)) return false;
        }
      }
    }
    return true;
  }

  // True if `call` gains by computing two lanes at once: a product of few rows with a matrix that it reads unpacked, so
  // that the matrix is read only once.
  static bool Gains(const Places& places, exec::MapMicrobatchesOp map, exec::LibraryCallOp call) {
    if (call.getAlgorithm() != exec::Algorithm::kUnpackedGemm) return false;
    if (!td::IsBatched(call->getResult(0).getType()) || !td::IsBatched(call->getOperand(0).getType())) return false;
    for (mlir::Value v : call->getOperands()) {
      const exec::Space space = places.Buffer(v).space;
      const bool of_lane = space == exec::Space::kMicrobatch || space == exec::Space::kLane;
      if (of_lane && !td::IsBatched(v.getType())) return false;
    }
    llvm::ArrayRef<int64_t> x = mlir::cast<mlir::RankedTensorType>(call->getOperand(0).getType()).getShape();
    const int64_t rows_of_row = mlir::ShapedType::getNumElements(x.drop_front().drop_back());
    return kLanes * map.getMicrobatchRows() * rows_of_row <= kMaxRows;
  }
};

}  // namespace

}  // namespace tandem
