// Patterns for the names of variables. Internal to frontends/.
#ifndef TANDEM_FRONTENDS_NAME_PATTERN_H_
#define TANDEM_FRONTENDS_NAME_PATTERN_H_

#include <optional>
#include <regex>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "base/source_location.h"
#include "graph/graph_builder.h"

namespace tandem::frontends {

// A regular expression (ECMAScript) that matches only whole names.
class NamePattern {
 public:
  // Returns nullopt for a pattern that is empty or invalid, with an error in `graph` that names `op` and its option.
  static std::optional<NamePattern> Compile(GraphBuilder* graph, absl::string_view op, absl::string_view option,
                                            const std::string& pattern, SourceLocation loc);

  bool Matches(const std::string& name) const { return std::regex_match(name, regex_); }
  // Records the error that the pattern matches none of `names`; `what` says what kind of names these are.
  void FailWithoutMatch(const std::vector<std::string>& names, absl::string_view what) const;

 private:
  GraphBuilder* graph_;
  std::string op_, option_, pattern_;
  SourceLocation loc_;
  std::regex regex_;
};

}  // namespace tandem::frontends

#endif  // TANDEM_FRONTENDS_NAME_PATTERN_H_
