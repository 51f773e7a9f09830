// The table of what public functions do with arguments that they cannot use: a row is a function and one such argument.
// Every row expects an error that names the function, and no crash; a header's function without a row fails.
#ifndef TANDEM_TESTS_ERRORS_API_EDGE_H_
#define TANDEM_TESTS_ERRORS_API_EDGE_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "graph/graph_builder.h"
#include "graph/tensor.h"

namespace tandem::edge {

// What rows take arguments from: a graph with some good tensors, and tensors that are no good.
struct World {
  World();

  GraphBuilder graph, other;
  Tensor x;        // float32 [b,4]
  Tensor m;        // float32 [4,3]
  Tensor image;    // float32 [b,8,8,3]
  Tensor labels;   // int32 [b]
  Tensor ints;     // int32 [b,4]
  Tensor flags;    // bool [b,4]
  Tensor scalar;   // float32 []
  Tensor w;        // variable float32 [4,3]
  Tensor none;     // default-constructed
  Tensor gone;     // of a graph that is gone
  Tensor foreign;  // float32 [b,4] of another graph
};

struct Row {
  std::string function;  // as the header declares it
  std::string argument;  // for people: what is wrong
  std::function<absl::Status(World&)> call;
  // What the message says besides the function; "" where naming it is enough.
  std::string says;
  // What the message calls the function, where it is made of another one.
  std::string named = "";
};

// The error of the result: a function's that returns one tensor.
inline std::function<absl::Status(World&)> Of(std::function<Tensor(World&)> call) {
  return [call = std::move(call)](World& world) { return call(world).status(); };
}

// Collects rows whose functions return a tensor.
class Table {
 public:
  void Add(const char* function, const char* what, std::function<Tensor(World&)> call, const char* says = "",
           const char* named = "") {
    rows_.push_back({function, what, Of(std::move(call)), says, named});
  }
  // Calls whose errors are in the graph.
  void Graph(const char* function, const char* what, std::function<void(World&)> call, const char* says = "",
             const char* named = "") {
    rows_.push_back({function, what,
                     [call = std::move(call)](World& t) {
                       call(t);
                       return t.graph.status();
                     },
                     says, named});
  }
  const std::vector<Row>& rows() const { return rows_; }

 private:
  std::vector<Row> rows_;
};

// A row of calls that need no graph.
struct Call {
  std::string function;  // or what else the user gave, such as a path: the message has it
  std::string argument;
  std::function<absl::Status()> call;
  std::string says = "";
};

// Every call is the user's mistake, by the code of its error.
void Check(const std::vector<Call>& calls);

// Runs every row in a world of its own. In names only letters and digits count: `reduce "Sum"` is ReduceSum.
void Check(const std::vector<Row>& rows);

// The functions that `header` (a path in the repository) declares at the beginning of a line without a row.
void CheckCoverage(const std::string& header, const std::vector<Row>& rows);

}  // namespace tandem::edge

#endif  // TANDEM_TESTS_ERRORS_API_EDGE_H_
