// A step of a run of several workers is made again in one process, with the bits of all of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/exit_code.h"
#include "estimator/replay/replay_request.h"
#include "estimator/replay/step_file.h"
#include "estimator/test_models.h"
#include "estimator/test_workers.h"

namespace tandem {
namespace {

using test::LineInput;
using test::ModelDir;

constexpr int64_t kStep = 5;
constexpr char kRows[] = "dense/MatMul", kGradient[] = "gradients/dense/MatMul/MatMul";

std::string BytesOf(const HostTensor& t) {
  return {static_cast<const char*>(t.raw()), static_cast<size_t>(t.byte_size())};
}

RunConfig Saving(const std::string& dir, RunConfig config) {
  config.model_dir = dir;
  config.save_checkpoints_steps = 3;
  config.threads = 1;
  config.handle_signals = false;
  return config;
}

TEST(ReplayOfWorkers, OneProcessHasTheBitsOfAll) {
  constexpr int kWorkers = 2;
  const std::string dir = ModelDir("dir");
  const std::vector<std::string> seen = test::ResultsOfWorkers(kWorkers, [&](int, RunConfig config) {
    std::string bytes;
    auto hook = std::make_shared<test::StepHook>(
        [&](RunContext&, const RunValues& values) {
          if (values.step != kStep) return;
          bytes = BytesOf(values.tensors.at("loss")) + BytesOf(values.tensors.at(kGradient)) +
                  BytesOf(values.tensors.at(kRows));
        },
        std::vector<std::string>{kRows, kGradient});
    Estimator estimator(test::LineModel, Saving(dir, std::move(config)));
    EXPECT_EQ(estimator.Train(LineInput(64, 8), {.max_steps = 8, .hooks = {hook}}), absl::OkStatus());
    return bytes;
  });
  const std::string file = ::testing::TempDir() + "/workers.npz";
  SetReplayOfProcess(ReplayRequest{.step = kStep, .fetches = {kRows, kGradient}, .out = file});
  // The same program without a cluster, with the devices of one worker.
  Estimator estimator(test::LineModel, Saving(dir, {.train_distribute = MultiWorkerMirroredStrategy({"cpu:0"})}));
  const absl::Status status = estimator.Train(LineInput(64, 8), {.max_steps = 8});
  SetReplayOfProcess(std::nullopt);
  ASSERT_EQ(ExitCodeFor(status), kExitOk) << status;
  std::string loss, gradient, rows;
  const auto step = ReadStepFile(file);
  ASSERT_TRUE(step.ok()) << step.status();
  for (const auto& [name, value] : step->arrays) {
    (name == "loss" ? loss : name == kRows ? rows : gradient) = BytesOf(value);
  }
  ASSERT_EQ(rows.size(), 16 * sizeof(float));
  for (int rank = 0; rank < kWorkers; ++rank) {
    EXPECT_EQ(seen[rank], loss + gradient + rows.substr(rank * rows.size() / kWorkers, rows.size() / kWorkers)) << rank;
  }
}

TEST(ReplayOfWorkers, WorkersWithInputsOfTheirOwnCannotBeReplayed) {
  const std::string dir = ModelDir("dir");
  test::ResultsOfWorkers(2, [&](int, RunConfig config) {
    config.auto_shard = AutoShard::kOff;
    Estimator estimator(test::LineModel, Saving(dir, std::move(config)));
    EXPECT_EQ(estimator.Train(LineInput(64, 8), {.max_steps = 4}), absl::OkStatus());
    return std::string();
  });
  SetReplayOfProcess(ReplayRequest{.step = 2});
  RunConfig config = Saving(dir, {});
  config.auto_shard = AutoShard::kOff;
  Estimator estimator(test::LineModel, config);
  const absl::Status status = estimator.Train(LineInput(64, 8), {.max_steps = 4});
  SetReplayOfProcess(std::nullopt);
  EXPECT_EQ(ExitCodeFor(status), kExitUsage);
  EXPECT_THAT(std::string(status.message()), ::testing::HasSubstr("gave each worker of the run an input of its own"));
}

}  // namespace
}  // namespace tandem
