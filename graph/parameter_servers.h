// How a step is shared between workers and parameter servers: which server keeps a variable or some of its rows, and
// what the values are called that workers send them.
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

// A variable that a server keeps, whole or some rows of it: elements along the first dimension.
struct PlacedPart {
  std::string variable;
  int server = 0;
  int64_t first_row = 0;
  int64_t rows = 0;  // 0: the whole variable

  bool whole() const { return rows == 0; }
  // What the server calls it: "table", "table[0:500]".
  std::string name() const;
  // That of the part, where the variable has `shape`.
  Shape ShapeOf(Shape shape) const;

  friend bool operator==(const PlacedPart&, const PlacedPart&) = default;
};

// A part of a variable is that large at least, so that small ones are on one server.
inline constexpr int64_t kMinPartBytes = int64_t{256} << 10;

// Where the parts of all variables are, in the order of `variables`, those of one by rows. The slots of a variable are
// where it is. Variables are placed by falling size of a variable with its slots, each where the fewest bytes are; the
// first of equals in the order of `variables`, and on the first of equal servers. One that is larger than a server's
// share of all bytes is spread by rows over as many servers as there are parts of kMinPartBytes, if it is one of
// `by_rows`: variables whose updates can be computed row by row.
std::vector<PlacedPart> PlaceVariables(const std::vector<VariableSpec>& variables, int servers,
                                       const std::set<std::string>& by_rows = {});

// "ps0/2/gradients/dense/MatMul": the value number 2 that workers send to server 0, computed by that op. An output of a
// worker's program, and a variable of the server's.
std::string SentValueName(int server, int64_t number, absl::string_view op);

struct SentValue {
  int server = 0;
  int64_t number = 0;
};
// Of a name of SentValueName; nothing of others.
std::optional<SentValue> SentValueOfName(absl::string_view name);

}  // namespace tandem

#endif  // TANDEM_GRAPH_PARAMETER_SERVERS_H_
