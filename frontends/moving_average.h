// Exponential moving averages of weights, as Optimizer::WithMovingAverage builds them. Internal to
// frontends/.
#ifndef TANDEM_FRONTENDS_MOVING_AVERAGE_H_
#define TANDEM_FRONTENDS_MOVING_AVERAGE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "base/source_location.h"
#include "frontends/optimizer.h"
#include "graph/graph_builder.h"
#include "graph/tensor.h"

namespace tandem::frontends {

// Builds the averages in this order: call Begin, then Add for each variable, then Assign for each, then End. So the
// slots are made before the name scope of the updates begins, and are named after their variable, not after that scope.
class MovingAverages {
 public:
  MovingAverages(GraphBuilder* graph, const MovingAverageOptions& options, SourceLocation loc)
      : graph_(graph), options_(options), loc_(loc) {}

  // Records an error for invalid options. Then declares the averages of the variables that the option `also` matches.
  void Begin();
  // Declares the average of a variable that the optimizer trains.
  void Add(const std::string& name, const Tensor& variable);
  // Updates the average of the i-th added variable; `value` is the value of the variable after the step.
  void Assign(size_t i, const Tensor& value);
  // Updates the averages of the variables that the option `also` matches.
  void End();

 private:
  struct Average {
    Tensor variable, average;
  };
  Average Declare(const std::string& name, const Tensor& variable);
  // Updates an average after a step that set the variable to `value`.
  void AssignAverage(const Average& average, const Tensor& value);

  GraphBuilder* const graph_;
  const MovingAverageOptions options_;
  const SourceLocation loc_;
  std::vector<Average> trained_, others_;
  Tensor decay_;  // the decay in this step, float64; only set with the option num_updates
};

}  // namespace tandem::frontends

#endif  // TANDEM_FRONTENDS_MOVING_AVERAGE_H_
