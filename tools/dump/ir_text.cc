#include "tools/dump/ir_text.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "passes/codegen/kernel_ir.h"
#include "passes/report_segments.h"
#include "runtime/executable_generated.h"

namespace tandem {

bool IsPhase(const fb::SegmentT& segment) {
  return segment.kind == fb::SegmentKind::IrText && segment.name != kFusionDecisions &&
         segment.name != kContractionReports && segment.name != kPrecisionDecisions &&
         !absl::StartsWith(segment.name, kConstantPrefix);
}

absl::StatusOr<std::string> IrText(const Executable& executable, int segment) {
  const fb::SegmentT& s = *executable.index().segments[segment];
  if (s.name != "codegen") return std::string(executable.segment(segment));
  absl::StatusOr<std::string> text = KernelIrText(executable.segment(segment));
  if (text.ok()) return text;
  return absl::Status(text.status().code(),
                      absl::StrCat(executable.name(), ", offset ", s.offset, ": ", text.status().message()));
}

}  // namespace tandem
