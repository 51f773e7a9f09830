// What fills an arena where it is fullest, which executables tell (runtime/format/index.td, MemoryReport).
#ifndef TANDEM_PASSES_PHASES_MEMORY_MEMORY_REPORT_H_
#define TANDEM_PASSES_PHASES_MEMORY_MEMORY_REPORT_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "passes/exec/dialect.h"
#include "passes/phases/memory/live_values.h"

namespace tandem {

// Returns the numbers of the ranges that are live at the first time at which most bytes are, the largest ones first and
// not more than `count`.
std::vector<size_t> LargestAtPeak(const std::vector<LiveRange>& ranges, size_t count);

// Returns the report on an arena of `bytes` that holds `live`.
exec::PeakAttr ReportPeak(mlir::MLIRContext* context, exec::Space space, int64_t bytes, const LiveValues& live);

}  // namespace tandem

#endif  // TANDEM_PASSES_PHASES_MEMORY_MEMORY_REPORT_H_
