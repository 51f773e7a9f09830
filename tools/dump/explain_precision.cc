#include "tools/dump/explain_precision.h"

#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "passes/base/report_segments.h"
#include "runtime/format/index.h"

namespace tandem {

absl::StatusOr<std::string> ExplainPrecision(const Executable& executable, const std::string& op) {
  const auto& segments = executable.index().segments;
  for (size_t i = 0; i < segments.size(); ++i) {
    if (segments[i].kind != format::SegmentKind::kIrText || segments[i].name != kPrecisionDecisions) continue;
    std::string text;
    for (absl::string_view line : absl::StrSplit(executable.segment(static_cast<int>(i)), '\n', absl::SkipEmpty())) {
      const std::vector<absl::string_view> fields = absl::StrSplit(line, '\t');
      if (fields.size() != 4 || (op != "all" && fields[0] != op && !absl::StrContains(fields[1], op))) continue;
      absl::StrAppend(&text, fields[1], " (", fields[0], "): ", fields[2], ": ", fields[3], "\n");
    }
    if (!text.empty()) return text;
    return absl::InvalidArgumentError(absl::StrCat("no op \"", op, "\" with float32 numbers in ", executable.name(),
                                                   "; give a part of a name, an operation such as td.relu, or all"));
  }
  return absl::NotFoundError(absl::StrCat(executable.name(),
                                          " holds no notes of precision: it was not compiled for mixed_bfloat16, or is "
                                          "computed in float32, since bfloat16 is no faster on its machine"));
}

}  // namespace tandem
