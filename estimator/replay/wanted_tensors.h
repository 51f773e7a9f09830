// WantedTensor: the tensors that --fetch, --fetch_line and --dump_step ask for.
#ifndef TANDEM_ESTIMATOR_REPLAY_WANTED_TENSORS_H_
#define TANDEM_ESTIMATOR_REPLAY_WANTED_TENSORS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "estimator/replay/replay_request.h"
#include "graph/graph_builder.h"
#include "graph/module/graph_nodes.h"

namespace tandem {

// One tensor. For a variable `dense/kernel` there are also
//   dense/kernel            its value before the step
//   dense/kernel@new        its value after the step
//   dense/kernel@update     the difference of the two
//   dense/kernel@gradient   the input of the optimizer's rule: the sum over all replicas, clipped if gradients are
struct WantedTensor {
  enum class Kind { kTensor, kBefore, kAfter, kUpdate };
  std::string name;  // the name under which it is shown and saved
  Kind kind = Kind::kTensor;
  // For kTensor the tensor's name in the graph, otherwise the variable's name.
  std::string source;
  std::string origin;  // "file:line" of the code that made it; may be empty
};

// Returns the loss and the tensors asked for, each once, in the order in which they are asked for. `nodes` are the
// graph's. NotFound, with similar names, for an unknown name, and for a line that makes no tensor.
absl::StatusOr<std::vector<WantedTensor>> FindWantedTensors(const GraphBuilder& graph,
                                                            const std::vector<GraphNode>& nodes,
                                                            const ReplayRequest& request);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_REPLAY_WANTED_TENSORS_H_
