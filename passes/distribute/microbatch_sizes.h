// How the global batch is cut into lanes and microbatches.
#ifndef TANDEM_PASSES_DISTRIBUTE_MICROBATCH_SIZES_H_
#define TANDEM_PASSES_DISTRIBUTE_MICROBATCH_SIZES_H_

#include <cstdint>
#include <string>

#include "passes/analysis/machine_model.h"
#include "passes/analysis/step_work.h"

namespace tandem {

struct MicrobatchSizes {
  int64_t lanes = 1;            // of the global batch: a power of two times the odd part of the number of replicas
  int64_t rows_per_lane = 1;    // capacity of a lane in examples: a multiple of microbatch_rows
  int64_t microbatch_rows = 1;  // examples that one kernel call sees at most
  double seconds = 0;           // expected for the maps of a step on kNominalThreads threads
  std::string reason;           // for people: what was weighed
};

// Expected times are of a machine of this many cores, whatever the machine has: results depend on lanes and
// microbatches, so these may depend on the model, the global batch and the target only.
constexpr int kNominalThreads = 4;

// `batch`: examples per replica. `lanes`, `microbatch_rows`: what the user asked for, 0 to choose; CheckLaneCount
// (runtime/lane_count.h) says which lanes there can be, fewer than replicas become as many. The choice of lanes
// depends on batch * replicas and on the odd part of `replicas` only, so that 1 x 128, 2 x 64 and 4 x 32 agree; and
// so do the examples of each lane where the global batch is a multiple of 4.
//
// Lanes are 16 (for 512 rows and more), 8 or 4 (where one lane's sums take 1 MiB and more, or more lanes do not share
// the rows evenly), times that odd part: of those whose expected time is within 5 % of the best and whose slots stay
// within kMaxSlotBytes the most, because more lanes keep more threads and devices busy, but the fewest where sums take
// 1 MiB and more.
MicrobatchSizes ChooseMicrobatchSizes(int64_t batch, int64_t replicas, int64_t lanes, int64_t microbatch_rows,
                                      const StepWork& work, const MachineModel& machine);

constexpr double kMaxSlotBytes = 256.0 * (1 << 20);

// Seconds that one thread needs for a lane of `rows` rows in microbatches of `microbatch_rows`.
double LaneSeconds(const StepWork& work, const MachineModel& machine, int64_t rows, int64_t microbatch_rows);

}  // namespace tandem

#endif  // TANDEM_PASSES_DISTRIBUTE_MICROBATCH_SIZES_H_
