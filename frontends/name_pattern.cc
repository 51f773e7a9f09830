#include "frontends/name_pattern.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace tandem::frontends {

std::optional<NamePattern> NamePattern::Compile(GraphBuilder* graph, absl::string_view op, absl::string_view option,
                                                const std::string& pattern, SourceLocation loc) {
  if (pattern.empty()) {
    graph->FailAt(op, absl::StrCat("`", option, "` is empty; give a regular expression for names of variables"), loc);
    return std::nullopt;
  }
  NamePattern result;
  result.graph_ = graph;
  result.op_ = std::string(op);
  result.option_ = std::string(option);
  result.pattern_ = pattern;
  result.loc_ = loc;
  try {
    result.regex_ = std::regex(pattern);
  } catch (const std::regex_error& e) {
    graph->FailAt(op, absl::StrCat("`", option, "`: \"", pattern, "\" is no regular expression: ", e.what()), loc);
    return std::nullopt;
  }
  return result;
}

void NamePattern::FailWithoutMatch(const std::vector<std::string>& names, absl::string_view what) const {
  graph_->FailAt(op_,
                 absl::StrCat("`", option_, "`: \"", pattern_, "\" matches no ", what, "; there ",
                              names.empty() ? "is none" : absl::StrCat("are ", absl::StrJoin(names, ", ")),
                              "; the pattern must match the whole name"),
                 loc_);
}

}  // namespace tandem::frontends
