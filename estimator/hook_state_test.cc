// What checkpoints keep of hooks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "estimator/checkpoint/checkpoint.h"
#include "estimator/test_models.h"

namespace tandem {
namespace {

using namespace test;  // NOLINT: this file's vocabulary
using ::testing::AllOf;
using ::testing::HasSubstr;

// Counts steps, and adds up their losses.
class Counting : public SessionRunHook {
 public:
  explicit Counting(std::string key = "counting") : key_(std::move(key)) {}
  std::string name() const override { return "Counting"; }
  std::string checkpoint_key() const override { return key_; }
  absl::StatusOr<HookState> SaveState() override {
    ++saves;
    return HookState{absl::StrCat(steps, text), {{"loss/sum", HostTensor::Scalar<double>(sum)}}};
  }
  absl::Status RestoreState(const HookState& state) override {
    ++restores;
    if (!absl::SimpleAtoi(state.text, &steps) || !state.tensors.contains("loss/sum")) {
      return absl::DataLossError(absl::StrCat("\"", state.text, "\" is no count"));
    }
    sum = *state.tensors.at("loss/sum").data<double>();
    return absl::OkStatus();
  }
  absl::Status AfterRun(RunContext& context, const RunValues& values) override {
    ++steps;
    sum += values.Number("loss");
    return absl::OkStatus();
  }

  int64_t steps = 0;
  double sum = 0;
  int saves = 0, restores = 0;
  std::string text;  // behind the count

 private:
  const std::string key_;
};

RunConfig Saved(const std::string& dir) {
  RunConfig config = Config(dir);
  config.save_checkpoints_steps = 3;
  config.keep_checkpoint_max = 0;
  return config;
}

absl::Status TrainTo(const RunConfig& config, int64_t max_steps, HookList hooks) {
  return Estimator(LineModel, config).Train(LineInput(), {.max_steps = max_steps, .hooks = std::move(hooks)});
}

CheckpointData At(const std::string& dir, int64_t step) {
  absl::StatusOr<CheckpointData> data = ReadCheckpoint(Env::Default(), absl::StrCat(dir, "/model.ckpt-", step));
  EXPECT_TRUE(data.ok()) << data.status();
  return data.ok() ? *std::move(data) : CheckpointData();
}

TEST(HookState, IsThatOfTheCheckpointsStep) {
  const RunConfig config = Saved(ModelDir());
  auto hook = std::make_shared<Counting>();
  ASSERT_EQ(TrainTo(config, 7, {hook}), absl::OkStatus());
  EXPECT_EQ(hook->restores, 0);
  for (const int64_t step : {0, 3, 6, 7}) {
    const CheckpointData data = At(config.model_dir, step);
    EXPECT_EQ(data.extra.at("counting"), absl::StrCat(step));
    EXPECT_EQ(data.attachments.size(), 1u);
    EXPECT_TRUE(data.attachments.contains("counting/loss/sum"));
  }
}

// A run that is cut anywhere ends with the state of one that was not.
TEST(HookState, GoesOnExactly) {
  const RunConfig whole = Saved(ModelDir("whole"));
  auto uncut = std::make_shared<Counting>();
  ASSERT_EQ(TrainTo(whole, 9, {uncut}), absl::OkStatus());
  for (const int64_t cut : {1, 3, 5}) {
    const RunConfig config = Saved(ModelDir(absl::StrCat(cut)));
    ASSERT_EQ(TrainTo(config, cut, {std::make_shared<Counting>()}), absl::OkStatus());
    auto hook = std::make_shared<Counting>();
    ASSERT_EQ(TrainTo(config, 9, {hook}), absl::OkStatus());
    EXPECT_EQ(hook->restores, 1);
    EXPECT_EQ(hook->steps, 9);
    EXPECT_EQ(hook->sum, uncut->sum);
  }
}

// What a killed run leaves behind its last checkpoint counts for nothing.
TEST(HookState, IsThatOfTheCheckpointThatIsRestored) {
  const RunConfig config = Saved(ModelDir());
  ASSERT_EQ(TrainTo(config, 7, {std::make_shared<Counting>()}), absl::OkStatus());
  ASSERT_TRUE(Env::Default()->DeleteRecursively(config.model_dir + "/model.ckpt-7").ok());
  auto hook = std::make_shared<Counting>();
  ASSERT_EQ(TrainTo(config, 8, {hook}), absl::OkStatus());
  EXPECT_EQ(hook->steps, 8);
}

TEST(HookState, GoesOnInMemoryWithoutCheckpoints) {
  RunConfig config = Config(ModelDir());
  config.save_checkpoints_steps = 0;
  Estimator estimator(LineModel, config);
  auto first = std::make_shared<Counting>(), second = std::make_shared<Counting>();
  ASSERT_EQ(estimator.Train(LineInput(), {.steps = 4, .hooks = {first}}), absl::OkStatus());
  ASSERT_EQ(estimator.Train(LineInput(), {.steps = 2, .hooks = {second}}), absl::OkStatus());
  EXPECT_EQ(second->steps, 6);
}

TEST(HookState, StaysWhereTheHookIsNotThere) {
  const RunConfig config = Saved(ModelDir());
  ASSERT_EQ(TrainTo(config, 3, {std::make_shared<Counting>(), std::make_shared<Counting>("other")}), absl::OkStatus());
  ASSERT_EQ(TrainTo(config, 5, {std::make_shared<Counting>("other")}), absl::OkStatus());
  const CheckpointData data = At(config.model_dir, 5);
  EXPECT_EQ(data.extra.at("counting"), "3");
  EXPECT_EQ(data.extra.at("other"), "5");
  EXPECT_TRUE(data.attachments.contains("counting/loss/sum"));
  auto hook = std::make_shared<Counting>();
  ASSERT_EQ(TrainTo(config, 6, {hook}), absl::OkStatus());
  EXPECT_EQ(hook->steps, 4);
}

std::string ErrorOf(const absl::Status& status) { return std::string(status.message()); }

TEST(HookState, ThatAHookDoesNotTakeNamesHookAndCheckpoint) {
  const RunConfig config = Saved(ModelDir());
  auto odd = std::make_shared<Counting>();
  odd->text = " steps";
  ASSERT_EQ(TrainTo(config, 2, {odd}), absl::OkStatus());
  const absl::Status status = TrainTo(config, 4, {std::make_shared<Counting>()});
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(ErrorOf(status), AllOf(HasSubstr("model.ckpt-2: Counting::RestoreState: \"2 steps\" is no count")));
}

TEST(HookState, KeysAreOfOneHookEach) {
  const RunConfig config = Saved(ModelDir());
  auto hook = std::make_shared<Counting>();
  EXPECT_THAT(ErrorOf(TrainTo(config, 1, {hook, std::make_shared<Counting>()})),
              HasSubstr("Counting::checkpoint_key: \"counting\" is the key of another hook, Counting"));
  EXPECT_THAT(ErrorOf(TrainTo(config, 1, {hook, hook})),
              HasSubstr("is the key of the same hook, which is given twice"));
  for (const char* key : {"best", "data", "step_scalars"}) {
    EXPECT_THAT(ErrorOf(TrainTo(config, 1, {std::make_shared<Counting>(key)})),
                HasSubstr("cannot be a key: checkpoints have something else under it"));
  }
  for (const char* key : {"a/b", "\xff"}) {
    EXPECT_THAT(ErrorOf(TrainTo(config, 1, {std::make_shared<Counting>(key)})),
                HasSubstr("cannot be a key: it must be UTF-8 without a '/'"));
  }
}

// Gives a state that no checkpoint can hold.
class Odd : public SessionRunHook {
 public:
  explicit Odd(HookState state) : state_(std::move(state)) {}
  std::string name() const override { return "Odd"; }
  std::string checkpoint_key() const override { return "odd"; }
  absl::StatusOr<HookState> SaveState() override {
    if (state_.text == "fail") return absl::UnavailableError("not now");
    return state_;
  }

