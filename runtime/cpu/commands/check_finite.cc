// Ends the step when a value is not finite.
#include "runtime/cpu/all_finite.h"
#include "runtime/cpu/call_list.h"
#include "runtime/cpu/commands/kinds.h"

namespace tandem {
namespace {

class CpuCheckFinite final : public CpuCommand {
 public:
  CpuCheckFinite(const PlanContext& context, const fb::CommandT& table) : CpuCommand(context, table) {
    for (size_t i = 0; i < inputs().size(); ++i) {
      const Operand& o = inputs()[i];
      const bool floating = o.dtype == DType::kFloat32 || o.dtype == DType::kFloat64;
      if (floating) work.Add(static_cast<int>(i), o.elements, kTaskElements);
    }
  }

  void RunPiece(GlobalRun& run, int device, const Piece& piece, int) const override {
    // The values of a replica without rows are not defined.
    if (run.any_rows() && run.state.devices[device].rows == 0) return;
    const Operand& o = inputs()[piece.item];
    if (!AllFinite(o.dtype, run.ElementAddress(device, o, piece.begin), piece.end - piece.begin)) run.FoundNonFinite();
  }

  bool is_listable() const override { return true; }
  void AddCalls(CallList& list, const MicrobatchContext& context, int, const Piece& piece) const override {
    const Operand& o = inputs()[piece.item];
    list.AddCheckFinite(o.dtype, context.Address(o) + piece.begin * SizeOf(o.dtype), piece.end - piece.begin);
  }
};

}  // namespace

CpuCommandOr NewCpuCheckFinite(const PlanContext& context, const fb::CommandT& table) {
  return std::make_unique<CpuCheckFinite>(context, table);
}

}  // namespace tandem
