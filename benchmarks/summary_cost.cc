// What summaries for TensorBoard cost a training: S0's convnet with Estimators that write none, the Estimator's own
// scalars, and all that a model may show (histograms of all weights and of the images, three pictures, a scalar), by
// turns in one process, with save_summary_steps = 100. The bar is a ratio of 1.01 of whole steps.
//
//   bazel run //benchmarks:summary_cost -- [batch] [steps of a turn, a multiple of 100] [turns] [threads]
//
// Prints the medians of the turns and of the ratios within a turn, of wall time and of the process's processor time,
// which has the writer's thread in it and little of what else the machine does.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "base/logging.h"
#include "base/median.h"
#include "base/processor_time.h"
#include "estimator/estimator.h"
#include "frontends/summary.h"
#include "graph/ops.h"
#include "samples/models.h"

namespace tandem {
namespace {

struct Times {
  double wall = 0, processor = 0;  // seconds
};

Times Now() {
  return {std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(),
          ProcessProcessorSeconds()};
}

// Of all steps of a turn but the first hundred, which have the start in them.
class TimeSteps : public SessionRunHook {
 public:
  absl::Status AfterRun(RunContext&, const RunValues&) override {
    ++steps_;
    if (steps_ == 100) begin_ = Now();
    end_ = Now();
    return absl::OkStatus();
  }
  Times PerStep() const {
    const double steps = static_cast<double>(steps_ - 100);
    return {(end_.wall - begin_.wall) / steps, (end_.processor - begin_.processor) / steps};
  }

 private:
  int64_t steps_ = 0;
  Times begin_, end_;
};

enum class Shown { kNothing, kOwnScalars, kEverything };

ModelFn Model(const ModelFn& model_fn, Shown shown) {
  return [model_fn, shown](const Features& features, const Tensor& labels, Mode mode, const Params& params) {
    EstimatorSpec spec = model_fn(features, labels, mode, params);
    if (shown != Shown::kEverything) return spec;
    summary::Scalar("loss_again", spec.loss);
    summary::Image("images", features["image"]);
    summary::Histogram("pixels", features["image"]);
    for (const Tensor& variable : features.graph()->trainable_variables()) {
      summary::Histogram(variable.name(), variable);
    }
    return spec;
  };
}

InputFn Images(int64_t batch, bool one_hot) {
  return [=](const InputContext&) -> absl::StatusOr<Dataset> {
    const int64_t count = 16 * batch;
    std::vector<float> images(count * 28 * 28), labels;
    for (size_t i = 0; i < images.size(); ++i) images[i] = static_cast<float>((i * 7919) % 256) / 255;
    for (int64_t i = 0; i < count * 10; ++i) labels.push_back(i % 10 == i / 10 % 10 ? 1 : 0);
    if (!one_hot) return absl::InternalError("the model takes class numbers");
    return Dataset::FromTensorSlices({{"image", HostTensor::FromVector({count, 28, 28, 1}, images)},
                                      {"label", HostTensor::FromVector({count, 10}, labels)}})
        .Repeat(-1)
        .Batch(batch)
        .Prefetch(2);
  };
}

int Run(int64_t batch, int64_t steps, int turns, int threads) {
  const absl::StatusOr<SampleModel> model = SampleModelByName("zalando");
  if (!model.ok()) return std::fprintf(stderr, "%s\n", model.status().ToString().c_str()), 1;
  std::vector<std::unique_ptr<Estimator>> estimators;
  for (Shown shown : {Shown::kNothing, Shown::kOwnScalars, Shown::kEverything}) {
    RunConfig config{.save_checkpoints_steps = 0, .log_step_count_steps = 0};
    config.save_summary_steps = shown == Shown::kNothing ? 0 : 100;
    config.threads = threads;
    config.progress = false;
    estimators.push_back(std::make_unique<Estimator>(Model(model->model_fn, shown), config));
  }
  std::vector<std::vector<double>> wall(3), processor(3), wall_ratio(3), processor_ratio(3);
  for (int turn = 0; turn < turns; ++turn) {
    std::vector<Times> times(3);
    for (int i = 0; i < 3; ++i) {
      const int who = (i + turn) % 3;  // nobody is always the first
      auto hook = std::make_shared<TimeSteps>();
      const absl::Status status =
          estimators[who]->Train(Images(batch, model->one_hot_labels), {.steps = steps + 100, .hooks = {hook}});
      if (!status.ok()) return std::fprintf(stderr, "%s\n", status.ToString().c_str()), 1;
      times[who] = hook->PerStep();
    }
    for (int who = 0; who < 3; ++who) {
      wall[who].push_back(1e6 * times[who].wall);
      processor[who].push_back(1e6 * times[who].processor);
      wall_ratio[who].push_back(times[who].wall / times[0].wall);
      processor_ratio[who].push_back(times[who].processor / times[0].processor);
    }
  }
  std::printf("S0, batch %lld, %d turns of %lld steps; microseconds of a step, and ratios to the first row\n",
              static_cast<long long>(batch), turns, static_cast<long long>(steps));
  const char* names[] = {"no summaries", "the Estimator's scalars", "everything"};
  for (int who = 0; who < 3; ++who) {
    std::printf("%-24s wall %9.1f (%.4f)  processor %9.1f (%.4f)\n", names[who], Median(wall[who]),
                Median(wall_ratio[who]), Median(processor[who]), Median(processor_ratio[who]));
  }
  return 0;
}

}  // namespace
}  // namespace tandem

int main(int argc, char** argv) {
  const auto argument = [&](int i, int64_t otherwise) { return argc > i ? std::atoll(argv[i]) : otherwise; };
  tandem::SetMinLogSeverity(tandem::LogSeverity::kWarning);
  return tandem::Run(argument(1, 64), argument(2, 500), static_cast<int>(argument(3, 9)),
                     static_cast<int>(argument(4, 2)));
}
