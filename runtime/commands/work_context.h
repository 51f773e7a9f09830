// The place of a command in its program, for code that counts its operations and bytes.
#ifndef TANDEM_RUNTIME_COMMANDS_WORK_CONTEXT_H_
#define TANDEM_RUNTIME_COMMANDS_WORK_CONTEXT_H_

#include <algorithm>
#include <cstdint>

#include "base/dtype.h"
#include "runtime/commands/execution_work.h"
#include "runtime/format/index.h"

namespace tandem {

struct WorkContext {
  const format::Index& index;
  const format::Program& program;
  bool map = false;  // true if the command is in a map section

  const format::Buffer& Buffer(uint32_t i) const { return program.buffers[i]; }
  double Elements(uint32_t i) const {
    return static_cast<double>(Buffer(i).bytes) / static_cast<double>(SizeOf(Buffer(i).dtype));
  }
  int64_t replicas() const { return std::max<int64_t>(1, static_cast<int64_t>(index.replicas.size())); }
  int64_t lanes() const { return index.lanes / replicas(); }               // number of a replica's lanes
  int64_t rows() const { return lanes() * int64_t{index.rows_per_lane}; }  // the most rows of a replica

  // Adds the bytes of an operand. A batched buffer counts per row in a map section, and with all rows of a replica in a
  // global section. Any other buffer counts once.
  void AddBytes(const format::Buffer& operand, double passes, ExecutionWork& work) const {
    if (operand.row_bytes > 0 && !map) {
      work.bytes += passes * static_cast<double>(operand.row_bytes) * static_cast<double>(rows());
    } else if (operand.row_bytes > 0) {
      work.bytes_per_row += passes * static_cast<double>(operand.row_bytes);
    } else {
      work.bytes += passes * static_cast<double>(operand.bytes);
    }
  }
};

}  // namespace tandem

#endif  // TANDEM_RUNTIME_COMMANDS_WORK_CONTEXT_H_
