#include "runtime/commands/gpu_finite_checks.h"

#include <algorithm>
#include <utility>

#include "base/dtype.h"

namespace tandem {
namespace {

uint64_t ElementSize(DType dtype) { return SizeOf(dtype); }

uint64_t Elements(const format::Buffer& buffer) { return buffer.bytes / ElementSize(buffer.dtype); }

}  // namespace

FiniteChecks PlanFiniteChecks(const format::Program& program, const format::Command& check) {
  FiniteChecks checks;
  for (DType dtype : {DType::kFloat32, DType::kBFloat16, DType::kFloat64}) {
    FiniteChecks::Group group;
    group.dtype = dtype;
    for (uint32_t b : check.inputs) {
      const format::Buffer& buffer = program.buffers[b];
      if (buffer.dtype == dtype) (buffer.row_bytes > 0 ? checks.single : group.buffers).push_back(b);
    }
    if (group.buffers.size() == 1) checks.single.push_back(group.buffers[0]);
    if (group.buffers.size() > 1) checks.groups.push_back(std::move(group));
  }
  return checks;
}

uint64_t FiniteTableBytes(const format::Program& program, const FiniteChecks::Group& group) {
  uint64_t chunks = 0;
  for (uint32_t b : group.buffers) {
    chunks += (Elements(program.buffers[b]) + kFiniteChunkElements - 1) / kFiniteChunkElements;
  }
  return chunks * sizeof(FiniteChunk);
}

std::vector<FiniteChunk> MakeFiniteChunks(const format::Program& program, const FiniteChecks::Group& group,
                                          absl::FunctionRef<uint64_t(uint32_t buffer)> address) {
  std::vector<FiniteChunk> chunks;
  for (uint32_t b : group.buffers) {
    const uint64_t elements = Elements(program.buffers[b]), start = address(b);
    for (uint64_t first = 0; first < elements; first += kFiniteChunkElements) {
      chunks.push_back({start + first * ElementSize(group.dtype), std::min(kFiniteChunkElements, elements - first)});
    }
  }
  return chunks;
}

}  // namespace tandem
