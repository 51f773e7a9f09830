// Allgather and Broadcast in trainings and evaluations of real processes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/logging.h"
#include "base/status_macros.h"
#include "estimator/horovod/horovod.h"
#include "estimator/test_models.h"
#include "estimator/test_workers.h"

namespace tandem {
namespace {

using namespace test;  // NOLINT: this file's vocabulary

namespace hvd = horovod;

using Numbers = std::vector<float>;

constexpr int64_t kBatchRows = 2;
constexpr int kRoot = 1;

// Rank 0 has six rows and rank 1 has three, so that its input ends first.
Numbers RowsOf(int rank) { return rank == 0 ? Numbers{1, 2, 4, 8, 16, 32} : Numbers{5, 7, 64}; }

// "x" in batches of two, and "y", which is below zero on rank 0.
absl::StatusOr<Dataset> OwnRows(const InputContext&) {
  const Numbers x = RowsOf(hvd::Rank());
  const auto n = static_cast<int64_t>(x.size());
  Numbers y = x;
  if (hvd::Rank() == 0) std::fill(y.begin(), y.end(), -1.0f);
  return Dataset::FromTensorSlices({{"x", HostTensor::FromVector({n, 1}, x)},
                                    {"y", HostTensor::FromVector({n, 1}, y)},
                                    {"label", HostTensor::Zeros(DType::kFloat32, {n, 1})}})
      .Batch(kBatchRows);
}

EstimatorSpec GatheringModel(const Features& features, const Tensor& labels, Mode mode, const Params&) {
  const Tensor x = features["x"];
  GraphBuilder* graph = x.graph();
  const Tensor mean = BatchMoments(x).mean;
  graph->Output("rows", hvd::Allgather(graph->StepScalar("replica_example_count", DType::kFloat32)));
  graph->Output("means", hvd::Allgather(mean));
  graph->Output("of_first", hvd::Broadcast(mean, 0));
  graph->Output("of_root", hvd::Broadcast(mean, kRoot));
  // NaN on the other rank.
  graph->Output("sqrt_of_root", hvd::Broadcast(Sqrt(BatchMoments(features["y"]).mean), kRoot));
  const Tensor loss = losses::MeanSquaredError(labels, layers::Dense(x * 0.01, {.units = 1}));
  if (mode == Mode::kEval) return EstimatorSpec::Eval(loss);
  return EstimatorSpec::Train(loss, optimizers::SGD({.learning_rate = 0.01}).Minimize(loss));
}

// What every step has to have fetched on two ranks of so many devices, by the inputs: a line for each.
std::vector<std::string> ExpectedSteps(int devices) {
  std::vector<std::string> steps;
  size_t at[2] = {0, 0};
  while (at[0] < RowsOf(0).size() || at[1] < RowsOf(1).size()) {
    Numbers rows, means;
    for (int rank = 0; rank < 2; ++rank) {
      const Numbers all = RowsOf(rank);
      for (int d = 0; d < devices; ++d) {
        float n = 0, sum = 0;
        for (; n < kBatchRows && at[rank] < all.size(); ++n) sum += all[at[rank]++];
        rows.push_back(n);
        means.push_back(n == 0 ? 0 : sum / n);
      }
    }
    const float root = means[kRoot * devices];
    steps.push_back(absl::StrCat("rows ", absl::StrJoin(rows, " "), " means ", absl::StrJoin(means, " "), " of_first ",
                                 means[0], " of_root ", root, " sqrt_of_root ", std::sqrt(root)));
  }
  return steps;
}

std::shared_ptr<StepHook> Recorder(std::vector<std::string>* steps) {
  static const auto* const names = new std::vector<std::string>{"rows", "means", "of_first", "of_root", "sqrt_of_root"};
  return std::make_shared<StepHook>(
      [steps](RunContext&, const RunValues& values) {
        std::vector<std::string> words;
        for (const std::string& name : *names) {
          const HostTensor& tensor = values.tensors.at(name);
          words.push_back(name);
          for (int64_t i = 0; i < tensor.num_elements(); ++i) words.push_back(absl::StrCat(tensor.data<float>()[i]));
        }
        steps->push_back(absl::StrJoin(words, " "));
      },
      *names);
}

absl::Status ExpectSteps(const std::vector<std::string>& steps, int devices) {
  const std::vector<std::string> want = ExpectedSteps(devices);
  if (steps == want) return absl::OkStatus();
  return absl::InternalError(absl::StrCat(absl::StrJoin(steps, "\n"), "\nin place of\n", absl::StrJoin(want, "\n")));
}

bool Ok(const absl::Status& status) {
  if (!status.ok()) std::cerr << status << "\n";
  return status.ok();
}

// In training and in evaluation, until both inputs have ended: rank 1's last batch is short, and later it has none.
TEST(HorovodGather, RanksReadEachOthersValues) {
  for (const int devices : {1, 2}) {
    EXPECT_TRUE(AsWorkers(2,
                          [&](int, RunConfig config) {
                            SetMinLogSeverity(LogSeverity::kError);
                            config.train_distribute->devices.resize(devices);
                            const auto run = [&]() -> absl::Status {
                              TD_RETURN_IF_ERROR(hvd::Init(config.cluster));
                              Estimator estimator(GatheringModel, hvd::Config(config));
                              std::vector<std::string> trained, evaluated;
                              TD_RETURN_IF_ERROR(estimator.Train(OwnRows, {.hooks = {Recorder(&trained)}}));
                              TD_RETURN_IF_ERROR(ExpectSteps(trained, devices));
                              TD_RETURN_IF_ERROR(
                                  estimator.Evaluate(OwnRows, {.hooks = {Recorder(&evaluated)}}).status());
                              return ExpectSteps(evaluated, devices);
                            };
                            return Ok(run());
                          }))
        << devices << " devices";
  }
}

// The weights after an epoch of 26 points, of which the last step has 4, 4, 2 and 0.
std::string Weights(int ranks, int devices) {
  const std::string dir = ModelDir(absl::StrCat(ranks, "x", devices));
  const auto model = [](const Features& features, const Tensor& labels, Mode, const Params&) {
    const Tensor y = layers::Dense(features["x"], {.units = 1});
    const Moments own = BatchMoments(y);
    const Tensor seen = ReduceSum(Square(hvd::Allgather(own.mean))) + hvd::Broadcast(own.variance, 0);
    const Tensor loss = losses::MeanSquaredError(labels, y + seen * 0.1);
    return EstimatorSpec::Train(loss, optimizers::SGD({.learning_rate = 0.1}).Minimize(loss));
  };
  const auto train = [&](RunConfig config) -> absl::Status {
    config.model_dir = dir;
    config.save_checkpoints_steps = 100;
    TD_RETURN_IF_ERROR(hvd::Init(config.cluster));
    return Estimator(model, config).Train(LineInput(26, 4, 1), {});
  };
  if (ranks == 1) {
    EXPECT_TRUE(Ok(train(Config(dir, devices))));
    hvd::Shutdown();
  } else {
    EXPECT_TRUE(AsWorkers(ranks, [&](int, RunConfig config) {
      SetMinLogSeverity(LogSeverity::kError);
      config.train_distribute = MultiWorkerMirroredStrategy(Config(dir, devices).train_distribute->devices);
      return Ok(train(config));
    }));
  }
  const auto latest = CheckpointManager(Env::Default(), dir).LatestCheckpoint();
  EXPECT_TRUE(latest.ok() && latest->has_value()) << latest.status();
  return BaseName(**latest) + *Env::Default()->ReadFile(**latest + "/variables.safetensors");
}

TEST(HorovodGather, OneProcessAndSeveralHaveTheSameBits) {
  const std::string two = Weights(2, 2), four = Weights(4, 1);
  EXPECT_TRUE(absl::StartsWith(two, "model.ckpt-2")) << two.substr(0, 20);
  EXPECT_EQ(two, Weights(1, 4));
  EXPECT_EQ(two, four);
}

// A process predicts by itself, whatever the others do.
TEST(HorovodGather, PredictionsHaveNoOtherRanks) {
  EXPECT_TRUE(AsWorkers(2, [&](int, RunConfig config) {
    SetMinLogSeverity(LogSeverity::kError);
    config.train_distribute->devices.resize(1);
    const auto model = [](const Features& features, const Tensor& labels, Mode mode, const Params& params) {
      const Tensor mean = BatchMoments(features["x"]).mean;
      if (mode == Mode::kPredict) {
        return EstimatorSpec::Predict({{"y", features["x"] + ReduceMean(hvd::Allgather(mean))}});
      }
      return LineModel(features, labels, mode, params);
    };
    if (!Ok(hvd::Init(config.cluster))) return false;
    Estimator estimator(model, hvd::Config(config));
    if (!Ok(estimator.Train(LineInput(), {.steps = 1}))) return false;
    const absl::Status status = estimator.Predict(LineInput(8, 4, 1), [](const NamedTensors&) { return true; });
    return absl::StrContains(status.message(), "gather_test.cc:") &&
           absl::StrContains(status.message(), "Size() is 2, and a step of this program is made by 1 process");
  }));
}

}  // namespace
}  // namespace tandem
