// What the oracle covers, found out by building its graphs and by reading the public headers.
#ifndef TANDEM_TESTS_ORACLE_COVERAGE_H_
#define TANDEM_TESTS_ORACLE_COVERAGE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace tandem::oracle {

// What a header offers.
struct Declaration {
  std::string function;             // as the oracle's models write it: "layers::Conv2D", "L2"
  std::string options;              // the name of its options struct, if it has one
  std::vector<std::string> fields;  // of that struct
};
struct Header {
  std::string path;  // "frontends/layers.h"
  std::vector<Declaration> functions;
  std::vector<std::string> enum_values;  // "Reduction::kSum"
};
// All functions and enums at namespace scope of a header's text, and the methods that make another optimizer of one.
// The names of the former begin in the first column, as clang-format leaves them.
Header ParseHeader(const std::string& path, const std::string& text);

struct Coverage {
  std::string table;  // Markdown: the content of coverage.md
  // "frontends/layers.h: no model calls layers::Conv3D", "...: no model sets `padding` of layers::Conv2DOptions".
  std::vector<std::string> missing;
};
// The headers of frontends/ that declare what a model is made of, under the current directory, the source tree's root.
// FailedPrecondition for a header that is neither one of them nor known to be none.
absl::StatusOr<std::vector<Header>> ReadHeaders();
absl::StatusOr<Coverage> ComputeCoverage(const std::vector<Header>& headers);

}  // namespace tandem::oracle

#endif  // TANDEM_TESTS_ORACLE_COVERAGE_H_
