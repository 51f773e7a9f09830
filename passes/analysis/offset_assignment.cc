#include "passes/analysis/offset_assignment.h"
#include "base/align.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>

namespace tandem {
namespace {

bool Overlap(const LiveRange& a, const LiveRange& b) { return a.first <= b.last && b.first <= a.last; }

ArenaPlan PlaceInOrder(const std::vector<LiveRange>& ranges, const std::vector<size_t>& order, int64_t alignment) {
  ArenaPlan plan;
  plan.offsets.assign(ranges.size(), 0);
  std::vector<size_t> placed;
  for (size_t i : order) {
    int64_t size = AlignUp(ranges[i].bytes, alignment);
    // Bytes [begin, end) of the ranges that are placed already and live at the same time.
    std::vector<std::pair<int64_t, int64_t>> taken;
    for (size_t j : placed) {
      if (Overlap(ranges[i], ranges[j]))
        taken.push_back({plan.offsets[j], plan.offsets[j] + AlignUp(ranges[j].bytes, alignment)});
    }
    std::sort(taken.begin(), taken.end());
    int64_t best = -1, best_gap = 0, end = 0;
    for (auto [b, e] : taken) {
      if (b - end >= size && (best < 0 || b - end < best_gap)) {
        best = end;
        best_gap = b - end;
      }
      end = std::max(end, e);
    }
    plan.offsets[i] = best >= 0 ? best : end;
    plan.bytes = std::max(plan.bytes, plan.offsets[i] + size);
    placed.push_back(i);
  }
  return plan;
}

}  // namespace

ArenaPlan AssignOffsets(const std::vector<LiveRange>& ranges, int64_t alignment) {
  using Key = std::function<int64_t(const LiveRange&)>;
  const Key keys[] = {[](const LiveRange& r) { return -r.bytes; },
                      [](const LiveRange& r) { return -r.bytes * (r.last - r.first + 1); },
                      [](const LiveRange& r) { return int64_t{r.first}; }};
  ArenaPlan best;
  for (const Key& key : keys) {
    std::vector<size_t> order(ranges.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return key(ranges[a]) < key(ranges[b]); });
    ArenaPlan plan = PlaceInOrder(ranges, order, alignment);
    if (best.offsets.size() != ranges.size() || plan.bytes < best.bytes) best = std::move(plan);
  }
  return best;
}

int64_t PeakLiveBytes(const std::vector<LiveRange>& ranges, int64_t alignment) {
  std::map<int, int64_t> delta;
  for (const LiveRange& r : ranges) {
    delta[r.first] += AlignUp(r.bytes, alignment);
    delta[r.last + 1] -= AlignUp(r.bytes, alignment);
  }
  int64_t live = 0, peak = 0;
  for (auto [command, d] : delta) peak = std::max(peak, live += d);
  return peak;
}

}  // namespace tandem
