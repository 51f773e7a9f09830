// The command Copy on a CPU: copies one buffer to another.
#include <algorithm>
#include <cstring>

#include "runtime/cpu/commands/kinds.h"
#include "runtime/cpu/step/call_list.h"

namespace tandem {
namespace {

class CpuCopy final : public CpuCommand {
 public:
  CpuCopy(const PlanContext& context, const format::Command& table) : CpuCommand(context, table) {
    work.Add(0, outputs()[0].elements, std::max<int64_t>(1, outputs()[0].elements));
  }

  void RunPiece(GlobalRun& run, int device, const Piece&, int) const override {
    const MicrobatchContext context = run.At(device);
    std::memcpy(context.Address(outputs()[0]), context.Address(inputs()[0]), outputs()[0].bytes());
  }

  absl::Status RunRows(const MapRun&, const MicrobatchContext& context, int64_t rows, int64_t) const override {
    const Operand& o = outputs()[0];
    std::memcpy(context.Address(o), context.Address(inputs()[0]), o.row_bytes > 0 ? rows * o.row_bytes : o.bytes());
    return absl::OkStatus();
  }

  bool is_listable() const override { return true; }
  void AddCalls(CallList& list, const MicrobatchContext& context, int device, const Piece&) const override {
    list.AddCopy(static_cast<int64_t>(outputs()[0].bytes()));
    list.AddAddress(context, device, inputs()[0]);
    list.AddAddress(context, device, outputs()[0]);
  }
};

}  // namespace

CpuCommandOr NewCpuCopy(const PlanContext& context, const format::Command& table) {
  return std::make_unique<CpuCopy>(context, table);
}

}  // namespace tandem
