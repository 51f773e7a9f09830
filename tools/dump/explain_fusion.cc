#include "tools/dump/explain_fusion.h"

#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "passes/base/report_segments.h"
#include "runtime/format/index.h"

namespace tandem {

absl::StatusOr<std::string> ExplainFusion(const Executable& executable, const std::string& op) {
  const auto& segments = executable.index().segments;
  for (size_t i = 0; i < segments.size(); ++i) {
    if (segments[i].kind != format::SegmentKind::kIrText || segments[i].name != kFusionDecisions) continue;
    std::string text;
    for (absl::string_view line : absl::StrSplit(executable.segment(static_cast<int>(i)), '\n', absl::SkipEmpty())) {
      const std::vector<absl::string_view> fields = absl::StrSplit(line, '\t');
      if (fields.size() != 5) continue;
      auto matches = [&](absl::string_view kind, absl::string_view name) {
        return kind == op || absl::StrContains(name, op);
      };
      if (op != "all" && !matches(fields[0], fields[1]) && !matches(fields[2], fields[3])) continue;
      absl::StrAppend(&text, fields[1], " (", fields[0], ") -> ", fields[3], " (", fields[2], "): ");
      absl::StrAppend(&text, fields[4].empty() ? "in one kernel" : absl::StrCat("apart: ", fields[4]), "\n");
    }
    if (!text.empty()) return text;
    return absl::InvalidArgumentError(absl::StrCat("no op \"", op, "\" with a neighbour in ", executable.name(),
                                                   "; give a part of a name, an operation such as td.relu, or all"));
  }
  return absl::NotFoundError(
      absl::StrCat(executable.name(), " holds no notes of fusion: it was compiled by an older version; compile again"));
}

}  // namespace tandem
