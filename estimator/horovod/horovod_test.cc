// Horovod's API: one process, and two as real processes.
#include "estimator/horovod/horovod.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <iostream>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/logging.h"
#include "base/status_macros.h"
#include "estimator/test_models.h"
#include "estimator/test_workers.h"

namespace tandem {
namespace {

using namespace test;  // NOLINT: this file's vocabulary
using ::testing::HasSubstr;

namespace hvd = horovod;

// Cluster of TF_CONFIG with tasks on these hosts.
Cluster OnHosts(const std::vector<std::string>& hosts, int rank) {
  Cluster cluster{.rank = rank, .world_size = static_cast<int64_t>(hosts.size()), .coordinator = "a:1"};
  for (const std::string& host : hosts) cluster.addresses[TaskType::kWorker].push_back(absl::StrCat(host, ":2222"));
  return cluster;
}

TEST(Horovod, KnowsWhoIsHere) {
  hvd::Shutdown();
  EXPECT_FALSE(hvd::IsInitialized());
  EXPECT_EQ(hvd::Rank(), -1);
  EXPECT_EQ(hvd::Size(), -1);
  ASSERT_EQ(hvd::Init(), absl::OkStatus());
  EXPECT_TRUE(hvd::IsInitialized());
  EXPECT_EQ(hvd::Rank(), 0);
  EXPECT_EQ(hvd::Size(), 1);
  EXPECT_EQ(hvd::LocalRank(), 0);
  EXPECT_EQ(hvd::LocalSize(), 1);
  ASSERT_EQ(hvd::Init(OnHosts({"a", "b", "a", "a"}, 2)), absl::OkStatus());
  EXPECT_EQ(hvd::Rank(), 2);
  EXPECT_EQ(hvd::Size(), 4);
  EXPECT_EQ(hvd::LocalRank(), 1);
  EXPECT_EQ(hvd::LocalSize(), 3);
  ASSERT_EQ(hvd::Init(Cluster{.rank = 1, .world_size = 2, .local_rank = 1, .local_world_size = 2}), absl::OkStatus());
  EXPECT_EQ(hvd::LocalRank(), 1);
  ASSERT_EQ(hvd::Init(Cluster{.rank = 1, .world_size = 2}), absl::OkStatus());
  EXPECT_EQ(hvd::LocalRank(), -1) << "nobody says";
  EXPECT_EQ(hvd::Config({.seed = 3}).auto_shard, AutoShard::kOff);
  EXPECT_EQ(hvd::Config({.seed = 3}).seed, 3);
  hvd::Shutdown();
}

// The loss of one step of a linear model by gradient descent, and its weight.
EstimatorSpec Line(const Features& features, const Tensor& labels, const Optimizer& optimizer) {
  Tensor y = layers::Dense(features["x"], {.units = 1, .kernel_initializer = initializers::Zeros()});
  const Tensor loss = losses::MeanSquaredError(labels, y);
  return EstimatorSpec::Train(loss, optimizer.Minimize(loss));
}

ModelFn LineBy(double rate, const hvd::DistributedOptimizerOptions& options, bool distributed = true) {
  return [=](const Features& features, const Tensor& labels, Mode, const Params&) {
    const Optimizer sgd = optimizers::SGD({.learning_rate = rate, .clip = {.global_norm = 0.5}});
    return Line(features, labels, distributed ? hvd::DistributedOptimizer(sgd, options) : sgd);
  };
}

std::string Weights(const std::string& dir) {
  const auto latest = CheckpointManager(Env::Default(), dir).LatestCheckpoint();
  EXPECT_TRUE(latest.ok() && latest->has_value()) << latest.status();
  return BaseName(**latest) + *Env::Default()->ReadFile(**latest + "/variables.safetensors");
}

// Six steps of two processes, or of one, whose input is that of the rank.
std::string Train(const std::string& name, int size, const ModelFn& model, int accumulate = 1) {
  const std::string dir = ModelDir(name);
  const auto input = [](const InputContext&) -> absl::StatusOr<Dataset> {
    return LinePoints(48).Shard(hvd::Size(), hvd::Rank()).Repeat().Batch(4);
  };
  const auto train = [&](RunConfig config) -> absl::Status {
    config.model_dir = dir;
    config.save_checkpoints_steps = 100;
    config.accumulate_batches = accumulate;
    TD_RETURN_IF_ERROR(hvd::Init(config.cluster));
    return Estimator(model, hvd::Config(config))
        .Train(input, {.steps = 6, .hooks = {std::make_shared<hvd::BroadcastGlobalVariablesHook>(0)}});
  };
  if (size == 1) {
    EXPECT_EQ(train(Config(dir)), absl::OkStatus());
    hvd::Shutdown();
  } else {
    EXPECT_TRUE(AsWorkers(size, [&](int, RunConfig config) {
      SetMinLogSeverity(LogSeverity::kError);
      config.train_distribute->devices.resize(1);
      const absl::Status status = train(config);
      if (!status.ok()) std::cerr << status << "\n";
      return status.ok();
    }));
  }
  return Weights(dir);
}

// An average is what an optimizer of Tandem's makes. A sum is so many times as much, before it is clipped: here it is
// clipped always, so that it is the same, and without clipping as a rate that is twice as high.
TEST(Horovod, OptimizersAddOrAverage) {
  const std::string average = Train("average", 2, LineBy(0.25, {}));
  EXPECT_EQ(average, Train("plain", 2, LineBy(0.25, {}, /*distributed=*/false)));
  const auto unclipped = [](double rate, hvd::ReduceOp op) -> ModelFn {
    return [=](const Features& features, const Tensor& labels, Mode, const Params&) {
      return Line(features, labels, hvd::DistributedOptimizer(optimizers::SGD({.learning_rate = rate}), {.op = op}));
    };
  };
  const std::string sum = Train("sum", 2, unclipped(0.125, hvd::ReduceOp::kSum));
  EXPECT_EQ(sum, Train("twice", 2, unclipped(0.25, hvd::ReduceOp::kAverage)));
  EXPECT_NE(sum, Train("once", 2, unclipped(0.125, hvd::ReduceOp::kAverage)));
  EXPECT_EQ(Train("sum_of_one", 1, unclipped(0.125, hvd::ReduceOp::kSum)),
            Train("average_of_one", 1, unclipped(0.125, hvd::ReduceOp::kAverage)));
}

TEST(Horovod, GradientsOfAccumulatedBatchesAreAdded) {
  const auto model = [](double rate, bool average) -> ModelFn {
    return [=](const Features& features, const Tensor& labels, Mode, const Params&) {
      return Line(features, labels,
                  hvd::DistributedOptimizer(optimizers::SGD({.learning_rate = rate}),
                                            {.average_aggregated_gradients = average}));
    };
  };
  EXPECT_EQ(Train("added", 2, model(0.125, false), 2), Train("averaged", 2, model(0.25, true), 2));
  EXPECT_NE(Train("added", 2, model(0.125, false), 2), Train("less", 2, model(0.125, true), 2));
}

// "mean": of the values that each rank has itself; "common": one that all have.
TEST(Horovod, AllreduceCombinesWhatRanksHave) {
  for (const int size : {1, 2}) {
    for (const hvd::ReduceOp op : {hvd::ReduceOp::kAverage, hvd::ReduceOp::kSum}) {
      const auto model = [op](const Features& features, const Tensor& labels, Mode, const Params&) {
        const Tensor x = features["x"];
        const Tensor own = BatchMoments(x, "replica").mean;  // of the rank's batch
        x.graph()->Output("mean", hvd::Allreduce(own, op));
        x.graph()->Output("common", hvd::Allreduce(x.graph()->Constant(HostTensor::Scalar<float>(3)), op));
        const Tensor loss = losses::MeanSquaredError(labels, layers::Dense(x, {.units = 1}));
        return EstimatorSpec::Train(loss, optimizers::SGD({.learning_rate = 0.1}).Minimize(loss));
      };
      const auto run = [&](RunConfig config) -> absl::Status {
        TD_RETURN_IF_ERROR(hvd::Init(config.cluster));
        double mean = 0, common = 0;
        auto hook = std::make_shared<StepHook>(
            [&](RunContext&, const RunValues& values) {
              mean = values.Number("mean");
              common = values.Number("common");
            },
            std::vector<std::string>{"mean", "common"});
        const auto input = [](const InputContext&) -> absl::StatusOr<Dataset> {
          const float at = 1.0f + 4.0f * hvd::Rank();  // 1 on rank 0, 5 on rank 1
          return Dataset::FromTensorSlices({{"x", HostTensor::FromVector<float>({2, 1}, {at, at})},
                                            {"label", HostTensor::Zeros(DType::kFloat32, {2, 1})}})
              .Batch(2);
        };
        TD_RETURN_IF_ERROR(Estimator(model, hvd::Config(config)).Train(input, {.steps = 1, .hooks = {hook}}));
        const double times = op == hvd::ReduceOp::kSum ? size : 1;
        const double expected = size == 1 ? 1 : 3;
        if (std::abs(mean - expected * times) > 1e-6 || common != 3 * times) {
          return absl::InternalError(absl::StrCat(mean, " and ", common));
        }
        return absl::OkStatus();
      };
      if (size == 1) {
        EXPECT_EQ(run(Config(ModelDir())), absl::OkStatus());
        hvd::Shutdown();
        continue;
      }
      EXPECT_TRUE(AsWorkers(2, [&](int, RunConfig config) {
        SetMinLogSeverity(LogSeverity::kError);
        config.train_distribute->devices.resize(1);
        const absl::Status status = run(config);
        if (!status.ok()) std::cerr << status << "\n";
        return status.ok();
      }));
    }
  }
}

TEST(Horovod, MistakesAreNamed) {
  ASSERT_EQ(hvd::Init(), absl::OkStatus());
  Estimator estimator(LineModel, hvd::Config(Config(ModelDir())));
  const absl::Status root =
      estimator.Train(LineInput(), {.steps = 1, .hooks = {std::make_shared<hvd::BroadcastGlobalVariablesHook>(1)}});
  EXPECT_THAT(root.message(), HasSubstr("BroadcastGlobalVariablesHook::Begin: root_rank is 1"));
  const auto rows = [](const Features& features, const Tensor& labels, Mode, const Params&) {
    hvd::Allreduce(features["x"]);
    return Line(features, labels, optimizers::SGD({.learning_rate = 0.1}));
  };
  EXPECT_THAT(Estimator(rows, Config(ModelDir("rows"))).Train(LineInput(), {.steps = 1}).message(),
              HasSubstr("cannot combine rows of the batch"));
  const auto negative = [](const Features& features, const Tensor& labels, Mode, const Params&) {
    return Line(features, labels, optimizers::SGD({.learning_rate = 0.1}).WithGradientFactor(-2));
  };
  const absl::Status factor = Estimator(negative, Config(ModelDir("factor"))).Train(LineInput(), {.steps = 1});
  EXPECT_THAT(factor.message(), HasSubstr("the factor must be a positive number, got -2"));
  EXPECT_THAT(factor.message(), HasSubstr("horovod_test.cc:"));
  hvd::Shutdown();
}

}  // namespace
}  // namespace tandem
