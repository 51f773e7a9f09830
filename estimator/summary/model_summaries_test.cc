// Names that are taken, who asks for what, and a disk that is full. What files hold: tests/summary.
#include "estimator/summary/model_summaries.h"

#include <cerrno>

#include "base/exit_code.h"
#include "base/fault_injecting_env.h"
#include "base/logging.h"
#include "estimator/summary/event_writer.h"
#include "estimator/test_models.h"
#include "frontends/summary.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tandem {
namespace {

using namespace test;  // NOLINT: this file's vocabulary
using ::testing::HasSubstr;

// LineModel with a scalar of this name.
ModelFn Showing(const std::string& name) {
  return [name](const Features& features, const Tensor& labels, Mode mode, const Params& params) {
    summary::Scalar(name, ReduceMean(features["x"]));
    summary::Histogram("x", features["x"]);
    return LineModel(features, labels, mode, params);
  };
}

TEST(ModelSummaries, NamesOfTrainingAreTaken) {
  for (const char* name :
       {"loss", "examples/sec", "global_step/sec", "input_wait", "learning_rate", "learning_rate_1"}) {
    const absl::Status status = Estimator(Showing(name), Config(ModelDir())).Train(LineInput(), {.steps = 1});
    EXPECT_THAT(status.message(), HasSubstr("summary \"" + std::string(name) + "\" at ")) << status;
    EXPECT_THAT(status.message(), HasSubstr("model_summaries_test.cc:")) << status;
    EXPECT_EQ(ExitCodeFor(status), kExitCompileError) << status;
  }
}

TEST(ModelSummaries, OtherNamesAreFree) {
  for (const char* name : {"learning_rate_decay", "learning_rate_", "learning_rates", "losses"}) {
    const absl::Status status = Estimator(Showing(name), Config(ModelDir(name))).Train(LineInput(), {.steps = 1});
    EXPECT_EQ(status, absl::OkStatus()) << name;
  }
}

TEST(ModelSummaries, NamesOfMetricsAreTaken) {
  const auto result = Estimator(Showing("mean_y"), Config(ModelDir())).Evaluate(LineInput(64, 8, 1));
  EXPECT_THAT(result.status().message(), HasSubstr("summary \"mean_y\" at ")) << result.status();
  EXPECT_THAT(result.status().message(), HasSubstr("there is a metric of this name")) << result.status();
}

TEST(ModelSummaries, CostNothingWhereTheyAreOff) {
  RunConfig config = Config(ModelDir());
  config.save_summary_steps = 0;
  Estimator estimator(Showing("mean_x"), config);
  // Nobody has asked for the op, so the program does not have it.
  auto hook = std::make_shared<StepHook>(nullptr, std::vector<std::string>{"loss"});
  ASSERT_EQ(estimator.Train(LineInput(), {.steps = 2, .hooks = {hook}}), absl::OkStatus());
  EXPECT_EQ(hook->last.tensors.size(), 2u);  // with global_step
  const auto names = Env::Default()->ListDir(config.model_dir);
  ASSERT_TRUE(names.ok()) << names.status();
  for (const std::string& name : *names) {
    EXPECT_EQ(name.find("tfevents"), std::string::npos) << name;
  }
}

TEST(ModelSummaries, AreFetchedInTheirStepsOnly) {
  const std::vector<ModelSummary> summaries = {{.kind = SummaryKind::kScalar, .tag = "mean_x", .op = "mean_x"},
                                               {.kind = SummaryKind::kScalar, .tag = "rate", .op = "rate"}};
  ModelSummaryHook hook(std::make_shared<EventWriter>(Env::Default(), ModelDir()), summaries, 4,
                        [](const std::string& name) { return absl::NotFoundError(name); });
  int64_t step = 0;
  RunContext context(Mode::kTrain, &step);
  ASSERT_EQ(hook.AfterCreateSession(context), absl::OkStatus());
  std::vector<int64_t> steps;
  while (step < 10) {
    RunValues values{.step = step};
    for (const std::string& name : hook.BeforeRun(context)) {
      steps.push_back(step);
      values.tensors[name] = HostTensor::Scalar<float>(1);
    }
    ++step;
    ASSERT_EQ(hook.AfterRun(context, values), absl::OkStatus());
  }
  EXPECT_THAT(steps, ::testing::ElementsAre(0, 0, 4, 4, 8, 8));
}

// With parameter servers the global step is that of all workers: it may jump over the one that was due.
TEST(ModelSummaries, AStepThatWasNotAskedForWritesNothing) {
  const std::string directory = ModelDir();
  auto writer = std::make_shared<EventWriter>(Env::Default(), directory);
  ModelSummaryHook hook(writer, {{.kind = SummaryKind::kScalar, .tag = "mean_x", .op = "mean_x"}}, 10,
                        [](const std::string& name) { return absl::NotFoundError(name); });
  int64_t step = 0;
  RunContext context(Mode::kTrain, &step);
  ASSERT_EQ(hook.AfterCreateSession(context), absl::OkStatus());
  std::vector<int64_t> asked;
  while (step < 50) {
    RunValues values;
    if (!hook.BeforeRun(context).empty()) {
      asked.push_back(step);
      values.tensors["mean_x"] = HostTensor::Scalar<float>(1);
    }
    step += 4;
    values.step = step;
    ASSERT_EQ(hook.AfterRun(context, values), absl::OkStatus());
  }
  EXPECT_THAT(asked, ::testing::ElementsAre(0, 16, 32, 48));  // written at 4, 20, 36 and 52
}

TEST(ModelSummaries, ChangeNoBits) {
  std::vector<double> losses;
  for (int64_t every : {0, 1}) {
    RunConfig config = Config(ModelDir(std::to_string(every)));
    config.save_summary_steps = every;
    Estimator estimator(Showing("mean_x"), config);
    ASSERT_EQ(estimator.Train(LineInput(), {.steps = 20}), absl::OkStatus());
    losses.push_back(estimator.last_train_result()->loss);
  }
  EXPECT_EQ(losses[0], losses[1]);
}

TEST(ModelSummaries, AFullDiskIsOneWarning) {
  FaultInjectingEnv env(Env::Default());
  env.FailPath("tfevents", ENOSPC);
  RunConfig config = Config(ModelDir());
  config.save_summary_steps = 1;
  config.env = &env;
  LogCapture log;
  Estimator estimator(Showing("mean_x"), config);
  ASSERT_EQ(estimator.Train(LineInput(), {.steps = 20}), absl::OkStatus());
  EXPECT_EQ(estimator.last_train_result()->global_step, 20);
  int warnings = 0;
  for (const auto& entry : log.entries()) {
    if (entry.message.find("No more summaries are written") != std::string::npos) ++warnings;
  }
  EXPECT_EQ(warnings, 1) << log.Text();
}

}  // namespace
}  // namespace tandem
