#include "estimator/config/warnings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/logging.h"
#include "estimator/monitored_training_session.h"
#include "estimator/test_models.h"
#include "estimator/train_and_evaluate.h"

namespace tandem {
namespace {

using namespace test;  // NOLINT: this file's vocabulary
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kFile[] = "estimator/warnings_test.cc:";

// The warnings of the log that can be switched off.
std::vector<std::string> Warnings(const LogCapture& log) {
  std::vector<std::string> warnings;
  for (const LogEntry& entry : log.entries()) {
    if (absl::StrContains(entry.message, "RunConfig.silence")) warnings.push_back(entry.message);
  }
  return warnings;
}

TEST(WarningsTest, AnUnknownName) {
  const RunConfig config{.silence = {"endless_training", "input_ended"}};
  EXPECT_THAT(
      std::string(config.Validate().message()),
      HasSubstr("silence: there is no warning \"input_ended\"; did you mean \"input_ended_early\"? There are "));
}

// Two batches, once, or as often as `repeat` says.
InputFn TwoBatches(std::optional<int64_t> repeat, int* line = nullptr) {
  return [=](const InputContext&) -> absl::StatusOr<Dataset> {
    if (line != nullptr) *line = __LINE__ + 1;
    return repeat.has_value() ? LinePoints(16).Repeat(*repeat).Batch(8) : LinePoints(16).Batch(8);
  };
}

std::vector<std::string> WarningsOf(const InputFn& input, const TrainOptions& options,
                                    std::vector<std::string> silence = {}) {
  LogCapture log;
  RunConfig config = Config(ModelDir());
  config.silence = std::move(silence);
  Estimator estimator(LineModel, config);
  EXPECT_EQ(estimator.Train(input, options), absl::OkStatus());
  return Warnings(log);
}

TEST(WarningsTest, TheInputEndsEarly) {
  int line = 0;
  const std::vector<std::string> once = WarningsOf(TwoBatches(std::nullopt, &line), {.max_steps = 50});
  EXPECT_THAT(once, ElementsAre(absl::StrCat("The input has 2 steps, and ends before max_steps = 50; to train on, add "
                                             "Repeat() to the dataset, in front of Batch (",
                                             kFile, line,
                                             "). (RunConfig.silence = {\"input_ended_early\"} switches this warning "
                                             "off.)")));
  EXPECT_THAT(
      WarningsOf(TwoBatches(2, &line), {.steps = 50}),
      ElementsAre(HasSubstr(absl::StrCat("has 4 steps, and ends before steps = 50; to train on, leave out the count "
                                         "of Repeat (",
                                         kFile, line, ")"))));
  EXPECT_THAT(WarningsOf(TwoBatches(std::nullopt), {.max_steps = 50}, {"input_ended_early"}), IsEmpty());
  // What was asked for.
  EXPECT_THAT(WarningsOf(TwoBatches(std::nullopt), {}), IsEmpty());
  EXPECT_THAT(WarningsOf(TwoBatches(std::nullopt), {.max_steps = 2}), IsEmpty());
  EXPECT_THAT(WarningsOf(TwoBatches(std::nullopt), {.steps = 2}), IsEmpty());
}

HookList StopAtThree() {
  return {std::make_shared<StepHook>([](RunContext& context, const RunValues&) {
    if (context.global_step() == 3) context.RequestStop();
  })};
}

TEST(WarningsTest, TheInputNeverEnds) {
  int line = 0;
  EXPECT_THAT(WarningsOf(TwoBatches(-1, &line), {.hooks = StopAtThree()}),
              ElementsAre(AllOf(HasSubstr("The input never ends, by Repeat (estimator/warnings_test.cc:"),
                                HasSubstr("neither max_steps nor steps is set: only a hook or a signal ends"),
                                HasSubstr("{\"endless_training\"}"))));
  EXPECT_THAT(WarningsOf(TwoBatches(-1), {.hooks = StopAtThree()}, {"endless_training"}), IsEmpty());
  EXPECT_THAT(WarningsOf(TwoBatches(-1), {.max_steps = 3}), IsEmpty());
}

// Who makes the steps ends them.
TEST(WarningsTest, ASessionMayHaveAnEndlessInput) {
  LogCapture log;
  Estimator estimator(LineModel, Config(ModelDir()));
  auto session = MonitoredTrainingSession::Start(estimator, TwoBatches(-1));
  ASSERT_TRUE(session.ok()) << session.status();
  EXPECT_TRUE((*session)->Run().ok());
  EXPECT_EQ((*session)->Close(), absl::OkStatus());
  EXPECT_THAT(Warnings(log), IsEmpty());
}

// A training of three steps and an evaluation; `model` is LineModel where nothing else is said.
std::vector<std::string> WarningsOfParams(const Params& params, ModelFn model = LineModel, InputFn input = LineInput(),
                                          std::vector<std::string> silence = {}) {
  LogCapture log;
  RunConfig config = Config(ModelDir());
  config.silence = std::move(silence);
  Estimator estimator(std::move(model), config, params);
  const auto result =
      TrainAndEvaluate(estimator, {.input_fn = std::move(input), .max_steps = 3}, {.input_fn = LineInput(16, 8, 1)});
  EXPECT_TRUE(result.ok()) << result.status();
  return Warnings(log);
}

TEST(WarningsTest, AHyperparameterThatNobodyReads) {
  EXPECT_THAT(WarningsOfParams({{"learning_rte", 0.1}}),
              ElementsAre(AllOf(HasSubstr("Params: \"learning_rte\" was never read, and ./estimator/test_models.h:"),
                                HasSubstr(" asked for \"learning_rate\", which is not set and has its default; did you "
                                          "mean the same? (RunConfig.silence = {\"unread_params\"}"))));
  EXPECT_THAT(WarningsOfParams({{"learning_rate", 0.1}, {"units", 3}, {"zeros", 1}}),
              ElementsAre(HasSubstr("Params: \"units\" was never read; \"zeros\" was never read (RunConfig")));
  EXPECT_THAT(WarningsOfParams({{"units", 3}}, LineModel, LineInput(), {"unread_params"}), IsEmpty());
  EXPECT_THAT(WarningsOfParams({{"learning_rate", 0.1}}), IsEmpty());
  // Another default is nobody's mistake.
  EXPECT_THAT(WarningsOfParams({}), IsEmpty());
}

TEST(WarningsTest, WhereHyperparametersAreRead) {
  const Params params = {{"learning_rate", 0.1}, {"only_eval", 2}, {"batch", 8}, {"scale", 1.0}, {"looked_for", true}};
  const ModelFn model = [](const Features& features, const Tensor& labels, Mode mode, const Params& asked) {
    EXPECT_EQ(mode == Mode::kEval ? asked.Int("only_eval", 0) : 2, 2);
    EXPECT_TRUE(asked.Has("looked_for"));
    return LineModel(features, labels, mode, asked);
  };
  const InputFn input = [params](const InputContext&) -> absl::StatusOr<Dataset> {
    const auto scale = [params](const Element& in) -> absl::StatusOr<Element> {
      EXPECT_EQ(params.Number("scale", 0), 1);
      return in;
    };
    return LinePoints(64).Map(scale).Repeat().Batch(params.Int("batch", 1));
  };
  EXPECT_THAT(WarningsOfParams(params, model, input), IsEmpty());
  // Who lists them has read them.
  const ModelFn listing = [](const Features& features, const Tensor& labels, Mode mode, const Params& asked) {
    EXPECT_EQ(asked.values().size(), 1u);
    return LineModel(features, labels, mode, asked);
  };
  EXPECT_THAT(WarningsOfParams({{"units", 3}}, listing), IsEmpty());
}

}  // namespace
}  // namespace tandem
