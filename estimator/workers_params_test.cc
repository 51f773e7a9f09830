// What params say to a model_fn about the workers, and what a model_fn may not make of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "estimator/test_workers.h"

namespace tandem {
namespace {

constexpr int kWorkers = 2;

// Trains a step of `model` as two workers of two devices each; the status of each goes to `check`.
int TrainAsWorkers(const ModelFn& model, const std::function<bool(int rank, const absl::Status&)>& check) {
  const std::string dir = test::ModelDir();
  const int port = test::FreePort();
  Processes processes(kWorkers, [&](int rank) {
    RunConfig config = test::WorkerConfig(dir, rank, kWorkers, port, /*devices=*/2);
    config.save_checkpoints_steps = 0;
    const absl::Status status = Estimator(model, config).Train(test::LineInput(64, 4), {.steps = 1});
    if (check(rank, status)) return 0;
    std::cerr << "rank " << rank << ": " << status << "\n";
    return 1;
  });
  return processes.WaitAll();
}

// SGD with this rate on one dense unit.
EstimatorSpec Model(const Features& features, const Tensor& labels, double rate) {
  Tensor loss = losses::MeanSquaredError(labels, layers::Dense(features["x"], {.units = 1}));
  return EstimatorSpec::Train(loss, optimizers::SGD({.learning_rate = rate}).Minimize(loss));
}

TEST(WorkersParams, CountReplicasOfAllWorkers) {
  int workers = 0, replicas = 0, index = -1;  // of each process
  EXPECT_EQ(TrainAsWorkers(
                [&](const Features& features, const Tensor& labels, Mode, const Params& params) {
                  workers = params.num_workers();
                  replicas = params.num_replicas();
                  index = params.worker_index();
                  return Model(features, labels, 0.01 * params.num_replicas());
                },
                [&](int rank, const absl::Status& status) {
                  return status.ok() && workers == kWorkers && replicas == 2 * kWorkers && index == rank;
                }),
            0);
}

bool SaysThatItDiffers(const absl::Status& status, absl::string_view what) {
  return !status.ok() && absl::StrContains(status.message(), what);
}

TEST(WorkersParams, ARateThatDependsOnTheWorkerIsAnError) {
  EXPECT_EQ(TrainAsWorkers(
                [](const Features& features, const Tensor& labels, Mode, const Params& params) {
                  return Model(features, labels, 0.01 * (1 + params.worker_index()));
                },
                [](int, const absl::Status& status) { return SaysThatItDiffers(status, "the numbers of mode train"); }),
            0);
}

TEST(WorkersParams, AGraphThatDependsOnTheWorkerIsAnError) {
  EXPECT_EQ(TrainAsWorkers(
                [](const Features& features, const Tensor& labels, Mode, const Params& params) {
                  Tensor y = layers::Dense(features["x"], {.units = 1 + params.worker_index()});
                  Tensor loss = losses::MeanSquaredError(labels, ReduceSum(y, {1}, true));
                  return EstimatorSpec::Train(loss, optimizers::SGD({.learning_rate = 0.01}).Minimize(loss));
                },
                [](int, const absl::Status& status) { return SaysThatItDiffers(status, "the program of mode train"); }),
            0);
}

}  // namespace
}  // namespace tandem
