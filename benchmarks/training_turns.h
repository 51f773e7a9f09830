// Trains the Fashion-MNIST convnet of scenario S0 with several Estimators in turns in one process, to measure what a
// setting costs.
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

// Returns images [count, 28, 28, 1] and one-hot labels [count, 10]. They are random, but the same in every call.
std::vector<HostTensor> ImagesAndLabels(int64_t count);

struct TrainingTurns {
  int64_t batch = 64;
  int64_t steps = 0;       // measured steps per turn
  int64_t warm_steps = 0;  // unmeasured first steps of a turn, which include the start of the training
  int turns = 1;
};

struct StepTimes {
  double wall = 0, processor = 0;  // seconds of wall time and of processor time
};

// Measures the time of the steps of a turn, without its first `warm_steps` steps.
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

// In every turn, calls `train` with the index of each name; the order changes from turn to turn. Prints a row for each
// name: the medians of the wall and processor time of a step, in microseconds, and of their ratios to the times of the
// first name in the same turn. Returns the median wall time of the first name.
absl::StatusOr<double> MeasureByTurns(const std::vector<std::string>& names, const TrainingTurns& turns,
                                      const std::function<absl::StatusOr<StepTimes>(size_t who)>& train);

// As MeasureByTurns, for Estimators that are trained; each has a name for the table.
absl::StatusOr<double> TrainByTurns(const std::vector<std::pair<std::string, std::unique_ptr<Estimator>>>& estimators,
                                    const TrainingTurns& turns);

}  // namespace tandem

#endif  // TANDEM_BENCHMARKS_TRAINING_TURNS_H_
