// The tables by which one launch runs a kernel for all members of a group: GroupedLaunch in runtime/format/index.td.
#ifndef TANDEM_RUNTIME_CUDA_KERNELS_GROUP_TABLE_H_
#define TANDEM_RUNTIME_CUDA_KERNELS_GROUP_TABLE_H_

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "runtime/format/index.h"

namespace tandem {

struct GroupTable {
  // for each member: the addresses of its num_args arguments, its count and its first block
  std::vector<uint64_t> members;
  std::vector<int32_t> blocks;  // for each block of the grid: index of the member that it computes

  uint64_t members_bytes() const { return members.size() * sizeof(uint64_t); }
  uint64_t blocks_bytes() const { return blocks.size() * sizeof(int32_t); }
};

// Makes the tables. `address` gives a buffer's address on the device.
GroupTable MakeGroupTable(const format::GpuLaunch& launch, const format::GroupedLaunch& group,
                          absl::FunctionRef<uint64_t(uint32_t buffer)> address);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CUDA_KERNELS_GROUP_TABLE_H_
