// What RunConfig.record_bits costs a training: S0's convnet with Estimators that record nothing and every step, by
// turns in one process, and what recording takes by itself on batches and variables of that size. The bar is 0.5 % of a
// step.
//
//   bazel run //benchmarks:record_cost -- [batch] [steps of a turn] [turns] [threads]
//
// Prints the medians of the turns and of the ratios within a turn, of wall time and of the process's processor time.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "base/env.h"
#include "base/logging.h"
#include "base/median.h"
#include "base/processor_time.h"
#include "estimator/estimator.h"
#include "estimator/model_dir.h"
#include "estimator/record/steps_file.h"
#include "samples/models.h"

namespace tandem {
namespace {

constexpr int64_t kWarmSteps = 50;

struct StepTimes {
  double wall = 0, processor = 0;  // seconds
};

StepTimes TimesNow() {
  return {std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(),
          ProcessProcessorSeconds()};
}

// Of all steps of a turn but the first ones, which have the start in them.
class TimeRecordedSteps : public SessionRunHook {
 public:
  absl::Status AfterRun(RunContext&, const RunValues&) override {
    ++steps_;
    if (steps_ == kWarmSteps) begin_ = TimesNow();
    end_ = TimesNow();
    return absl::OkStatus();
  }
  StepTimes PerStep() const {
    const double steps = static_cast<double>(steps_ - kWarmSteps);
    return {(end_.wall - begin_.wall) / steps, (end_.processor - begin_.processor) / steps};
  }

 private:
  int64_t steps_ = 0;
  StepTimes begin_, end_;
};

std::vector<HostTensor> BatchOf(int64_t count) {
  std::vector<float> images(count * 28 * 28), labels;
  for (size_t i = 0; i < images.size(); ++i) images[i] = static_cast<float>((i * 7919) % 256) / 255;
  for (int64_t i = 0; i < count * 10; ++i) labels.push_back(i % 10 == i / 10 % 10 ? 1 : 0);
  return {HostTensor::FromVector({count, 28, 28, 1}, images), HostTensor::FromVector({count, 10}, labels)};
}

InputFn RecordedImages(int64_t batch) {
  return [=](const InputContext&) -> absl::StatusOr<Dataset> {
    const std::vector<HostTensor> all = BatchOf(16 * batch);
    return Dataset::FromTensorSlices({{"image", all[0]}, {"label", all[1]}}).Repeat(-1).Batch(batch).Prefetch(2);
  };
}

// Microseconds of what is recorded of a step, without the step.
double RecordingAlone(int64_t batch) {
  constexpr int64_t kSteps = 20000;
  const absl::StatusOr<std::string> dir = MakeTemporaryModelDir();
  if (!dir.ok()) return -1;
  VariableStore store(1);
  std::vector<VariableSpec> variables;
  for (int64_t i = 0; i < 12; ++i) {  // as large as S0's with the slots of Adam, four times over
    variables.push_back({.name = std::to_string(i), .dtype = DType::kFloat32, .shape = {300, 300}});
    if (!store.Create({variables.back().name, DType::kFloat32, {300, 300}}).ok()) return -1;
  }
  const StepSampler sampler(store, variables);
  const BatchRound round{.replicas = {BatchOf(batch)}, .rows = {batch}, .examples = batch};
  StepsWriter writer(Env::Default(), *dir);
  const StepTimes begin = TimesNow();
  for (int64_t step = 0; step < kSteps; ++step) {
    writer.Add(step, {.loss = 1, .input = sampler.OfInput(round, step), .variables = sampler.OfVariables(step)});
  }
  const double seconds = TimesNow().wall - begin.wall;
  Env::Default()->DeleteRecursively(*dir).IgnoreError();
  return 1e6 * seconds / kSteps;
}

int MeasureRecording(int64_t batch, int64_t steps, int turns, int threads) {
  const absl::StatusOr<SampleModel> model = SampleModelByName("zalando");
  if (!model.ok()) return std::fprintf(stderr, "%s\n", model.status().ToString().c_str()), 1;
  std::vector<std::unique_ptr<Estimator>> estimators;
  for (const bool record : {false, true}) {
    RunConfig config{.save_checkpoints_secs = 1e6, .log_step_count_steps = 0, .save_summary_steps = 0};
    config.record_bits = record;
    config.threads = threads;
    config.progress = false;
    estimators.push_back(std::make_unique<Estimator>(model->model_fn, config));
  }
  std::vector<std::vector<double>> wall(2), processor(2), wall_ratio(2), processor_ratio(2);
  for (int turn = 0; turn < turns; ++turn) {
    std::vector<StepTimes> times(2);
    for (int i = 0; i < 2; ++i) {
      const int who = (i + turn) % 2;  // nobody is always the first
      auto hook = std::make_shared<TimeRecordedSteps>();
      const absl::Status status =
          estimators[who]->Train(RecordedImages(batch), {.steps = steps + kWarmSteps, .hooks = {hook}});
      if (!status.ok()) return std::fprintf(stderr, "%s\n", status.ToString().c_str()), 1;
      times[who] = hook->PerStep();
    }
    for (int who = 0; who < 2; ++who) {
      wall[who].push_back(1e6 * times[who].wall);
      processor[who].push_back(1e6 * times[who].processor);
      wall_ratio[who].push_back(times[who].wall / times[0].wall);
      processor_ratio[who].push_back(times[who].processor / times[0].processor);
    }
  }
  std::printf("S0, batch %lld, %d turns of %lld steps; microseconds of a step, and ratios to the first row\n",
              static_cast<long long>(batch), turns, static_cast<long long>(steps));
  const char* names[] = {"nothing recorded", "every step recorded"};
  for (int who = 0; who < 2; ++who) {
    std::printf("%-24s wall %9.1f (%.4f)  processor %9.1f (%.4f)\n", names[who], Median(wall[who]),
                Median(wall_ratio[who]), Median(processor[who]), Median(processor_ratio[who]));
  }
  const double alone = RecordingAlone(batch);
  std::printf("recording by itself %.2f microseconds, %.3f %% of a step\n", alone, 100 * alone / Median(wall[0]));
  return 0;
}

}  // namespace
}  // namespace tandem

int main(int argc, char** argv) {
  const auto argument = [&](int i, int64_t otherwise) { return argc > i ? std::atoll(argv[i]) : otherwise; };
  tandem::SetMinLogSeverity(tandem::LogSeverity::kWarning);
  return tandem::MeasureRecording(argument(1, 64), argument(2, 400), static_cast<int>(argument(3, 11)),
                                  static_cast<int>(argument(4, 2)));
}
