#ifndef TANDEM_PASSES_ASSIGN_BUFFERS_H_
#define TANDEM_PASSES_ASSIGN_BUFFERS_H_

#include <memory>

#include "mlir/Pass/Pass.h"

namespace tandem {

// What the pass leaves for the serialiser:
//   module: td.buffers = [{name, space, index | offset, bytes, row_bytes, type}], td.arenas = {shard, lane, step,
//   batch: bytes},
//           td.peaks = [{space, bytes, live = [{name, bytes}]}]
//   every op that computes: td.out = [buffer per result]; td.map_shards: td.args = [buffer per operand], td.lane_slots
//   = [[buffer, kind]...] arguments of @step: td.buffer = id
std::unique_ptr<mlir::Pass> createAssignBuffersPass();

}  // namespace tandem

#endif  // TANDEM_PASSES_ASSIGN_BUFFERS_H_
