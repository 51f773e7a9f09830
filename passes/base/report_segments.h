// Names of the segments in which an executable keeps reports of passes, beside the IR of the phases, for tandem-dump.
// They are of kind IrText; the fields of a line are separated by tabs. Free of MLIR types.
#ifndef TANDEM_PASSES_BASE_REPORT_SEGMENTS_H_
#define TANDEM_PASSES_BASE_REPORT_SEGMENTS_H_

namespace tandem {

// Written by td-choose-contractions: a line for each way to compute a contraction, "name op rows algorithm block
// nanoseconds reason". `rows`: rows of a microbatch; `nanoseconds`: expected time of a microbatch, 0: no estimate;
// `reason`: why the algorithm was not taken, empty: it was.
inline constexpr char kContractionReports[] = "contraction-reports";

// Written by td-form-fusions: a line for each two ops of which one reads what the other computes, "producer_op producer
// consumer_op consumer reason". `reason`: why they are apart, empty: they are computed in one kernel.
inline constexpr char kFusionDecisions[] = "fusion-decisions";

// Written by td-paint-precision: a line for each op of a program with mixed_bfloat16 that reads or computes float32
// values, "op name precision reason". `precision`: float32 or bfloat16.
inline constexpr char kPrecisionDecisions[] = "precision-decisions";

// Prefix of the names of large constants, `dense_resource<numbers_...>` in the text of a phase. For the phase that the
// reference interpreter runs, a segment of that name has the constant's numbers, unless they are among the program's
// constants, where they are found by their bytes (passes/serialize/constant_names.h).
inline constexpr char kConstantPrefix[] = "numbers_";

}  // namespace tandem

#endif  // TANDEM_PASSES_BASE_REPORT_SEGMENTS_H_
