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

// Built in three steps, so that slots are named after their variable, not after the scope of the updates.
class MovingAverages {
 public:
  MovingAverages(GraphBuilder* graph, const MovingAverageOptions& options, SourceLocation loc)
      : graph_(graph), options_(options), loc_(loc) {}

  // Records an error for options that make no sense. Then declares the averages of what `also` matches.
  void Begin();
  // Declares the average of a variable that the optimizer trains.
  void Add(const std::string& name, const Tensor& variable);
  // `value`: of the variable of the i-th Add, after the step.
  void Assign(size_t i, const Tensor& value);
  // The averages of what `also` matches.
  void End();

 private:
  struct Average {
    Tensor variable, average;
  };
  Average Declare(const std::string& name, const Tensor& variable);
  // The average after a step that made the variable `value`.
  void AssignAverage(const Average& average, const Tensor& value);

  GraphBuilder* const graph_;
  const MovingAverageOptions options_;
  const SourceLocation loc_;
  std::vector<Average> trained_, others_;
  Tensor decay_;  // of this step, float64; with num_updates
};

}  // namespace tandem::frontends

#endif  // TANDEM_FRONTENDS_MOVING_AVERAGE_H_
