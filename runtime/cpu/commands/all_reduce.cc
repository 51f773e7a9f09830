// Combines the devices' values in the order of the reduction tree, in place.
#include <cstring>

#include "absl/container/inlined_vector.h"
#include "runtime/cpu/commands/kinds.h"
#include "runtime/reduction_tree.h"

namespace tandem {
namespace {

class CpuAllReduce final : public CpuCommand {
 public:
  CpuAllReduce(const PlanContext& context, const fb::CommandT& table)
      : CpuCommand(context, table), kind_(table.body.AsAllReduce()->kind) {
    for (size_t i = 0; i < inputs().size(); ++i) work.Add(static_cast<int>(i), inputs()[i].elements, kTaskElements);
  }

  bool is_for_all_devices() const override { return true; }

  // Without any rows there is nothing to combine, and all devices hold the same.
  void RunPiece(GlobalRun& run, int, const Piece& piece, int) const override {
    const Operand& o = inputs()[piece.item];
    if (!run.any_rows()) return;
    const auto devices = static_cast<int>(run.state.devices.size());
    absl::InlinedVector<const void*, 64> leaves;
    for (int d = 0; d < devices; ++d) {
      leaves.push_back(run.state.devices[d].rows > 0 ? run.ElementAddress(d, o, piece.begin) : nullptr);
    }
    uint8_t* out = run.ElementAddress(0, o, piece.begin);
    TreeReduce(kind_, o.dtype, leaves, out, piece.end - piece.begin);
    for (int d = 1; d < devices; ++d) {
      std::memcpy(run.ElementAddress(d, o, piece.begin), out, (piece.end - piece.begin) * SizeOf(o.dtype));
    }
  }

 private:
  const fb::ReduceKind kind_;
};

}  // namespace

CpuCommandOr NewCpuAllReduce(const PlanContext& context, const fb::CommandT& table) {
  return std::make_unique<CpuAllReduce>(context, table);
}

}  // namespace tandem
