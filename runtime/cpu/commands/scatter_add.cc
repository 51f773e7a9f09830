// The command ScatterAdd on a CPU: sums rows that have the same index.
#include <algorithm>

#include "runtime/cpu/commands/kinds.h"
#include "runtime/cpu/kernels/scatter_add.h"

namespace tandem {
namespace {

constexpr int64_t kScatterPieces = 64;

class CpuScatterAdd final : public CpuCommand {
 public:
  // A piece of the work is some whole rows of the table. Each piece reads all indices, so there are not many pieces.
  CpuScatterAdd(const PlanContext& context, const format::Command& table) : CpuCommand(context, table) {
    const int64_t rows = context.program.buffers[table.outputs[0]].shape[0];
    width_ = outputs()[0].elements / rows;
    const int64_t piece_rows = std::max((rows + kScatterPieces - 1) / kScatterPieces, kTaskElements / width_ + 1);
    work.Add(0, outputs()[0].elements, piece_rows * width_);
  }

  void RunPiece(GlobalRun& run, int device, const Piece& piece, int) const override {
    const MicrobatchContext context = run.At(device);
    const Operand &updates = inputs()[0], &indices = inputs()[1];
    ScatterSource source;
    source.updates = context.Address(updates);
    source.indices = context.Address(indices);
    source.dtype = updates.dtype;
    source.index_dtype = indices.dtype;
    source.width = width_;
    source.count = indices.elements;
    if (indices.row_bytes > 0) {
      source.count *= context.device->rows;
      source.lane_count = indices.elements * run.state.rows_per_lane;
      source.lanes = run.state.lanes_per_replica;
    }
    ScatterAddRows(source, piece.begin / width_, piece.end / width_, context.Address(outputs()[0]));
  }

 private:
  int64_t width_ = 0;  // elements of a row of the table
};

}  // namespace

CpuCommandOr NewCpuScatterAdd(const PlanContext& context, const format::Command& table) {
  return std::make_unique<CpuScatterAdd>(context, table);
}

}  // namespace tandem
