// How a step is shared between workers and parameter servers: which server keeps a variable, and what the values are
// called that workers send them.
#ifndef TANDEM_GRAPH_PARAMETER_SERVERS_H_
#define TANDEM_GRAPH_PARAMETER_SERVERS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "graph/graph_builder.h"

namespace tandem {

// The server of each variable, 0 to servers - 1, by name. The slots of a variable are where it is. Variables are placed
// by falling size of a variable with its slots, each where the fewest bytes are; the first of equals in the order of
// `variables`, and on the first of equal servers. Every process that asks gets the same answer.
std::map<std::string, int> PlaceVariables(const std::vector<VariableSpec>& variables, int servers);

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
