// How a GPU looks for NaNs and infinities in many arrays in one launch: by a table with a piece of one array for each
// block.
#ifndef TANDEM_RUNTIME_GPU_FINITE_CHECKS_H_
#define TANDEM_RUNTIME_GPU_FINITE_CHECKS_H_

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "runtime/format/index.h"

namespace tandem {

// As the device reads it.
struct FiniteChunk {
  uint64_t data = 0;   // the first element's address
  uint64_t count = 0;  // elements, kFiniteChunkElements at most
};
inline constexpr uint64_t kFiniteChunkElements = 4096;

// How a command that checks its inputs does it.
struct FiniteChecks {
  // Buffers of one type that have the same size in all batches, two at least: by a table, in one launch.
  struct Group {
    DType dtype = DType::kFloat32;
    std::vector<uint32_t> buffers;
  };
  std::vector<Group> groups;
  std::vector<uint32_t> single;  // a launch for each

  int64_t launches() const { return static_cast<int64_t>(groups.size() + single.size()); }
};
// Buffers of types whose values are always finite are in neither list.
FiniteChecks PlanFiniteChecks(const format::Program& program, const format::Command& check);

// Of the table of MakeFiniteChunks.
uint64_t FiniteTableBytes(const format::Program& program, const FiniteChecks::Group& group);
// `address`: on the device, of a buffer.
std::vector<FiniteChunk> MakeFiniteChunks(const format::Program& program, const FiniteChecks::Group& group,
                                          absl::FunctionRef<uint64_t(uint32_t buffer)> address);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_GPU_FINITE_CHECKS_H_
