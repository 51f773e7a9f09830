// Checkpoints of GPU jobs are written while training goes on: what they hold, when they are durable, and errors.
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/fault_injecting_env.h"
#include "estimator/checkpoint/checkpoint_manager.h"
#include "estimator/estimator.h"
#include "frontends/layers.h"
#include "frontends/losses.h"
#include "frontends/optimizers.h"
#include "gtest/gtest.h"
#include "tests/gpu/fake_gpu.h"

namespace tandem {
namespace {

EstimatorSpec Line(const Features& features, const Tensor& labels, Mode, const Params&) {
  const Tensor loss = losses::MeanSquaredError(labels, layers::Dense(features["x"], {.units = 1}));
  return EstimatorSpec::Train(loss, optimizers::Momentum({.learning_rate = 0.1, .momentum = 0.9}).Minimize(loss));
}

absl::StatusOr<Dataset> Points(const InputContext&) {
  std::vector<float> x, y;
  for (int i = 0; i < 8; ++i) x.push_back(0.1f * i), y.push_back(0.3f * i - 1);
  return Dataset::FromTensorSlices(
             {{"x", HostTensor::FromVector<float>({8, 1}, x)}, {"label", HostTensor::FromVector<float>({8, 1}, y)}})
      .Repeat()
      .Batch(4);
}

class BackgroundCheckpointTest : public testing::Test {
 protected:
  std::string Dir(const std::string& name) {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    const std::string dir = absl::StrCat(testing::TempDir(), "/", info->name(), ".", name);
    if (Env::Default()->Exists(dir)) {
      EXPECT_TRUE(Env::Default()->DeleteRecursively(dir).ok());
    }
    return dir;
  }

  absl::Status Train(const std::string& dir, int max_steps, int save_steps, Env* env = nullptr,
                     std::vector<std::shared_ptr<SessionRunHook>> hooks = {}) {
    FakeGpuMachine machine(2);
    machine.AddModelDir(dir);
    absl::Status status;
    {
      Estimator estimator(Line, RunConfig{.model_dir = dir,
                                          .save_checkpoints_steps = save_steps,
                                          .keep_checkpoint_max = 0,
                                          .train_distribute = MirroredStrategy({"gpu:0", "gpu:1"}),
                                          .env = env});
      status = estimator.Train(Points, {.max_steps = max_steps, .hooks = std::move(hooks)});
    }
    EXPECT_EQ(absl::StrJoin(machine.TakeViolations(), "\n"), "");
    for (int d = 0; d < 2; ++d) EXPECT_EQ(machine.driver().AllocatedBytes(d), 0u);
    return status;
  }
};

// The checkpoint of step n is the one of a job that ends there.
TEST_F(BackgroundCheckpointTest, HoldsItsStep) {
  const std::string through = Dir("through");
  ASSERT_TRUE(Train(through, 6, 2).ok());
  for (int steps : {2, 4, 6}) {
    const std::string alone = Dir(absl::StrCat("alone", steps));
    ASSERT_TRUE(Train(alone, steps, 1000).ok());
    const std::string name = absl::StrCat("/model.ckpt-", steps);
    CheckpointManager manager(Env::Default(), through, 0);
    auto got = manager.Restore(through + name), want = manager.Restore(alone + name);
    ASSERT_TRUE(got.ok() && want.ok()) << got.status() << want.status();
    EXPECT_EQ(got->iterator_state, want->iterator_state);
    ASSERT_EQ(got->variables.size(), 2u);
    ASSERT_EQ(got->slots.size(), 2u);
    for (const auto& [key, value] : want->variables) EXPECT_TRUE(got->variables.at(key).BitEqual(value)) << key;
    for (const auto& [key, value] : want->slots) EXPECT_TRUE(got->slots.at(key).BitEqual(value)) << key;
  }
}

// Files whose writing waits until a step has come.
class PatientEnv : public FaultInjectingEnv {
 public:
  explicit PatientEnv(std::string path_part) : FaultInjectingEnv(Env::Default()), part_(std::move(path_part)) {}
  absl::StatusOr<std::unique_ptr<WritableFile>> CreateNewFile(const std::string& path) override {
    if (absl::StrContains(path, part_)) {
      std::unique_lock<std::mutex> lock(mutex_);
      // Where steps do not go on meanwhile this is never told, and the test fails instead of hanging.
      overlapped_ = told_.wait_for(lock, std::chrono::seconds(60), [this] { return go_; });
    }
    return FaultInjectingEnv::CreateNewFile(path);
  }
  void Go() {
    std::lock_guard<std::mutex> lock(mutex_);
    go_ = true;
    told_.notify_all();
  }
  bool overlapped() const { return overlapped_; }

 private:
  const std::string part_;
  std::mutex mutex_;
  std::condition_variable told_;
  bool go_ = false, overlapped_ = false;
};

class AtStep : public SessionRunHook {
 public:
  AtStep(int64_t step, std::function<void()> act) : step_(step), act_(std::move(act)) {}
  std::string name() const override { return "AtStep"; }
  absl::Status AfterRun(RunContext& context, const RunValues&) override {
    if (context.global_step() == step_) act_();
    return absl::OkStatus();
  }

 private:
  const int64_t step_;
  const std::function<void()> act_;
};

TEST_F(BackgroundCheckpointTest, StepsGoOnWhileItIsWritten) {
  const std::string dir = Dir("gpu");
  PatientEnv env("model.ckpt-4");
  std::string pointer;
  auto go_on = std::make_shared<AtStep>(6, [&] {
    pointer = *Env::Default()->ReadFile(dir + "/checkpoint");
    env.Go();
  });
  const absl::Status status = Train(dir, 8, 4, &env, {go_on});
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_TRUE(env.overlapped());
  // Two steps later it was not there yet: saved is what is durable.
  EXPECT_TRUE(absl::StrContains(pointer, "model.ckpt-0")) << pointer;
  EXPECT_FALSE(absl::StrContains(pointer, "model.ckpt-4")) << pointer;
  CheckpointManager manager(Env::Default(), dir, 0);
  for (const char* name : {"/model.ckpt-4", "/model.ckpt-8"}) EXPECT_TRUE(manager.Restore(dir + name).ok()) << name;
  EXPECT_EQ(*manager.LatestCheckpoint(), dir + "/model.ckpt-8");
}

TEST_F(BackgroundCheckpointTest, OneThatCannotBeWrittenEndsTraining) {
  const std::string dir = Dir("gpu");
  FaultInjectingEnv env(Env::Default());
  env.FailPath("model.ckpt-4", ENOSPC);
  const absl::Status status = Train(dir, 100, 4, &env);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
  EXPECT_TRUE(absl::StrContains(status.message(), "checkpoint model.ckpt-4 was not saved")) << status;
  CheckpointManager manager(Env::Default(), dir, 0);
  EXPECT_EQ(*manager.LatestCheckpoint(), dir + "/model.ckpt-0");
}

}  // namespace
}  // namespace tandem
