// Runs graphs of tests in the reference interpreter.
#ifndef TANDEM_FRONTENDS_TESTING_H_
#define TANDEM_FRONTENDS_TESTING_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/host_tensor.h"
#include "graph/graph_builder.h"

namespace tandem::frontends {

using Values = std::vector<double>;

struct Feed {
  int64_t batch = 0;
  std::map<std::string, HostTensor> inputs;
  // Values of variables. A missing variable starts from its initialiser or first value; where that is random, from
  // Pattern of its size.
  std::map<std::string, Values> variables;
  // Values of step scalars, the numbers that the runtime passes to a step. "example_count" and "replica_example_count"
  // are `batch` unless they are set here.
  std::map<std::string, double> scalars;
};

struct Fetched {
  std::map<std::string, Values> outputs;
  std::map<std::string, Values> variables;  // values after the step
};

HostTensor Floats(Shape shape, const Values& values);
HostTensor Ints(Shape shape, const Values& values);
// Returns `n` numbers in [-scale, scale], different for every seed.
Values Pattern(int64_t n, int seed, double scale = 1);

// Runs one step; the test fails if the graph has an error or cannot be evaluated.
Fetched RunStep(GraphBuilder& graph, const Feed& feed);

// Returns "" if graph.status() is an InvalidArgument that contains `text` and the name of the file `file`; otherwise a
// description of what is wrong, for EXPECT_EQ.
std::string ErrorMismatch(const GraphBuilder& graph, const std::string& text, const std::string& file);

}  // namespace tandem::frontends

#endif  // TANDEM_FRONTENDS_TESTING_H_
