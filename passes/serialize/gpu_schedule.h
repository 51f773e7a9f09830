// The schedule of a GPU's streams: a program's commands cut into segments, with the waits between them.
#ifndef TANDEM_PASSES_SERIALIZE_GPU_SCHEDULE_H_
#define TANDEM_PASSES_SERIALIZE_GPU_SCHEDULE_H_

#include <memory>
#include <vector>

#include "runtime/format/index.h"

namespace tandem {

// Segments of fewer commands are not captured as a CUDA graph: a graph of a single launch costs more than the launch.
constexpr int kLeastCapturedCommands = 2;

// Returns the schedule of a program whose sections and buffers are complete. `index` has its kernels and sizes; the
// program need not be part of it yet. Deterministic.
//
// Collectives run on the communication stream, in the order of their numbers, everything else on the compute stream, in
// the order of the program. A collective begins as soon as the compute stream has done what it depends on, so the
// compute stream is cut there, and once more in front of each command that is the first to need a collective's result:
//
//   compute   [ backward of layers 3, 2 ][ backward of layer 1 ]          [ update ]
//                                       \                                /  wait
//   communication                        [ bucket 0 ]------[ bucket 1 ]-'
//
// Collectives that become ready at one place share a segment. A single command of a global section that would stand
// between two waits waits for both. Segments of two and more compute commands are captured. Waits that another wait or
// the order of a stream implies are left out.
//
// The schedule's `workspace_bytes` is the most that any command needs.
format::GpuProgram MakeGpuSchedule(const format::Index& index, const format::Program& program);

}  // namespace tandem

#endif  // TANDEM_PASSES_SERIALIZE_GPU_SCHEDULE_H_
