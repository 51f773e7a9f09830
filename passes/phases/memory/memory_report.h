// Reports which values fill an arena when it is fullest, as executables record it (MemoryReport,
// runtime/format/index.td).
#ifndef TANDEM_PASSES_PHASES_MEMORY_MEMORY_REPORT_H_
#define TANDEM_PASSES_PHASES_MEMORY_MEMORY_REPORT_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "passes/exec/dialect.h"
#include "passes/phases/memory/live_values.h"

namespace tandem {

// Returns the numbers of the ranges that are live when most bytes are (the first such time): the largest ones first, at
// most `count`.
std::vector<size_t> LargestAtPeak(const std::vector<LiveRange>& ranges, size_t count);

// Returns the report on an arena of `bytes` that holds `live`.
exec::PeakAttr ReportPeak(mlir::MLIRContext* context, exec::Space space, int64_t bytes, const LiveValues& live);

}  // namespace tandem

#endif  // TANDEM_PASSES_PHASES_MEMORY_MEMORY_REPORT_H_
