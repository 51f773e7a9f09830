#include "passes/phases/memory/memory_report.h"

#include "llvm/ADT/STLExtras.h"
#include "passes/base/pass_util.h"

namespace tandem {
namespace {

constexpr size_t kReportedBuffers = 10;

bool IsLiveAt(const LiveRange& range, int time) { return range.first <= time && time <= range.last; }

}  // namespace

std::vector<size_t> LargestAtPeak(const std::vector<LiveRange>& ranges, size_t count) {
  int64_t most = -1;
  int peak = 0;
  for (const LiveRange& at : ranges) {  // the number of live bytes grows only where a range begins
    int64_t live = 0;
    for (const LiveRange& range : ranges) live += IsLiveAt(range, at.first) ? range.bytes : 0;
    if (live > most) most = live, peak = at.first;
  }
  std::vector<size_t> largest;
  for (size_t i = 0; i < ranges.size(); ++i) {
    if (IsLiveAt(ranges[i], peak)) largest.push_back(i);
  }
  llvm::stable_sort(largest, [&](size_t a, size_t b) { return ranges[a].bytes > ranges[b].bytes; });
  if (largest.size() > count) largest.resize(count);
  return largest;
}

exec::PeakAttr ReportPeak(mlir::MLIRContext* context, exec::Space space, int64_t bytes, const LiveValues& live) {
  llvm::SmallVector<mlir::Attribute> rows;
  for (size_t i : LargestAtPeak(live.ranges, kReportedBuffers)) {
    rows.push_back(exec::LiveBufferAttr::get(context, ValueName(live.values[i]), live.ranges[i].bytes));
  }
  return exec::PeakAttr::get(context, space, bytes, mlir::ArrayAttr::get(context, rows));
}

}  // namespace tandem
