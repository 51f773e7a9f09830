// The place of a value, and how the work on it is divided.
#ifndef TANDEM_RUNTIME_CPU_STEP_OPERAND_H_
#define TANDEM_RUNTIME_CPU_STEP_OPERAND_H_

#include <cstdint>
#include <vector>

#include "base/dtype.h"
#include "runtime/format/index.h"

namespace tandem {

struct Operand {
  format::Space space;
  DType dtype;
  uint32_t index;       // number of the variable, input or scalar
  uint64_t offset;      // in bytes, from the start of the arena
  uint64_t row_bytes;   // bytes of one row of the batch; 0 if the value is not batched
  int64_t elements;     // elements of one row if the value is batched, else of the whole value
  bool common = false;  // in the step arena: true if the value is the same on all devices

  uint64_t bytes() const { return static_cast<uint64_t>(elements) * SizeOf(dtype); }
};

// Elements [begin, end) of an item. An item is an operand, a member of a group, or a kernel's domain.
struct Piece {
  int item;
  int64_t begin, end;
};

// The work of a command, divided for threads: task t consists of pieces [tasks[t], tasks[t + 1]).
struct PlannedWork {
  std::vector<Piece> pieces;
  std::vector<int> tasks;

  // Adds the elements [0, n) of `item`, in pieces of at most `size`.
  void Add(int item, int64_t n, int64_t size);
  // Makes tasks of all pieces added so far. Small pieces share a task, unless `apart` is true: then pieces count units
  // larger than elements, and each piece is a task.
  void MakeTasks(bool apart);
};

// Elements of one task: some microseconds of work.
inline constexpr int64_t kTaskElements = 8192;

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CPU_STEP_OPERAND_H_
