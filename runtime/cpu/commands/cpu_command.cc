#include "runtime/cpu/commands/cpu_command.h"

#include "absl/strings/str_cat.h"

namespace tandem {

Operand PlanContext::MakeOperand(uint32_t buffer) const {
  const format::Buffer& b = program.buffers[buffer];
  Operand o;
  o.space = b.space;
  o.dtype = b.dtype;
  o.index = b.index;
  o.offset = b.offset;
  o.row_bytes = b.row_bytes;
  o.common = b.common;
  auto shape = absl::MakeConstSpan(b.shape);
  o.elements = NumElements(b.row_bytes > 0 ? shape.subspan(1) : shape);
  return o;
}

CpuCommand::CpuCommand(const PlanContext& context, const format::Command& table)
    : table_(table), command_(NewCommand(table)) {
  for (uint32_t b : table.inputs) inputs_.push_back(context.MakeOperand(b));
  for (uint32_t b : table.outputs) outputs_.push_back(context.MakeOperand(b));
}

absl::Status CpuCommand::RunRows(const MapRun&, const MicrobatchContext&, int64_t, int64_t) const {
  return absl::InternalError(absl::StrCat(table_.name, ": has no rows"));
}

absl::Status CpuCommand::PlanJoint(const PlanContext&, int) {
  return absl::InternalError(absl::StrCat(table_.name, ": cannot run for several lanes at once"));
}

absl::Status CpuCommand::RunJoint(const MapRun&, const MicrobatchContext&) const {
  return absl::InternalError(absl::StrCat(table_.name, ": is not joint"));
}

bool CpuCommand::AddRowCalls(CallList&, const MicrobatchContext&, int, int64_t) const { return false; }

}  // namespace tandem
