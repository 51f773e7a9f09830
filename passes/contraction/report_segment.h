// Where an executable keeps what td-choose-contractions found out, beside the IR of the phases. Free of MLIR types.
#ifndef TANDEM_PASSES_CONTRACTION_REPORT_SEGMENT_H_
#define TANDEM_PASSES_CONTRACTION_REPORT_SEGMENT_H_

namespace tandem {

// The segment of kind IrText: a line for each way to compute a contraction, "name op rows algorithm block nanoseconds
// reason" with tabs between. `rows`: of a microbatch; `nanoseconds`: expected for it, 0: no estimate; `reason`: why the
// algorithm was not taken, empty: it was.
inline constexpr char kContractionReports[] = "contraction-reports";

}  // namespace tandem

#endif  // TANDEM_PASSES_CONTRACTION_REPORT_SEGMENT_H_
