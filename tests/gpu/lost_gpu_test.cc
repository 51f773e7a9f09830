// A GPU that is lost in the middle of a training job: what the user sees, and that nothing saved is harmed.
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/env.h"
#include "base/exit_code.h"
#include "estimator/estimator.h"
#include "frontends/layers.h"
#include "frontends/losses.h"
#include "frontends/optimizers.h"
#include "gtest/gtest.h"
#include "runtime/cuda/driver/cuda_types.h"
#include "tests/gpu/fake_gpu.h"

namespace tandem {
namespace {

EstimatorSpec Line(const Features& features, const Tensor& labels, Mode mode, const Params&) {
  const Tensor loss = losses::MeanSquaredError(labels, layers::Dense(features["x"], {.units = 1}));
  if (mode == Mode::kEval) return EstimatorSpec::Eval(loss, {});
  return EstimatorSpec::Train(loss, optimizers::SGD({.learning_rate = 0.1}).Minimize(loss));
}

absl::StatusOr<Dataset> Points(const InputContext&) {
  std::vector<float> x, y;
  for (int i = 0; i < 8; ++i) x.push_back(0.1f * i), y.push_back(0.3f * i - 1);
  return Dataset::FromTensorSlices(
             {{"x", HostTensor::FromVector<float>({8, 1}, x)}, {"label", HostTensor::FromVector<float>({8, 1}, y)}})
      .Repeat()
      .Batch(4);
}

// Whether `dir` has the finished checkpoint `name`, which a thread writes while training goes on; within 30 seconds.
bool WaitForCheckpoint(const std::string& dir, const std::string& name) {
  for (int i = 0; i < 3000; ++i) {
    const absl::StatusOr<std::string> pointer = Env::Default()->ReadFile(dir + "/checkpoint");
    if (pointer.ok() && absl::StrContains(*pointer, absl::StrCat("\"", name, "\""))) return true;
    absl::SleepFor(absl::Milliseconds(10));
  }
  return false;
}

// Harms the GPU behind a step, once a checkpoint of before is finished: what is lost with a GPU while it is being
// copied is not saved.
class HarmAfter : public SessionRunHook {
 public:
  HarmAfter(int64_t step, std::string dir, std::string checkpoint, std::function<void()> harm)
      : step_(step), dir_(std::move(dir)), checkpoint_(std::move(checkpoint)), harm_(std::move(harm)) {}
  std::string name() const override { return "HarmAfter"; }
  absl::Status AfterRun(RunContext& context, const RunValues&) override {
    if (context.global_step() != step_) return absl::OkStatus();
    if (!WaitForCheckpoint(dir_, checkpoint_)) return absl::DeadlineExceededError("no " + checkpoint_);
    harm_();
    return absl::OkStatus();
  }

 private:
  const int64_t step_;
  const std::string dir_, checkpoint_;
  const std::function<void()> harm_;
};

absl::Status Train(const std::string& dir, int max_steps, std::vector<std::shared_ptr<SessionRunHook>> hooks) {
  Estimator estimator(
      Line, RunConfig{.model_dir = dir, .save_checkpoints_steps = 2, .train_distribute = OneDeviceStrategy("gpu:0")});
  return estimator.Train(Points, {.max_steps = max_steps, .hooks = std::move(hooks)});
}

TEST(LostGpuTest, TheLastCheckpointIsIntact) {
  const std::string dir = testing::TempDir() + "/lost_gpu";
  if (Env::Default()->Exists(dir)) {
    ASSERT_TRUE(Env::Default()->DeleteRecursively(dir).ok());
  }
  {
    FakeGpuMachine machine(1);
    machine.AddModelDir(dir);
    const absl::Status status = Train(dir, 10, {std::make_shared<HarmAfter>(5, dir, "model.ckpt-4", [&] {
                                        machine.driver().FailWork("cuMemsetD32Async", kCudaEccUncorrectable);
                                      })});
    EXPECT_EQ(ExitCodeFor(status), kExitTemporary) << status;
    for (const char* part : {"gpu:0", "the GPU was lost", "go on from the last checkpoint"}) {
      EXPECT_TRUE(absl::StrContains(status.message(), part)) << status;
    }
    machine.TakeViolations();  // a lost GPU is left as it is
  }
  absl::StatusOr<std::string> pointer = Env::Default()->ReadFile(dir + "/checkpoint");
  ASSERT_TRUE(pointer.ok()) << pointer.status();
  EXPECT_TRUE(absl::StrContains(*pointer, "model.ckpt-4")) << *pointer;
  // A new process, with a GPU that works, goes on from there.
  FakeGpuMachine machine(1);
  machine.AddModelDir(dir);
  const absl::Status resumed = Train(dir, 10, {});
  EXPECT_TRUE(resumed.ok()) << resumed;
  EXPECT_TRUE(machine.TakeViolations().empty());
  EXPECT_TRUE(absl::StrContains(*Env::Default()->ReadFile(dir + "/checkpoint"), "model.ckpt-10"));
}

// The deadline of the configuration, for a GPU that does not answer.
TEST(LostGpuTest, AGpuThatHangsIsGivenUpAtTheDeadline) {
  const std::string dir = testing::TempDir() + "/hung_gpu";
  if (Env::Default()->Exists(dir)) {
    ASSERT_TRUE(Env::Default()->DeleteRecursively(dir).ok());
  }
  FakeGpuMachine machine(1);
  machine.AddModelDir(dir);
  {
    Estimator estimator(Line, RunConfig{.model_dir = dir,
                                        .save_checkpoints_steps = 1000,
                                        .train_distribute = OneDeviceStrategy("gpu:0"),
                                        .deadline_secs = 0.3});
    const absl::Status status = estimator.Train(
        Points, {.max_steps = 10,
                 .hooks = {std::make_shared<HarmAfter>(3, dir, "model.ckpt-0", [&] { machine.driver().Hang(0); })}});
    EXPECT_EQ(ExitCodeFor(status), kExitTemporary) << status;
    EXPECT_TRUE(absl::StrContains(status.message(), "did not finish a step within 0.3 seconds")) << status;
  }
  machine.TakeViolations();  // a hung GPU is left as it is
  EXPECT_TRUE(WaitForCheckpoint(dir, "model.ckpt-0"));
}

}  // namespace
}  // namespace tandem
