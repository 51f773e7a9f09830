// estimator/ with arguments that it cannot use: every call says what is wrong, and none crashes.
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "base/cross_device_ops.h"
#include "estimator/evaluation/eval_result.h"
#include "estimator/hooks/logging_tensor_hook.h"
#include "estimator/hooks/progress_hook.h"
#include "estimator/hooks/step_counter_hook.h"
#include "estimator/hooks/stop_at_step_hook.h"
#include "estimator/test_models.h"
#include "estimator/train_and_evaluate.h"
#include "gtest/gtest.h"
#include "tests/errors/api_edge.h"

namespace tandem {
namespace {

using namespace test;  // NOLINT: this file's vocabulary
using edge::Check;

constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

bool Ignore(const NamedTensors&) { return true; }

TEST(EstimatorEdgeTest, Calls) {
  Estimator empty(nullptr, Config(ModelDir("empty")));
  Estimator good(LineModel, Config(ModelDir("good")));
  Estimator nowhere(LineModel, Config(""));
  const InputFn none;
  const InputFn broken = [](const InputContext&) -> absl::StatusOr<Dataset> { return Dataset::Range(-1); };
  Check({
      {"Estimator", "no model_fn", [&] { return empty.Train(LineInput(), {.steps = 1}); }, "model_fn is empty"},
      {"Estimator", "no model_fn", [&] { return empty.Evaluate(LineInput()).status(); }, "model_fn is empty"},
      {"Estimator", "no model_fn", [&] { return empty.Predict(LineInput(), Ignore); }, "model_fn is empty"},
      {"Estimator", "no model_fn", [&] { return empty.LatestCheckpoint().status(); }, "model_fn is empty"},
      {"train", "no input_fn", [&] { return good.Train(none, {.steps = 1}); }, "no input_fn"},
      {"eval", "no input_fn", [&] { return good.Evaluate(none).status(); }, "no input_fn"},
      {"predict", "no input_fn", [&] { return good.Predict(none, Ignore); }, "no input_fn"},
      {"Range", "a dataset with an error", [&] { return good.Train(broken, {.steps = 1}); }, "api_edge_estimator_test"},
      {"Train", "steps 0", [&] { return good.Train(LineInput(), {.steps = 0}); }, "positive"},
      {"Train", "max_steps", [&] { return good.Train(LineInput(), {.max_steps = kMin}); }, "positive"},
      {"Train", "both", [&] { return good.Train(LineInput(), {.steps = 1, .max_steps = 1}); }, "both"},
      {"hook", "null", [&] { return good.Train(LineInput(), {.steps = 1, .hooks = {nullptr}}); }, "null"},
      {"listener", "null", [&] { return good.Train(LineInput(), {.steps = 1, .saving_listeners = {nullptr}}); }},
      {"Evaluate", "steps", [&] { return good.Evaluate(LineInput(), {.steps = kMin}).status(); }, "positive"},
      {"hook", "null", [&] { return good.Evaluate(LineInput(8, 8, 1), {.hooks = {nullptr}}).status(); }, "null"},
      {"Predict", "no function", [&] { return good.Predict(LineInput(), nullptr); }},
      {"hook", "null", [&] { return good.Predict(LineInput(8, 8, 1), Ignore, {.hooks = {nullptr}}); }, "null"},
      {"nothing-here", "no such checkpoint",
       [&] { return good.Evaluate(LineInput(8, 8, 1), {.checkpoint_path = "nothing-here"}).status(); }},
      {"checkpoint", "no checkpoint", [&] { return good.GetVariableNames().status(); }, "train first"},
      {"checkpoint", "no checkpoint", [&] { return good.GetVariableValue("").status(); }, "train first"},
      {"TrainSpec", "nothing", [&] { return TrainAndEvaluate(good, {}, EvalSpec{}).status(); }, "input_fn"},
      {"EvalSpec", "nothing", [&] { return TrainAndEvaluate(good, {.input_fn = LineInput()}, EvalSpec{}).status(); }},
      {"TrainSpec", "max_steps", [&] { return TrainSpec{.input_fn = LineInput(), .max_steps = -1}.Validate(); }},
      {"EvalSpec", "steps", [&] { return EvalSpec{.input_fn = LineInput(), .steps = 0}.Validate(); }},
      {"EvalSpec", "throttle", [&] { return EvalSpec{.input_fn = LineInput(), .throttle_secs = kNaN}.Validate(); }},
  });
  EXPECT_EQ(good.best("nothing"), std::nullopt);
  EXPECT_EQ(good.last_train_result(), std::nullopt);
  EXPECT_FALSE(nowhere.model_dir().empty());
}

TEST(EstimatorEdgeTest, Hooks) {
  Estimator estimator(LineModel, Config(ModelDir()));
  auto with = [&](std::shared_ptr<SessionRunHook> hook) {
    return [&estimator, hook] { return estimator.Train(LineInput(), {.steps = 1, .hooks = {hook}}); };
  };
  const Clock no_clock;
  Check({
      {"StopAtStepHook", "neither", with(std::make_shared<StopAtStepHook>(StopAtStepHook::Options{}))},
      {"StopAtStepHook", "negative", with(std::make_shared<StopAtStepHook>(StopAtStepHook::Options{.last_step = -3}))},
      {"LoggingTensorHook", "0", with(std::make_shared<LoggingTensorHook>(std::vector<std::string>{"loss"}, 0))},
      {"LoggingTensorHook", "no clock",
       with(std::make_shared<LoggingTensorHook>(std::vector<std::string>{"loss"}, 1, no_clock)), "bad_function_call"},
      {"StepCounterHook", "negative", with(std::make_shared<StepCounterHook>(-1))},
      {"StepCounterHook", "no clock", with(std::make_shared<StepCounterHook>(1, no_clock)), "bad_function_call"},
      {"ProgressHook", "no writer", with(std::make_shared<ProgressHook>(ProgressHook::Options{})), "bad_function_call"},
      {"CheckpointSaverHook", "no function",
       with(std::make_shared<CheckpointSaverHook>(CheckpointSaverHook::Options{.save_steps = 1})), "bad_function_call"},
  });
  EXPECT_TRUE(std::isnan(RunValues().Number("loss")));
  EXPECT_FALSE(RunValues().Has(""));
}

TEST(EstimatorEdgeTest, ConfigurationsAndRecords) {
  Check({
      {"RunConfig", "threads", [] { return RunConfig{.threads = -1}.Validate(); }, "threads"},
      {"RunConfig", "lanes", [] { return RunConfig{.lanes = -1}.Validate(); }, "lanes"},
      {"RunConfig", "lanes", [] { return RunConfig{.lanes = 7}.Validate(); }, "lanes = 7"},
      {"RunConfig", "microbatch_rows", [] { return RunConfig{.microbatch_rows = -1}.Validate(); }, "microbatch_rows"},
      {"RunConfig", "memory_limit", [] { return RunConfig{.memory_limit = kMin}.Validate(); }, "memory_limit"},
      {"RunConfig", "seconds", [] { return RunConfig{.save_checkpoints_secs = kNaN}.Validate(); }, "secs"},
      {"RunConfig", "no devices", [] { return RunConfig{.train_distribute = MirroredStrategy({})}.Validate(); }},
      {"RunConfig", "no name", [] { return RunConfig{.train_distribute = OneDeviceStrategy("")}.Validate(); }},
      {"RunConfig", "cross-device ops",
       [] { return RunConfig{.train_distribute = MirroredStrategy({"cpu:0"}, "x")}.Validate(); }, "registered"},
      {"RegisterCrossDeviceOps", "no name", [] { return RegisterCrossDeviceOps("", nullptr); }, "name"},
      {"RegisterCrossDeviceOps", "no function", [] { return RegisterCrossDeviceOps("x", nullptr); }, "no function"},
      {"RunConfig", "trace", [] { return RunConfig{.trace_steps = "x"}.Validate(); }},
      {"JSON", "a record", [] { return EvalResult::FromJson("").status(); }},
      {"JSON", "a record", [] { return EvalResult::FromJson("{\"loss\":").status(); }},
  });
  EXPECT_TRUE(std::isnan(EvalResult()["loss"]));
  EXPECT_EQ(EvalResult().global_step(), -1);
}

}  // namespace
}  // namespace tandem
