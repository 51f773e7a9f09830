// Compares keras::Model::Fit with an Estimator's Train. Both train the Fashion-MNIST convnet of scenario S0, in turns
// in one process. Fit also draws its progress bar (to /dev/null), and averages loss and accuracy over batches. Fit
// should take at most 1 % more time than Train.
//
//   bazel run //benchmarks:fit_cost -- [batch] [steps of a turn] [turns] [threads]
//
// Prints the medians of the turns and of the ratios within a turn, of wall time and of the process's processor time.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/logging.h"
#include "base/status_macros.h"
#include "benchmarks/training_turns.h"
#include "estimator/estimator.h"
#include "estimator/keras/console.h"
#include "estimator/keras/model.h"
#include "frontends/keras/layers.h"

namespace tandem {
namespace {

constexpr int64_t kWarmSteps = 50;

class ClockHook : public SessionRunHook {
 public:
  explicit ClockHook(std::vector<std::string> fetches) : fetches_(std::move(fetches)) {}
  absl::Status Begin(HookContext& context) override {
    for (const std::string& name : fetches_) context.Fetch(name);
    return absl::OkStatus();
  }
  std::vector<std::string> BeforeRun(RunContext&) override { return fetches_; }
  absl::Status AfterRun(RunContext&, const RunValues&) override { return clock.Tick(), absl::OkStatus(); }
  StepClock clock{kWarmSteps};

 private:
  const std::vector<std::string> fetches_;
};

class ClockCallback : public keras::Callback {
 public:
  absl::Status OnTrainBatchEnd(int64_t, const keras::Logs&) override { return clock.Tick(), absl::OkStatus(); }
  StepClock clock{kWarmSteps};
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
  const std::vector<std::string> names = {"Estimator's Train", "Train with the metric", "Model's Fit, verbose 1"};
  const absl::StatusOr<double> step = MeasureByTurns(
      names, {.batch = batch, .steps = steps, .warm_steps = kWarmSteps, .turns = turns},
      [&](size_t who) -> absl::StatusOr<StepTimes> {
        if (who == 2) {
          auto callback = std::make_shared<ClockCallback>();
          keras::FitOptions options{.verbose = 1, .steps_per_epoch = steps + kWarmSteps};
          options.callbacks = {callback};
          TD_RETURN_IF_ERROR(model.Fit(dataset, options).status());
          return callback->clock.PerStep();
        }
        auto hook = std::make_shared<ClockHook>(
            who == 0 ? std::vector<std::string>()
                     : std::vector<std::string>{"loss", "metric/accuracy/total", "metric/accuracy/count"});
        TD_RETURN_IF_ERROR(
            (who == 0 ? plain : fetching)
                .Train([&](const InputContext&) -> absl::StatusOr<Dataset> { return dataset.Repeat().Prefetch(2); },
                       {.steps = steps + kWarmSteps, .hooks = {hook}}));
        return hook->clock.PerStep();
      });
  if (!step.ok()) return std::fprintf(stderr, "%s\n", step.status().ToString().c_str()), 1;
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
