// Sizes of kernel launches on a GPU: their grids, and the tables and workspaces that they need.
#ifndef TANDEM_RUNTIME_COMMANDS_GPU_LAUNCH_H_
#define TANDEM_RUNTIME_COMMANDS_GPU_LAUNCH_H_

#include <algorithm>
#include <cstdint>
#include <string>

#include "base/align.h"
#include "runtime/format/index.h"

namespace tandem {

// The most blocks that CUDA allows in a grid.
inline constexpr uint64_t kMaxGpuGrid = (uint64_t{1} << 31) - 1;

// Returns the number of blocks of a launch over `count` = end - begin rows or elements. A launch over none of them has
// blocks too, so that sums over no rows are written.
inline uint64_t GpuGrid(const format::GpuLaunch& launch, uint64_t count) {
  const uint64_t items = std::max<uint64_t>(1, launch.items_per_block);
  return std::max<uint64_t>(1, (count + items - 1) / items) * std::max<uint32_t>(1, launch.split);
}

// The number of int32 counters in front of a kernel's scratch memory, and their bytes. With a counter, blocks find out
// which of them ends last.
inline constexpr int64_t kGpuCounters = 4096, kGpuCounterBytes = kGpuCounters * sizeof(int32_t);

// With at most this many indices, a ScatterAdd is one launch in which every row looks through all indices. More indices
// are sorted first.
inline constexpr int64_t kGpuScatterFewIndices = 128;
// Bytes of a list of the indices' positions. The workspace holds two: each sorting launch reads one, writes the other.
inline uint64_t GpuScatterOrderBytes(int64_t indices) { return AlignUp(indices * sizeof(uint32_t), 256); }
inline uint64_t GpuScatterWorkspaceBytes(int64_t indices) {
  return indices <= kGpuScatterFewIndices ? 0 : 2 * GpuScatterOrderBytes(indices);
}

// The first launch sorts chunks of this many indices. Each further launch doubles the length of the sorted runs.
inline constexpr int64_t kGpuScatterChunk = 256;
inline int64_t GpuScatterLaunches(int64_t indices) {
  if (indices <= kGpuScatterFewIndices) return 1;
  int64_t launches = 2;  // the launch that sorts the chunks, and the one that adds the rows
  for (int64_t run = kGpuScatterChunk; run < indices; run *= 2) ++launches;
  return launches;
}

// Returns the symbol of the entry that runs a kernel for all members of a GroupedLaunch at once.
inline std::string GpuGroupSymbol(const std::string& symbol) { return symbol + "_group"; }
// Returns the bytes of the tables that the entry for groups reads (GroupedLaunch in runtime/format/index.td): for each
// member its arguments, its count and its first block, then an int32 for each block, up to the next multiple of 8.
inline uint64_t GpuGroupTableBytes(uint64_t num_args, uint64_t members, uint64_t blocks) {
  return (num_args + 2) * members * sizeof(uint64_t) + (blocks + 1) / 2 * 8;
}

}  // namespace tandem

#endif  // TANDEM_RUNTIME_COMMANDS_GPU_LAUNCH_H_
