// Measures what summaries for TensorBoard cost a training. Estimators train the Fashion-MNIST convnet of scenario S0
// and write no summaries, the Estimator's own scalars, or everything that a model can show (histograms of all weights
// and of the images, three pictures, a scalar), in turns in one process, with save_summary_steps = 100. Whole steps
// should take at most 1.01 times as long.
//
//   bazel run //benchmarks:summary_cost -- [batch] [steps of a turn, a multiple of 100] [turns] [threads]
//
// Prints the medians of the turns and of the ratios within a turn, of wall time and of the process's processor time,
// which includes the writer's thread, and depends little on other programs.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/logging.h"
#include "benchmarks/training_turns.h"
#include "estimator/estimator.h"
#include "frontends/summary.h"
#include "graph/ops.h"
#include "samples/models.h"

namespace tandem {
namespace {

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

int Run(int64_t batch, int64_t steps, int turns, int threads) {
  const absl::StatusOr<SampleModel> model = SampleModelByName("zalando");
  if (!model.ok()) return std::fprintf(stderr, "%s\n", model.status().ToString().c_str()), 1;
  std::vector<std::pair<std::string, std::unique_ptr<Estimator>>> estimators;
  for (const auto& [shown, name] :
       {std::make_pair(Shown::kNothing, "no summaries"), std::make_pair(Shown::kOwnScalars, "the Estimator's scalars"),
        std::make_pair(Shown::kEverything, "everything")}) {
    RunConfig config{.save_checkpoints_steps = 0, .log_step_count_steps = 0};
    config.save_summary_steps = shown == Shown::kNothing ? 0 : 100;
    config.threads = threads;
    config.progress = false;
    estimators.emplace_back(name, std::make_unique<Estimator>(Model(model->model_fn, shown), config));
  }
  const absl::StatusOr<double> measured =
      TrainByTurns(estimators, {.batch = batch, .steps = steps, .warm_steps = 100, .turns = turns});
  if (!measured.ok()) return std::fprintf(stderr, "%s\n", measured.status().ToString().c_str()), 1;
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
