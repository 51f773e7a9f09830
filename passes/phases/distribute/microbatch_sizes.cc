#include "passes/phases/distribute/microbatch_sizes.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "passes/analysis/cost_model.h"
#include "runtime/commands/lane_count.h"

namespace tandem {
namespace {

constexpr int64_t kLaneCounts[] = {16, 8, 4};
constexpr int64_t kBigBatch = 512;  // least rows of a global batch for which 16 lanes are considered
// Least bytes of one lane's sums that do not stay in a core's cache. Each additional lane then costs writing, reading
// and combining them.
constexpr double kBigSums = 1.0 * (1 << 20);
// Expected times are estimates: times up to this factor above the best count as equal to it.
constexpr double kTolerance = 1.05;
// A library writes a sum over rows in its own layout, then reorders it: one write, one read, one write. Adding a
// microbatch's sum to the lane's takes two reads and a write.
constexpr double kSumPasses = 3, kAddPasses = 3;

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Returns the expected seconds of one microbatch of `rows` rows, without adding its sums to those of the lane.
double MicrobatchSeconds(const StepWork& work, const MachineModel& machine, double rows) {
  double seconds = 0;
  auto pass = [&](double bytes, double distance) { return bytes / Bandwidth(machine, distance, kNominalThreads); };
  for (const OpWork& op : work.ops) {
    double memory = pass(rows * op.written, rows * op.written);
    for (const OpWork::Read& read : op.reads) memory += pass(rows * read.bytes, rows * read.distance);
    // The previous microbatch has read the weights, and everything that was written since lies in between.
    memory += pass(op.static_bytes, work.static_bytes + rows * work.row_bytes);
    const double compute = rows * op.flops / (op.library ? machine.library_f32 : machine.vector_f32);
    seconds += std::max(compute, memory) + (op.library ? machine.library_call_overhead : machine.kernel_call_overhead);
    seconds += pass(op.streamed_bytes, work.static_bytes + rows * work.row_bytes);
    seconds += pass((op.library ? kSumPasses : 1) * op.sum_bytes, op.sum_bytes);
  }
  return seconds;
}

// Returns the microbatch size with the least expected time for a lane of `rows` rows; if `even`, only sizes that divide
// `rows` count. Of equally fast sizes it returns the smallest, which takes the least memory.
int64_t BestMicrobatchRows(const StepWork& work, const MachineModel& machine, int64_t rows, bool even) {
  int64_t best = 0;
  double best_seconds = 0;
  for (int64_t microbatches = 1; microbatches <= rows; ++microbatches) {
    const int64_t microbatch_rows = CeilDiv(rows, microbatches);
    if (microbatch_rows == best) continue;  // the same size as with fewer microbatches
    if (even && rows % microbatch_rows != 0) continue;
    const double seconds = LaneSeconds(work, machine, rows, microbatch_rows);
    if (best == 0 || seconds <= best_seconds) {
      best = microbatch_rows;
      best_seconds = seconds;
    }
    if (microbatch_rows == 1) break;
  }
  return best;
}

// Returns the largest microbatch size of at most `most` rows for a lane of `rows` rows. If `even`, it returns the
// largest one that divides `rows`, unless that is at most half as large as the largest of all.
int64_t MicrobatchRowsUpTo(int64_t most, int64_t rows, bool even) {
  const int64_t any = CeilDiv(rows, CeilDiv(rows, most));
  for (int64_t part = any; even && part > any / 2; --part) {
    if (rows % part == 0) return part;
  }
  return any;
}

class MicrobatchChooser {
 public:
  MicrobatchChooser(int64_t batch, int64_t replicas, int64_t max_microbatch_rows, const StepWork& work,
                    const MachineModel& machine)
      : batch_(batch), replicas_(replicas), max_microbatch_rows_(max_microbatch_rows), work_(work), machine_(machine) {}

  MicrobatchSizes WithLanes(int64_t lanes) const {
    MicrobatchSizes sizes;
    sizes.lanes = std::lcm(lanes, replicas_);
    const int64_t rows = std::max<int64_t>(1, CeilDiv(batch_, sizes.lanes / replicas_));
    // If the lanes share the batch evenly and have whole microbatches, a lane begins at the same example on any number
    // of devices.
    const bool even = batch_ % (sizes.lanes / replicas_) == 0;
    sizes.microbatch_rows = max_microbatch_rows_ > 0 ? MicrobatchRowsUpTo(max_microbatch_rows_, rows, even)
                                                     : BestMicrobatchRows(work_, machine_, rows, even);
    // A lane has room for whole microbatches, because a library primitive that works on a full microbatch must not
    // write into the next lane's rows.
    sizes.rows_per_lane = CeilDiv(rows, sizes.microbatch_rows) * sizes.microbatch_rows;
    sizes.seconds = CeilDiv(sizes.lanes, kNominalThreads) * LaneSeconds(work_, machine_, rows, sizes.microbatch_rows) +
                    ReduceSeconds(sizes.lanes);
    return sizes;
  }