 private:
  const HookState state_;
};

TEST(HookState, ThatNoCheckpointCanHoldIsAnError) {
  const auto error = [](HookState state) {
    return ErrorOf(TrainTo(Saved(ModelDir()), 1, {std::make_shared<Odd>(std::move(state))}));
  };
  EXPECT_THAT(error({.text = "\xff"}), HasSubstr("Odd::SaveState: HookState.text is not UTF-8"));
  EXPECT_THAT(error({.text = "fail"}), HasSubstr("Odd::SaveState: not now"));
  EXPECT_THAT(error({.tensors = {{"x", HostTensor()}}}), HasSubstr("HookState.tensors[\"x\"] is empty"));
  EXPECT_THAT(error({.tensors = {{"x", HostTensor::String("a")}}}), HasSubstr("HookState.tensors[\"x\"] must have"));
}

TEST(HookState, DamageIsFound) {
  const RunConfig config = Saved(ModelDir());
  ASSERT_EQ(TrainTo(config, 2, {std::make_shared<Counting>()}), absl::OkStatus());
  const std::string path = config.model_dir + "/model.ckpt-2/attachments.safetensors";
  std::string bytes = *Env::Default()->ReadFile(path);
  bytes.back() ^= 1;
  ASSERT_TRUE(Env::Default()->WriteFile(path, {bytes}).ok());
  const absl::Status status = TrainTo(config, 4, {std::make_shared<Counting>()});
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(ErrorOf(status), HasSubstr("attachments.safetensors"));
}

}  // namespace
}  // namespace tandem
