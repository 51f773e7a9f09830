// Trains S0's convnet with several Estimators in turns in one process, to measure what a setting costs.
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

// Returns images [count, 28, 28, 1] and one-hot labels [count, 10], always the same.
std::vector<HostTensor> ImagesAndLabels(int64_t count);

struct TrainingTurns {
  int64_t batch = 64;
  int64_t steps = 0;       // measured steps in a turn
  int64_t warm_steps = 0;  // steps before them, including the start
  int turns = 1;
};

struct StepTimes {
  double wall = 0, processor = 0;  // seconds
};

// Measures the time of all steps of a turn except the first ones.
class StepClock {
 public:
  explicit StepClock(int64_t warm_steps) : warm_steps_(warm_steps) {}
  void Tick();  // call it after each step
  StepTimes PerStep() const;

 private:
  const int64_t warm_steps_;
  int64_t steps_ = 0;
  StepTimes begin_, end_;
};

// Every turn calls `train` with the index of each name, in another order. Prints a row for each name: medians of the
// wall and processor time of a step, in microseconds, and of their ratios to those of the first name in the same turn.
// Returns the median wall time of the first name.
absl::StatusOr<double> MeasureByTurns(const std::vector<std::string>& names, const TrainingTurns& turns,
                                      const std::function<absl::StatusOr<StepTimes>(size_t who)>& train);

// The same for estimators, each trained under its name.
absl::StatusOr<double> TrainByTurns(const std::vector<std::pair<std::string, std::unique_ptr<Estimator>>>& estimators,
                                    const TrainingTurns& turns);

}  // namespace tandem

#endif  // TANDEM_BENCHMARKS_TRAINING_TURNS_H_
