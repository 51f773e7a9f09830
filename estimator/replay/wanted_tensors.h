// Which tensors of a step --fetch, --fetch_line and --dump_step ask for.
#ifndef TANDEM_ESTIMATOR_REPLAY_WANTED_TENSORS_H_
#define TANDEM_ESTIMATOR_REPLAY_WANTED_TENSORS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "estimator/replay/replay_request.h"
#include "graph/graph_builder.h"
#include "graph/graph_nodes.h"

namespace tandem {

// One tensor. Of a variable `dense/kernel` there are also
//   dense/kernel            its value when the step begins
//   dense/kernel@new        when it is done
//   dense/kernel@update     the difference of the two
//   dense/kernel@gradient   what the optimizer's rule got: the sum over all replicas, clipped where gradients are
struct WantedTensor {
  enum class Kind { kTensor, kBefore, kAfter, kUpdate };
  std::string name;  // as it is shown
  Kind kind = Kind::kTensor;
  std::string source;  // of a kTensor its name in the graph, otherwise the variable's
  std::string origin;  // "file:line"; may be empty
};

// The loss, and what is asked for, each once; sorted by the order in which it is asked for. `nodes`: the graph's.
// NotFound, with names that are near, for a name that is not there, and for a line that makes nothing.
absl::StatusOr<std::vector<WantedTensor>> FindWantedTensors(const GraphBuilder& graph,
                                                            const std::vector<GraphNode>& nodes,
                                                            const ReplayRequest& request);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_REPLAY_WANTED_TENSORS_H_
