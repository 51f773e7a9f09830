// What keras::Model::Fit costs over an Estimator's Train: S0's convnet, the same layers, by turns in one process. Fit
// draws its progress bar (to /dev/null), and has the means of loss and accuracy of each batch. The bar is 1 % of a
// step.
//
//   bazel run //benchmarks:fit_cost -- [batch] [steps of a turn] [turns] [threads]
//
// Prints the medians of the turns and of the ratios within a turn, of wall time and of the process's processor time.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/logging.h"
#include "base/median.h"
#include "base/processor_time.h"
#include "benchmarks/training_turns.h"
#include "estimator/estimator.h"
#include "estimator/keras/console.h"
#include "estimator/keras/model.h"
#include "frontends/keras/layers.h"

namespace tandem {
namespace {

constexpr int64_t kWarmSteps = 50;

struct StepTimes {
  double wall = 0, processor = 0;  // seconds
};

// Of all steps of a turn but the first ones.
class StepClock {
 public:
  void Tick() {
    ++steps_;
    const StepTimes now = {std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(),
                           ProcessProcessorSeconds()};
    if (steps_ == kWarmSteps) begin_ = now;
    end_ = now;
  }
  StepTimes PerStep() const {
    const double steps = static_cast<double>(steps_ - kWarmSteps);
    return {(end_.wall - begin_.wall) / steps, (end_.processor - begin_.processor) / steps};
  }

 private:
  int64_t steps_ = 0;
  StepTimes begin_, end_;
};

class ClockHook : public SessionRunHook {
 public:
  explicit ClockHook(std::vector<std::string> fetches) : fetches_(std::move(fetches)) {}
  absl::Status Begin(HookContext& context) override {
    for (const std::string& name : fetches_) context.Fetch(name);
    return absl::OkStatus();
  }
  std::vector<std::string> BeforeRun(RunContext&) override { return fetches_; }
  absl::Status AfterRun(RunContext&, const RunValues&) override { return clock.Tick(), absl::OkStatus(); }
  StepClock clock;

 private:
  const std::vector<std::string> fetches_;
};

class ClockCallback : public keras::Callback {
 public:
  absl::Status OnTrainBatchEnd(int64_t, const keras::Logs&) override { return clock.Tick(), absl::OkStatus(); }
  StepClock clock;
};

keras::Model S0() {
  const keras::KerasTensor images = keras::Input({.shape = {28, 28, 1}});
  keras::KerasTensor x = keras::layers::Conv2D(32, {3, 3}, {.activation = "relu"})(images);
  x = keras::layers::MaxPooling2D({.pool_size = 2})(x);
  x = keras::layers::Conv2D(64, {3, 3}, {.activation = "relu"})(x);
  x = keras::layers::MaxPooling2D({.pool_size = 2})(x);
  x = keras::layers::Conv2D(64, {3, 3}, {.activation = "relu"})(x);
  x = keras::layers::Dense(64, {.activation = "relu"})(keras::layers::Flatten()(x));
  return keras::Model(images, keras::layers::Dense(10, {.activation = "softmax"})(x));
}

int MeasureFit(int64_t batch, int64_t steps, int turns, int threads) {
  std::FILE* const nowhere = std::fopen("/dev/null", "w");
  if (nowhere == nullptr) return std::perror("/dev/null"), 1;
  const keras::ScopedConsole console({.write = [&](absl::string_view text) {
    std::fwrite(text.data(), 1, text.size(), nowhere);
    std::fflush(nowhere);
  }});
  const std::vector<HostTensor> all = ImagesAndLabels(16 * batch);
  const Dataset dataset = Dataset::FromTensorSlices({{"image", all[0]}, {"label", all[1]}}).Batch(batch);
  RunConfig config{.save_checkpoints_secs = 1e6, .log_step_count_steps = 0, .save_summary_steps = 0};
  config.threads = threads;
  config.progress = false;
  keras::Model model = S0();
  model.Compile({.optimizer = "adam", .loss = "categorical_crossentropy", .metrics = {"accuracy"}, .config = config});
  Estimator plain = keras::ModelToEstimator(model, config), fetching = keras::ModelToEstimator(model, config);
  constexpr int kRows = 3;
  const char* const names[kRows] = {"Estimator's Train", "Train with the metric", "Model's Fit, verbose 1"};
  std::vector<double> wall[kRows], processor[kRows], wall_ratio[kRows], processor_ratio[kRows];
  for (int turn = 0; turn < turns; ++turn) {
    StepTimes times[kRows];
    for (int i = 0; i < kRows; ++i) {
      const int who = (i + turn) % kRows;  // nobody is always the first
      absl::Status status;
      if (who < 2) {
        auto hook = std::make_shared<ClockHook>(
            who == 0 ? std::vector<std::string>()
                     : std::vector<std::string>{"loss", "metric/accuracy/total", "metric/accuracy/count"});
        status =
            (who == 0 ? plain : fetching)
                .Train([&](const InputContext&) -> absl::StatusOr<Dataset> { return dataset.Repeat().Prefetch(2); },
                       {.steps = steps + kWarmSteps, .hooks = {hook}});
        times[who] = hook->clock.PerStep();
      } else {
        auto callback = std::make_shared<ClockCallback>();
        keras::FitOptions options{.verbose = 1, .steps_per_epoch = steps + kWarmSteps};
        options.callbacks = {callback};
        status = model.Fit(dataset, options).status();
        times[who] = callback->clock.PerStep();
      }
      if (!status.ok()) return std::fprintf(stderr, "%s\n", status.ToString().c_str()), 1;
    }
    for (int who = 0; who < kRows; ++who) {
      wall[who].push_back(1e6 * times[who].wall);
      processor[who].push_back(1e6 * times[who].processor);
      wall_ratio[who].push_back(times[who].wall / times[0].wall);
      processor_ratio[who].push_back(times[who].processor / times[0].processor);
    }
  }
  std::printf("S0, batch %lld, %d turns of %lld steps; microseconds of a step, and ratios to the first row\n",
              static_cast<long long>(batch), turns, static_cast<long long>(steps));
  for (int who = 0; who < kRows; ++who) {
    std::printf("%-24s wall %9.1f (%.4f)  processor %9.1f (%.4f)\n", names[who], Median(wall[who]),
                Median(wall_ratio[who]), Median(processor[who]), Median(processor_ratio[who]));
  }
  std::fclose(nowhere);
  return 0;
}

}  // namespace
}  // namespace tandem

int main(int argc, char** argv) {
  const auto argument = [&](int i, int64_t otherwise) { return argc > i ? std::atoll(argv[i]) : otherwise; };
  tandem::SetMinLogSeverity(tandem::LogSeverity::kWarning);
  return tandem::MeasureFit(argument(1, 64), argument(2, 400), static_cast<int>(argument(3, 11)),
                            static_cast<int>(argument(4, 2)));
}
