#include "tools/dump/ir_text.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "passes/base/report_segments.h"
#include "passes/codegen/kernel_ir.h"
#include "runtime/format/index.h"

namespace tandem {

bool IsPhase(const format::Segment& segment) {
  return segment.kind == format::SegmentKind::kIrText && segment.name != kFusionDecisions &&
         segment.name != kContractionReports && segment.name != kPrecisionDecisions &&
         !absl::StartsWith(segment.name, kConstantPrefix);
}

absl::StatusOr<std::string> IrText(const Executable& executable, int segment) {
  const format::Segment& s = executable.index().segments[segment];
  if (s.name != "codegen") return std::string(executable.segment(segment));
  absl::StatusOr<std::string> text = KernelIrText(executable.segment(segment));
  if (text.ok()) return text;
  return absl::Status(text.status().code(),
                      absl::StrCat(executable.name(), ", offset ", s.offset, ": ", text.status().message()));
}

}  // namespace tandem
