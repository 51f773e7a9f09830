// Measures what RunConfig.record_bits costs a training. Two Estimators train the Fashion-MNIST convnet of scenario S0
// in turns in one process; one records nothing, and the other every step. Also measures the time of recording alone for
// batches and variables of that size. Recording should cost at most 0.5 % of a step.
//
//   bazel run //benchmarks:record_cost -- [batch] [steps of a turn] [turns] [threads]
//
// Prints the medians of the turns and of the ratios within a turn, of wall time and of the process's processor time.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/env.h"
#include "base/logging.h"
#include "benchmarks/training_turns.h"
#include "estimator/checkpoint/model_dir.h"
#include "estimator/estimator.h"
#include "estimator/record/steps_file.h"
#include "samples/models.h"

namespace tandem {
namespace {

constexpr int64_t kWarmSteps = 50;

// Returns the microseconds that it takes to record one step, without running the step.
double RecordingAlone(int64_t batch) {
  constexpr int64_t kSteps = 20000;
  const absl::StatusOr<std::string> dir = MakeTemporaryModelDir();
  if (!dir.ok()) return -1;
  VariableStore store(1);
  std::vector<VariableSpec> variables;
  for (int64_t i = 0; i < 12; ++i) {  // about four times the numbers in S0's variables and Adam's slots
    variables.push_back({.name = std::to_string(i), .dtype = DType::kFloat32, .shape = {300, 300}});
    if (!store.Create({variables.back().name, DType::kFloat32, {300, 300}}).ok()) return -1;
  }
  const StepSampler sampler(store, variables);
  const BatchRound round{.replicas = {ImagesAndLabels(batch)}, .rows = {batch}, .examples = batch};
  Env* const env = Env::Default();
  StepsWriter writer(env, *dir);
  const double begin = env->MonotonicSeconds();
  for (int64_t step = 0; step < kSteps; ++step) {
    writer.Add(step, {.loss = 1, .input = sampler.OfInput(round, step), .variables = sampler.OfVariables(step)});
  }
  const double seconds = env->MonotonicSeconds() - begin;
  env->DeleteRecursively(*dir).IgnoreError();
  return 1e6 * seconds / kSteps;
}

int MeasureRecording(int64_t batch, int64_t steps, int turns, int threads) {
  const absl::StatusOr<SampleModel> model = SampleModelByName("zalando");
  if (!model.ok()) return std::fprintf(stderr, "%s\n", model.status().ToString().c_str()), 1;
  std::vector<std::pair<std::string, std::unique_ptr<Estimator>>> estimators;
  for (const bool record : {false, true}) {
    RunConfig config{.save_checkpoints_secs = 1e6, .log_step_count_steps = 0, .save_summary_steps = 0};
    config.record_bits = record;
    config.threads = threads;
    config.progress = false;
    estimators.emplace_back(record ? "every step recorded" : "nothing recorded",
                            std::make_unique<Estimator>(model->model_fn, config));
  }
  const absl::StatusOr<double> step =
      TrainByTurns(estimators, {.batch = batch, .steps = steps, .warm_steps = kWarmSteps, .turns = turns});
  if (!step.ok()) return std::fprintf(stderr, "%s\n", step.status().ToString().c_str()), 1;
  const double alone = RecordingAlone(batch);
  std::printf("recording by itself %.2f microseconds, %.3f %% of a step\n", alone, 100 * alone / *step);
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
