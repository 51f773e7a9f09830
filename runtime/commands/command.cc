#include "runtime/commands/command.h"

#include <algorithm>
#include <set>

namespace tandem {

absl::Status Command::VerifyForGpu(const GpuCommandVerifier&, const std::string&) const { return absl::OkStatus(); }

bool Command::WritesVariables(const format::Program& program) const {
  const std::vector<uint32_t> writes = Writes();
  return std::any_of(writes.begin(), writes.end(),
                     [&](uint32_t b) { return program.buffers[b].space == format::Space::kVariable; });
}

ExecutionWork Command::Work(const WorkContext& context) const {
  ExecutionWork work;
  bool batched = false;
  std::set<uint32_t> operands;
  for (const std::vector<uint32_t>& buffers : {Reads(), Writes()}) operands.insert(buffers.begin(), buffers.end());
  for (uint32_t b : operands) {
    const format::Buffer& operand = context.Buffer(b);
    context.AddBytes(operand, Passes(operand, context), work);
    batched |= operand.row_bytes > 0;
  }
  AddFlops(context, batched, work);
  return work;
}

}  // namespace tandem
