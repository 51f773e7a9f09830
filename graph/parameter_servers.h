// How workers and parameter servers share a step: which server holds a variable or some of its rows, and the names of
// the values that workers send them.
#ifndef TANDEM_GRAPH_PARAMETER_SERVERS_H_
#define TANDEM_GRAPH_PARAMETER_SERVERS_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "base/dtype.h"
#include "graph/graph_builder.h"

namespace tandem {

// A variable, or some of its rows, on a server; rows are elements along the first dimension.
struct PlacedPart {
  std::string variable;
  int server = 0;
  int64_t first_row = 0;
  int64_t rows = 0;  // number of rows; 0: the whole variable

  bool whole() const { return rows == 0; }
  // The name of the part on its server: "table" for a whole variable, "table[0:500]" for some of its rows.
  std::string name() const;
  // The shape of the part if the variable has `shape`.
  Shape ShapeOf(Shape shape) const;

  friend bool operator==(const PlacedPart&, const PlacedPart&) = default;
};

// The minimum size of a part of a variable, so that small variables stay on one server.
inline constexpr int64_t kMinPartBytes = int64_t{256} << 10;

// Places the parts of all variables; returns them in the order of `variables`, the parts of one variable by rows. The
// slots of a variable are on the same server. Variables are placed in order of falling size (with their slots), each on
// the server with the fewest bytes so far; ties go to the first in `variables`, and to the first server. A variable
// larger than a server's share of all bytes is spread by rows over as many servers as it has parts of kMinPartBytes, if
// it is one of `by_rows`: variables whose updates can be computed row by row.
std::vector<PlacedPart> PlaceVariables(const std::vector<VariableSpec>& variables, int servers,
                                       const std::set<std::string>& by_rows = {});

// Returns the name of value `number` that workers send to `server`, where `op` computes it:
// "ps0/2/gradients/dense/MatMul". It is an output of a worker's program and a variable of the server's program.
std::string SentValueName(int server, int64_t number, absl::string_view op);

struct SentValue {
  int server = 0;
  int64_t number = 0;
};
// Parses a name made by SentValueName; nullopt for other names.
std::optional<SentValue> SentValueOfName(absl::string_view name);

}  // namespace tandem

#endif  // TANDEM_GRAPH_PARAMETER_SERVERS_H_
