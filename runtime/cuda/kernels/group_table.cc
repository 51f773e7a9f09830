#include "runtime/cuda/kernels/group_table.h"

#include "runtime/commands/gpu_launch.h"
#include "runtime/format/index.h"

namespace tandem {

GroupTable MakeGroupTable(const format::GpuLaunch& launch, const format::GroupedLaunch& group,
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

}  // namespace tandem