  MicrobatchSizes Choose() const {
    const int64_t odd = OddPart(replicas_), rows = batch_ * replicas_;
    std::vector<MicrobatchSizes> options;
    std::vector<std::string> seen;
    const int64_t most = MostLanes(rows / odd);
    for (int64_t lanes : kLaneCounts) {
      if (lanes > most) continue;
      if (lanes < 8 && lanes < most && !BigSums()) continue;
      // Reduces the number of lanes until each has a row; not possible if there are more replicas than rows.
      while (lanes > 1 && lanes * odd > rows) lanes /= 2;
      const MicrobatchSizes sizes = WithLanes(lanes * odd);
      if (!options.empty() && options.back().lanes == sizes.lanes) continue;
      options.push_back(sizes);
      seen.push_back(absl::StrFormat("%d lanes in microbatches of %d: %.4g ms", sizes.lanes, sizes.microbatch_rows,
                                     1e3 * sizes.seconds));
    }
    double least = options[0].seconds;
    for (const MicrobatchSizes& o : options) least = std::min(least, o.seconds);
    // Of the options whose expected time is within kTolerance of the least and whose lanes' sums fit into memory of
    // kMaxSlotBytes, takes the one with most lanes, or with fewest where the sums of one lane are large. If none fits,
    // takes the one with fewest.
    size_t chosen = options.size() - 1;
    for (size_t i = options.size(); i-- > 0;) {
      if (options[i].seconds > kTolerance * least || options[i].lanes * work_.lane_bytes > kMaxSlotBytes) continue;
      chosen = i;
      if (BigSums()) break;
    }
    options[chosen].reason = absl::StrFormat(
        "%d lanes of %d rows in microbatches of %d; one lane's sums take %.4g MiB%s; expected for the maps on %d "
        "threads: ",
        options[chosen].lanes, options[chosen].rows_per_lane, options[chosen].microbatch_rows,
        work_.lane_bytes / (1 << 20),
        work_.block_bytes > 0 ? absl::StrFormat(", those computed in blocks %.4g MiB", work_.block_bytes / (1 << 20))
                              : "",
        kNominalThreads);
    for (size_t i = 0; i < seen.size(); ++i) absl::StrAppend(&options[chosen].reason, i ? ", " : "", seen[i]);
    return options[chosen];
  }

 private:
  // Returns the most lanes that share `rows` evenly, so that the rows at which lanes begin do not depend on the number
  // of devices. If not even 4 lanes do, neither do 4 or 8 devices, and the usual number of lanes is returned.
  static int64_t MostLanes(int64_t rows) {
    const int64_t most = rows < kBigBatch ? 8 : 16;
    for (int64_t lanes = most; lanes >= 4; lanes /= 2) {
      if (rows % lanes == 0) return lanes;
    }
    return most;
  }

  // True if lanes are expensive because of their sums. Sums that are computed in blocks (weight gradients behind the
  // maps) count too: they have no lane slots, but every lane reads as large weights, and lanes of few rows make short
  // chains of products.
  bool BigSums() const { return work_.lane_bytes + work_.block_bytes >= kBigSums; }

  // Returns the seconds to combine the lanes: all lanes' sums are read once and the total is written; all threads take
  // part.
  double ReduceSeconds(int64_t lanes) const {
    const double bytes = (lanes + 1) * work_.lane_bytes / kNominalThreads;
    return bytes / Bandwidth(machine_, lanes * work_.lane_bytes / kNominalThreads, kNominalThreads) +
           machine_.section_overhead;
  }

  const int64_t batch_, replicas_, max_microbatch_rows_;
  const StepWork& work_;
  const MachineModel& machine_;
};

}  // namespace

double LaneSeconds(const StepWork& work, const MachineModel& machine, int64_t rows, int64_t microbatch_rows) {
  const int64_t microbatches = CeilDiv(rows, microbatch_rows);
  double sums = 0;
  for (const OpWork& op : work.ops) sums += op.sum_bytes;
  const double add = kAddPasses * sums / Bandwidth(machine, 2 * work.lane_bytes, kNominalThreads);
  // A short last microbatch counts as a full one, since the library computes it like one.
  return microbatches * MicrobatchSeconds(work, machine, static_cast<double>(microbatch_rows)) +
         (microbatches - 1) * add;
}

MicrobatchSizes ChooseMicrobatchSizes(int64_t batch, int64_t replicas, int64_t lanes, int64_t microbatch_rows,
                                      const StepWork& work, const MachineModel& machine) {
  const MicrobatchChooser chooser(batch, replicas, microbatch_rows, work, machine);
  if (lanes <= 0) return chooser.Choose();
  MicrobatchSizes sizes = chooser.WithLanes(lanes);
  sizes.reason = absl::StrFormat("%d lanes, as asked for, of %d rows in microbatches of %d", sizes.lanes,
                                 sizes.rows_per_lane, sizes.microbatch_rows);
  return sizes;
}

}  // namespace tandem
