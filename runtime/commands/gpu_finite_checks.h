// How a GPU looks for NaNs and infinities in many arrays in one launch: by a table with a piece of one array for each
// block.
#ifndef TANDEM_RUNTIME_COMMANDS_GPU_FINITE_CHECKS_H_
#define TANDEM_RUNTIME_COMMANDS_GPU_FINITE_CHECKS_H_

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "runtime/format/index.h"

namespace tandem {

// An entry of the table, in the layout that the device reads.
struct FiniteChunk {
  uint64_t data = 0;   // the first element's address
  uint64_t count = 0;  // number of elements, kFiniteChunkElements at most
};
inline constexpr uint64_t kFiniteChunkElements = 4096;

// How a CheckFinite command checks its inputs.
struct FiniteChecks {
  // At least two buffers of one type whose size is the same in all batches: one launch checks them all by a table.
  struct Group {
    DType dtype = DType::kFloat32;
    std::vector<uint32_t> buffers;
  };
  std::vector<Group> groups;
  std::vector<uint32_t> single;  // buffers that are checked by a launch of their own

  int64_t launches() const { return static_cast<int64_t>(groups.size() + single.size()); }
};
// Sorts the inputs of `check` into groups and single buffers. Buffers of types whose values are always finite are in
// neither list.
FiniteChecks PlanFiniteChecks(const format::Program& program, const format::Command& check);

// Returns the bytes of the table that MakeFiniteChunks makes.
uint64_t FiniteTableBytes(const format::Program& program, const FiniteChecks::Group& group);
// Returns the table for `group`. `address` returns a buffer's address on the device.
std::vector<FiniteChunk> MakeFiniteChunks(const format::Program& program, const FiniteChecks::Group& group,
                                          absl::FunctionRef<uint64_t(uint32_t buffer)> address);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_COMMANDS_GPU_FINITE_CHECKS_H_
