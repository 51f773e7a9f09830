// Estimators that train S0's convnet by turns in one process, to see what a setting costs.
#ifndef TANDEM_BENCHMARKS_TRAINING_TURNS_H_
#define TANDEM_BENCHMARKS_TRAINING_TURNS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "base/host_tensor.h"
#include "estimator/estimator.h"

namespace tandem {

// Images [count, 28, 28, 1] and one-hot labels [count, 10], always the same.
std::vector<HostTensor> ImagesAndLabels(int64_t count);

struct TrainingTurns {
  int64_t batch = 64;
  int64_t steps = 0;       // of a turn that are timed
  int64_t warm_steps = 0;  // before them, with the start in them
  int turns = 1;
};

struct StepTimes {
  double wall = 0, processor = 0;  // seconds
};

// Of all steps of a turn but the first ones.
class StepClock {
 public:
  explicit StepClock(int64_t warm_steps) : warm_steps_(warm_steps) {}
  void Tick();  // behind each step
  StepTimes PerStep() const;

 private:
  const int64_t warm_steps_;
  int64_t steps_ = 0;
  StepTimes begin_, end_;
};

// Every turn calls `train` with the number of each name, in another order. Prints a row for each: medians of wall and
// processor time of a step, in microseconds, and of their ratios to the first one's within a turn. Returns the median
// of the first one's wall time.
absl::StatusOr<double> MeasureByTurns(const std::vector<std::string>& names, const TrainingTurns& turns,
                                      const std::function<absl::StatusOr<StepTimes>(size_t who)>& train);

// The same of estimators, each trained under its name.
absl::StatusOr<double> TrainByTurns(const std::vector<std::pair<std::string, std::unique_ptr<Estimator>>>& estimators,
                                    const TrainingTurns& turns);

}  // namespace tandem

#endif  // TANDEM_BENCHMARKS_TRAINING_TURNS_H_
