#include "benchmarks/training_turns.h"

#include <chrono>
#include <cstdio>

#include "base/median.h"
#include "base/processor_time.h"
#include "base/status_macros.h"

namespace tandem {
namespace {

class TimeSteps : public SessionRunHook {
 public:
  explicit TimeSteps(int64_t warm_steps) : clock(warm_steps) {}
  absl::Status AfterRun(RunContext&, const RunValues&) override { return clock.Tick(), absl::OkStatus(); }
  StepClock clock;
};

InputFn Images(int64_t batch) {
  return [=](const InputContext&) -> absl::StatusOr<Dataset> {
    const std::vector<HostTensor> all = ImagesAndLabels(16 * batch);
    return Dataset::FromTensorSlices({{"image", all[0]}, {"label", all[1]}}).Repeat(-1).Batch(batch).Prefetch(2);
  };
}

}  // namespace

std::vector<HostTensor> ImagesAndLabels(int64_t count) {
  std::vector<float> images(count * 28 * 28), labels;
  for (size_t i = 0; i < images.size(); ++i) images[i] = static_cast<float>((i * 7919) % 256) / 255;
  for (int64_t i = 0; i < count * 10; ++i) labels.push_back(i % 10 == i / 10 % 10 ? 1 : 0);
  return {HostTensor::FromVector({count, 28, 28, 1}, images), HostTensor::FromVector({count, 10}, labels)};
}

void StepClock::Tick() {
  ++steps_;
  end_ = {std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(),
          ProcessProcessorSeconds()};
  if (steps_ == warm_steps_) begin_ = end_;
}

StepTimes StepClock::PerStep() const {
  const double steps = static_cast<double>(steps_ - warm_steps_);
  return {(end_.wall - begin_.wall) / steps, (end_.processor - begin_.processor) / steps};
}

absl::StatusOr<double> MeasureByTurns(const std::vector<std::string>& names, const TrainingTurns& turns,
                                      const std::function<absl::StatusOr<StepTimes>(size_t who)>& train) {
  const size_t count = names.size();
  std::vector<std::vector<double>> wall(count), processor(count), wall_ratio(count), processor_ratio(count);
  for (int turn = 0; turn < turns.turns; ++turn) {
    std::vector<StepTimes> times(count);
    for (size_t i = 0; i < count; ++i) {
      const size_t who = (i + turn) % count;  // the order rotates, so that no name is always the first
      TD_ASSIGN_OR_RETURN(times[who], train(who));
    }
    for (size_t who = 0; who < count; ++who) {
      wall[who].push_back(1e6 * times[who].wall);
      processor[who].push_back(1e6 * times[who].processor);
      wall_ratio[who].push_back(times[who].wall / times[0].wall);
      processor_ratio[who].push_back(times[who].processor / times[0].processor);
    }
  }
  std::printf("S0, batch %lld, %d turns of %lld steps; microseconds of a step, and ratios to the first row\n",
              static_cast<long long>(turns.batch), turns.turns, static_cast<long long>(turns.steps));
  for (size_t who = 0; who < count; ++who) {
    std::printf("%-24s wall %9.1f (%.4f)  processor %9.1f (%.4f)\n", names[who].c_str(), Median(wall[who]),
                Median(wall_ratio[who]), Median(processor[who]), Median(processor_ratio[who]));
  }
  return Median(wall[0]);
}

absl::StatusOr<double> TrainByTurns(const std::vector<std::pair<std::string, std::unique_ptr<Estimator>>>& estimators,
                                    const TrainingTurns& turns) {
  std::vector<std::string> names;
  for (const auto& estimator : estimators) names.push_back(estimator.first);
  return MeasureByTurns(names, turns, [&](size_t who) -> absl::StatusOr<StepTimes> {
    auto hook = std::make_shared<TimeSteps>(turns.warm_steps);
    TD_RETURN_IF_ERROR(
        estimators[who].second->Train(Images(turns.batch), {.steps = turns.steps + turns.warm_steps, .hooks = {hook}}));
    return hook->clock.PerStep();
  });
}

}  // namespace tandem
