#include "runtime/cuda/group_table.h"

#include <memory>
#include <optional>

#include "runtime/commands/command.h"
#include "runtime/gpu_launch.h"

namespace tandem {

GroupTable MakeGroupTable(const fb::GpuLaunchT& launch, const fb::GroupedLaunchT& group,
                          absl::FunctionRef<uint64_t(uint32_t buffer)> address) {
  GroupTable table;
  table.members.reserve(group.args.size() + 2 * group.counts.size());
  for (size_t m = 0; m < group.counts.size(); ++m) {
    for (uint32_t i = 0; i < group.num_args; ++i) {
      table.members.push_back(address(group.args[m * group.num_args + i]));
    }
    table.members.push_back(group.counts[m]);
    table.members.push_back(table.blocks.size());
    table.blocks.insert(table.blocks.end(), GpuGrid(launch, group.counts[m]), static_cast<int32_t>(m));
  }
  return table;
}

uint64_t GroupTablesBytes(const fb::ExecutableT& index) {
  uint64_t bytes = 0;
  for (const auto& command : CommandsInOrder(*index.programs[index.replicas[0]->program])) {
    const std::optional<KernelLaunches> launches = command->launches();
    if (!launches || !launches->grouped) continue;
    const fb::KernelT& kernel = *index.kernels[launches->kernel];
    if (kernel.gpu == nullptr) continue;
    uint64_t blocks = 0;
    for (uint64_t count : launches->counts) blocks += GpuGrid(*kernel.gpu, count);
    // A member's arguments, its count and its first block.
    const uint64_t numbers = kernel.inputs.size() + kernel.outputs.size() + 2;
    bytes += GroupTableBytes(numbers * launches->counts.size() * sizeof(uint64_t), blocks);
  }
  return bytes;
}

}  // namespace tandem
