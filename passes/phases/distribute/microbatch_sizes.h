// Chooses how the global batch is cut into lanes and microbatches.
#ifndef TANDEM_PASSES_PHASES_DISTRIBUTE_MICROBATCH_SIZES_H_
#define TANDEM_PASSES_PHASES_DISTRIBUTE_MICROBATCH_SIZES_H_

#include <cstdint>
#include <string>

#include "passes/analysis/machine_model.h"
#include "passes/analysis/step_work.h"

namespace tandem {

struct MicrobatchSizes {
  // Number of lanes, the parts of the global batch whose sums are computed separately: a power of two times the odd
  // part of the number of replicas.
  int64_t lanes = 1;
  int64_t rows_per_lane = 1;    // capacity of a lane in examples: a multiple of microbatch_rows
  int64_t microbatch_rows = 1;  // examples that one kernel call sees at most
  double seconds = 0;           // expected time of a step's maps on kNominalThreads threads
  std::string reason;           // text for people: the alternatives and their expected times
};

// Expected times are those of a machine with this many cores, however many it has: results depend on lanes and
// microbatches, so these may depend on the model, the global batch and the target only.
constexpr int kNominalThreads = 4;

// Chooses lanes and microbatches. `batch`: examples per replica. `lanes`, `microbatch_rows`: the user's choice, 0 for
// none. CheckLaneCount (runtime/commands/lane_count.h) says which numbers of lanes are possible; fewer lanes than
// replicas become as many as replicas. The choice of lanes depends on batch * replicas and on the odd part of
// `replicas` only, so that 1 x 128, 2 x 64 and 4 x 32 agree; and so do the examples of each lane where the global batch
// is a multiple of 4.
//
// Lanes are 16 (for 512 rows and more), 8 or 4 (where one lane's sums take 1 MiB and more, or more lanes do not share
// the rows evenly), times that odd part. Of those whose expected time is within 5 % of the best and whose lanes' sums
// (slots) stay within kMaxSlotBytes the most are taken, because more lanes keep more threads and devices busy, but the
// fewest where sums take 1 MiB and more.
MicrobatchSizes ChooseMicrobatchSizes(int64_t batch, int64_t replicas, int64_t lanes, int64_t microbatch_rows,
                                      const StepWork& work, const MachineModel& machine);

constexpr double kMaxSlotBytes = 256.0 * (1 << 20);

// Returns the expected seconds of one thread for a lane of `rows` rows in microbatches of `microbatch_rows`.
double LaneSeconds(const StepWork& work, const MachineModel& machine, int64_t rows, int64_t microbatch_rows);

}  // namespace tandem

#endif  // TANDEM_PASSES_PHASES_DISTRIBUTE_MICROBATCH_SIZES_H_
