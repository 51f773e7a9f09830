// RunConfig.check_steps_every: a training has the same bits with it, and ends at a fault.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/exit_code.h"
#include "estimator/record/checking_runner.h"
#include "estimator/record/steps_file.h"
#include "estimator/test_models.h"

namespace tandem {
namespace {

using namespace test;  // NOLINT: this file's vocabulary
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int64_t kSteps = 8;

// With dropout, and with averages of batches, which an update of a replica's own could spoil.
EstimatorSpec Model(const Features& features, const Tensor& labels, Mode, const Params&) {
  Tensor x = layers::Dense(features["x"], {.units = 16, .activation = Relu});
  x = layers::Dropout(layers::BatchNormalization(x, {.training = true}), {.rate = 0.3, .training = true});
  const Tensor loss = losses::MeanSquaredError(labels, layers::Dense(x, {.units = 1}));
  return EstimatorSpec::Train(loss, optimizers::Adam({.learning_rate = 0.05}).Minimize(loss));
}

RunConfig Checked(const std::string& dir, int replicas, int64_t every) {
  RunConfig config = Config(dir, replicas);
  config.save_checkpoints_steps = 4;
  config.check_steps_every = every;
  return config;
}

TEST(CheckSteps, ATrainingHasTheSameBits) {
  for (const int replicas : {1, 2}) {
    std::string bits[2];
    for (const int64_t every : {0, 2}) {
      const RunConfig config = Checked(ModelDir(every == 0 ? "plain" : "checked"), replicas, every);
      Estimator estimator(Model, config);
      ASSERT_EQ(estimator.Train(LineInput(), {.max_steps = kSteps}), absl::OkStatus());
      bits[every == 0 ? 0 : 1] = *Env::Default()->ReadFile(JoinPath(config.model_dir, kStepsName));
    }
    EXPECT_EQ(bits[0], bits[1]) << replicas << " replicas";
  }
}

TEST(CheckSteps, ATrainingEndsAtAFault) {
  const RunConfig config = Checked(ModelDir(), 2, 3);
  int checked = 0;
  CheckingRunner::SetFault([&](VariableStore& store) {
    if (++checked < 3) return;  // steps 0 and 3 come out the same
    HostTensor kernel = *store.Read("dense_1/kernel");
    *static_cast<uint8_t*>(kernel.raw()) ^= 1;
    ASSERT_EQ(store.Assign("dense_1/kernel", kernel), absl::OkStatus());
  });
  Estimator estimator(Model, config);
  const absl::Status status = estimator.Train(LineInput(), {.max_steps = kSteps});
  CheckingRunner::SetFault(nullptr);
  EXPECT_EQ(ExitCodeFor(status), kExitInternal);
  EXPECT_THAT(std::string(status.message()), HasSubstr("RunConfig.check_steps_every: step 6 was made twice"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("elements differ, by at most"));
  EXPECT_THAT(CheckpointNames(config.model_dir), ElementsAre("model.ckpt-0", "model.ckpt-4"));
}

TEST(CheckSteps, WhatCannotBeMadeTwiceIsRefused) {
  const auto message = [](RunConfig config) { return std::string(config.Validate().message()); };
  RunConfig config = Config("", 1);
  config.check_steps_every = -1;
  EXPECT_THAT(message(config), HasSubstr("check_steps_every must not be negative, got -1; 0 makes no step twice"));
  config.check_steps_every = 5;
  EXPECT_EQ(config.Validate(), absl::OkStatus());
  config.train_distribute = MirroredStrategy({"gpu:0"});
  EXPECT_THAT(message(config), HasSubstr("check_steps_every makes steps twice on CPUs only"));
  config.train_distribute = ParameterServerStrategy({"cpu:0"});
  EXPECT_THAT(message(config), HasSubstr("parameter servers would take both updates"));
}

}  // namespace
}  // namespace tandem
