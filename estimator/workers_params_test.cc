// What params say to a model_fn about the workers, and what a model_fn may not make of it.
#include <gtest/gtest.h>

#include <chrono>
#include <iostream>
#include <thread>

#include "absl/strings/match.h"
#include "base/logging.h"
#include "estimator/test_workers.h"

namespace tandem {
namespace {

using test::AsWorkers;

absl::Status TrainStep(const ModelFn& model, const RunConfig& config) {
  return Estimator(model, config).Train(test::LineInput(64, 4), {.steps = 1});
}

bool SaysThatItDiffers(const absl::Status& status, absl::string_view what) {
  const bool says = !status.ok() && absl::StrContains(status.message(), what);
  if (!says) std::cerr << status << "\n";
  return says;
}

// SGD with this rate on dense units.
EstimatorSpec Model(const Features& features, const Tensor& labels, double rate, int64_t units = 1) {
  Tensor y = ReduceSum(layers::Dense(features["x"], {.units = units}), {1}, true);
  Tensor loss = losses::MeanSquaredError(labels, y);
  return EstimatorSpec::Train(loss, optimizers::SGD({.learning_rate = rate}).Minimize(loss));
}

TEST(WorkersParams, CountReplicasOfAllWorkers) {
  EXPECT_TRUE(AsWorkers(2, [](int rank, const RunConfig& config) {
    Params seen;
    const absl::Status status = TrainStep(
        [&](const Features& features, const Tensor& labels, Mode, const Params& params) {
          seen = params;
          return Model(features, labels, 0.01 * params.num_replicas());
        },
        config);
    if (!status.ok()) std::cerr << status << "\n";
    return status.ok() && seen.num_workers() == 2 && seen.num_replicas() == 4 && seen.worker_index() == rank;
  }));
}

// One device fits; those of all workers do not.
TEST(WorkersParams, LanesGoWithTheDevicesOfAllWorkers) {
  EXPECT_TRUE(AsWorkers(3, [](int, const RunConfig& config) {
    RunConfig two = config;
    two.train_distribute = MultiWorkerMirroredStrategy({"cpu:0"});
    two.lanes = 2;
    return SaysThatItDiffers(TrainStep([](const Features& features, const Tensor& labels, Mode,
                                          const Params&) { return Model(features, labels, 0.01); },
                                       two),
                             "lanes = 2 cannot be had with 3 devices");
  }));
}

TEST(WorkersParams, ARateThatDependsOnTheWorkerIsAnError) {
  EXPECT_TRUE(AsWorkers(2, [](int, const RunConfig& config) {
    return SaysThatItDiffers(
        TrainStep([](const Features& features, const Tensor& labels, Mode,
                     const Params& params) { return Model(features, labels, 0.01 * (1 + params.worker_index())); },
                  config),
        "the numbers of mode train");
  }));
}

TEST(WorkersParams, AGraphThatDependsOnTheWorkerIsAnError) {
  EXPECT_TRUE(AsWorkers(2, [](int, const RunConfig& config) {
    return SaysThatItDiffers(
        TrainStep([](const Features& features, const Tensor& labels, Mode,
                     const Params& params) { return Model(features, labels, 0.01, 1 + params.worker_index()); },
                  config),
        "the program of mode train");
  }));
}

TEST(WorkersParams, WhoEvaluatesAloneSaysThatItWaits) {
  EXPECT_TRUE(AsWorkers(2, [](int rank, RunConfig config) {
    const LogCapture log;
    config.stall_warning_secs = 0.2;
    config.compile_cache = false;
    Estimator estimator(test::LineModel, config);
    if (!estimator.Train(test::LineInput(64, 4), {.steps = 1}).ok()) return false;
    if (rank == 1) std::this_thread::sleep_for(std::chrono::seconds(2));
    const absl::StatusOr<EvalResult> result = estimator.Evaluate(test::LineInput(64, 4, 1));
    if (!result.ok()) std::cerr << result.status() << "\n";
    return result.ok() && (rank == 1 || absl::StrContains(log.Text(), "Waiting until all workers are in mode eval"));
  }));
}

}  // namespace
}  // namespace tandem
