// What hooks of two workers are told and may do, as real processes.
#include <gtest/gtest.h>

#include <iostream>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/logging.h"
#include "base/status_macros.h"
#include "estimator/test_workers.h"

namespace tandem {
namespace {

using namespace test;  // NOLINT: this file's vocabulary

// Eleven points in batches of five for both workers together.
InputFn Input() {
  return [](const InputContext& context) -> absl::StatusOr<Dataset> {
    return LinePoints(11).Shuffle(5, {.seed = 2}).Batch(5).Repeat().Parts(context.num_replicas_in_sync);
  };
}

// "..|..|": a sign for each step.
std::string Ends(int rank, RunConfig config) {
  SetMinLogSeverity(LogSeverity::kError);
  std::string text;
  const auto hook = std::make_shared<StepHook>(
      [&](RunContext& context, const RunValues&) { text += context.ends_pass() ? '|' : '.'; });
  const absl::Status status = Estimator(LineModel, config).Train(Input(), {.steps = 7, .hooks = {hook}});
  return status.ok() ? text : status.ToString();
}

TEST(TrainingHooksWorkers, AllAreToldThatAPassEnds) {
  EXPECT_EQ(ResultsOfWorkers(2, Ends), (std::vector<std::string>{"..|..|.", "..|..|."}));
}

std::string Assigns(int rank, RunConfig config) {
  SetMinLogSeverity(LogSeverity::kError);
  std::string losses;
  const auto hook = std::make_shared<StepHook>([&](RunContext& context, const RunValues& values) {
    absl::StrAppend(&losses, values.Number("loss") < 1e-10 ? "0" : "+");
    if (values.step != 2) return;
    const absl::Status status =
        context.AssignVariables({{"dense/kernel", HostTensor::FromVector<float>({2, 1}, {3, -2})},
                                 {"dense/bias", HostTensor::FromVector<float>({1}, {1})}});
    if (!status.ok()) losses += status.ToString();
  });
  const absl::Status status = Estimator(LineModel, config).Train(Input(), {.steps = 4, .hooks = {hook}});
  return status.ok() ? losses : status.ToString();
}

TEST(TrainingHooksWorkers, AllAssignTheSame) {
  EXPECT_EQ(ResultsOfWorkers(2, Assigns), (std::vector<std::string>{"+++0", "+++0"}));
}

class Counting : public SessionRunHook {
 public:
  std::string checkpoint_key() const override { return "counting"; }
  absl::StatusOr<HookState> SaveState() override {
    return HookState{absl::StrCat(steps), {{"steps", HostTensor::Scalar<int64_t>(steps)}}};
  }
  absl::Status RestoreState(const HookState& state) override {
    if (!absl::SimpleAtoi(state.text, &steps)) return absl::DataLossError("no number");
    return *state.tensors.at("steps").data<int64_t>() == steps ? absl::OkStatus() : absl::DataLossError("others");
  }
  absl::Status AfterRun(RunContext& context, const RunValues& values) override {
    ++steps;
    return absl::OkStatus();
  }
  int64_t steps = 0;
};

// The chief's checkpoint has its hook's state, which the other worker gets as well.
TEST(TrainingHooksWorkers, AllGetTheStateOfACheckpoint) {
  const std::string dir = ModelDir("shared");
  for (const int64_t step : {3, 5}) {
    EXPECT_TRUE(AsWorkers(2, [&](int rank, RunConfig config) {
      SetMinLogSeverity(LogSeverity::kError);
      config.model_dir = rank == 0 ? dir : dir + "-other";
      config.train_distribute->devices.resize(1);
      config.save_checkpoints_steps = 2;
      const auto hook = std::make_shared<Counting>();
      const absl::Status status = Estimator(LineModel, config).Train(Input(), {.max_steps = step, .hooks = {hook}});
      if (!status.ok()) std::cerr << status << "\n";
      return status.ok() && hook->steps == step;
    }));
  }
}

}  // namespace
}  // namespace tandem
