// What functions of users throw, at every boundary, is an error of the call that says which function it was and where.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <new>
#include <stdexcept>

#include "base/exit_code.h"
#include "estimator/test_models.h"

namespace tandem {
namespace {

using namespace test;  // NOLINT: this file's vocabulary
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string Message(const absl::Status& status) { return std::string(status.message()); }

TEST(UserExceptions, OfTheModelFn) {
  Estimator estimator(
      [](const Features&, const Tensor&, Mode, const Params&) -> EstimatorSpec { throw std::logic_error("no layers"); },
      Config(ModelDir()));
  const absl::Status status = estimator.Train(LineInput(), {.steps = 1});
  EXPECT_EQ(status, estimator.Train(LineInput(), {.steps = 1}));
  EXPECT_EQ(Message(status), "model_fn, mode train: threw std::logic_error: \"no layers\"");
  EXPECT_EQ(ExitCodeFor(status), kExitCompileError);
}

TEST(UserExceptions, OfWhatAModelFnHandsToLayers) {
  Estimator estimator(
      [](const Features& features, const Tensor&, Mode, const Params&) {
        const Activation wrong = [](const Tensor&) -> Tensor { throw std::out_of_range("table"); };
        return EstimatorSpec::Predict({{"y", layers::Dense(features["x"], {.units = 2, .activation = wrong})}});
      },
      Config(ModelDir()));
  EXPECT_EQ(Message(estimator.Predict(LineInput(8, 8, 1), [](const NamedTensors&) { return true; })),
            "model_fn, mode predict: threw std::out_of_range: \"table\"");
}

TEST(UserExceptions, OfTheModelFnThatRunsOutOfMemory) {
  Estimator estimator(
      [](const Features&, const Tensor&, Mode, const Params&) -> EstimatorSpec { throw std::bad_alloc(); },
      Config(ModelDir()));
  const absl::Status status = estimator.Evaluate(LineInput(8, 8, 1)).status();
  EXPECT_EQ(Message(status), "model_fn, mode eval: ran out of memory (std::bad_alloc)");
  EXPECT_EQ(ExitCodeFor(status), kExitIo);
}

TEST(UserExceptions, OfTheInputFn) {
  Estimator estimator(LineModel, Config(ModelDir()));
  const InputFn input = [](const InputContext&) -> absl::StatusOr<Dataset> { throw std::runtime_error("no disk"); };
  EXPECT_THAT(Message(estimator.Train(input, {.steps = 1})), HasSubstr("threw std::runtime_error: \"no disk\""));
  EXPECT_THAT(Message(estimator.Evaluate(input).status()), HasSubstr("input_fn"));
}

TEST(UserExceptions, OfAMapBehindPrefetch) {
  Estimator estimator(LineModel, Config(ModelDir()));
  const InputFn input = [](const InputContext&) -> absl::StatusOr<Dataset> {
    auto third = [calls = std::make_shared<std::atomic<int>>(0)](const Element& e) -> absl::StatusOr<Element> {
      if (++*calls > 20) throw std::runtime_error("cannot decode");
      return e;
    };
    return LinePoints(64).Map(third, {.num_parallel_calls = 2}).Batch(8).Prefetch(2);
  };
  const absl::Status status = estimator.Train(input, {.steps = 8});
  EXPECT_THAT(Message(status), HasSubstr("user_exceptions_test.cc:"));
  EXPECT_THAT(Message(status), HasSubstr(": Map, element "));
  EXPECT_THAT(Message(status), EndsWith(" of the source: threw std::runtime_error: \"cannot decode\""));
}

TEST(UserExceptions, OfThePredictFn) {
  Estimator estimator(LineModel, Config(ModelDir()));
  int seen = 0;
  const absl::Status status = estimator.Predict(LineInput(16, 4, 1), [&](const NamedTensors&) -> bool {
    if (++seen == 6) throw std::runtime_error("printer on fire");
    return true;
  });
  EXPECT_EQ(Message(status),
            "PredictHook::AfterRun: the function for predictions, example 5: threw std::runtime_error: \"printer on "
            "fire\"");
}

// Throws in one of its methods.
class Thrower : public SessionRunHook {
 public:
  explicit Thrower(std::string where) : where_(std::move(where)) {}
  std::string name() const override { return where_ == "name" ? throw std::runtime_error("no name") : "Thrower"; }
  absl::Status Begin(HookContext&) override { return At("Begin"); }
  absl::Status AfterCreateSession(RunContext&) override { return At("AfterCreateSession"); }
  std::vector<std::string> BeforeRun(RunContext&) override {
    (void)At("BeforeRun");
    return {};
  }
  absl::Status AfterRun(RunContext&, const RunValues&) override {
    if (where_ == "name") return absl::UnknownError("an error");
    return At("AfterRun");
  }
  absl::Status End(RunContext&) override { return At("End"); }

 private:
  absl::Status At(const char* method) {
    if (where_ == method) throw std::runtime_error("hook");
    return absl::OkStatus();
  }
  std::string where_;
};

TEST(UserExceptions, OfTheResultOfAMetric) {
  Estimator estimator(
      [](const Features& features, const Tensor&, Mode, const Params&) {
        Metric metric{.sums = {{"all", ReduceSum(features["value"])}},
                      .result = [](const MetricSums& sums) -> absl::StatusOr<MetricValue> {
                        return sums.at("none")[0];  // throws std::out_of_range
                      }};
        return EstimatorSpec::Eval(ReduceMean(features["value"]), {{"own", metric}});
      },
      Config(ModelDir()));
  EXPECT_THAT(Message(estimator.Evaluate(NumbersInput(8, 4)).status()),
              StartsWith("metric \"own\": threw std::out_of_range: \""));
}

TEST(UserExceptions, OfHooks) {
  Estimator estimator(LineModel, Config(ModelDir()));
  for (const char* method : {"Begin", "AfterCreateSession", "BeforeRun", "AfterRun", "End"}) {
    const std::string expected = std::string("Thrower::") + method + ": threw std::runtime_error: \"hook\"";
    EXPECT_EQ(Message(estimator.Train(LineInput(), {.steps = 1, .hooks = {std::make_shared<Thrower>(method)}})),
              expected);
    EXPECT_EQ(Message(estimator.Evaluate(LineInput(8, 8, 1), {.hooks = {std::make_shared<Thrower>(method)}}).status()),
              expected);
  }
  EXPECT_EQ(Message(estimator.Train(LineInput(), {.steps = 1, .hooks = {std::make_shared<Thrower>("name")}})),
            "SessionRunHook::AfterRun: an error");
  // Nothing is left in a bad state.
  EXPECT_EQ(estimator.Train(LineInput(), {.steps = 1}), absl::OkStatus());
}

TEST(UserExceptions, ANullHookOrListenerIsAnError) {
  Estimator estimator(LineModel, Config(ModelDir()));
  EXPECT_THAT(Message(estimator.Train(LineInput(), {.steps = 1, .hooks = {nullptr}})),
              StartsWith("TrainOptions.hooks: hook 0 of 1 is null"));
  EXPECT_THAT(Message(estimator.Evaluate(LineInput(8, 8, 1), {.hooks = {nullptr}}).status()),
              StartsWith("EvaluateOptions.hooks: hook 0 of 1 is null"));
  EXPECT_THAT(
      Message(estimator.Predict(LineInput(8, 8, 1), [](const NamedTensors&) { return true; }, {.hooks = {nullptr}})),
      StartsWith("PredictOptions.hooks: hook 0 of 1 is null"));
  EXPECT_THAT(Message(estimator.Train(LineInput(), {.steps = 1, .saving_listeners = {nullptr}})),
              HasSubstr("saving listener 0 of 1 is null"));
}

TEST(UserExceptions, ANullHookOfTheModelFnIsAnError) {
  Estimator estimator(
      [](const Features& features, const Tensor& labels, Mode mode, const Params& params) {
        EstimatorSpec spec = LineModel(features, labels, mode, params);
        spec.training_hooks = {std::make_shared<Thrower>("none"), nullptr};
        return spec;
      },
      Config(ModelDir()));
  EXPECT_THAT(Message(estimator.Train(LineInput(), {.steps = 1})),
              StartsWith("EstimatorSpec.training_hooks: hook 1 of 2 is null"));
}

class ThrowingListener : public CheckpointSaverListener {
 public:
  explicit ThrowingListener(std::string where) : where_(std::move(where)) {}
  absl::Status Begin(int64_t) override { return At("Begin"); }
  absl::Status BeforeSave(int64_t) override { return At("BeforeSave"); }
  bool WaitsFor(int64_t) override { return At("WaitsFor").ok(); }
  absl::StatusOr<bool> AfterSave(int64_t) override {
    (void)At("AfterSave");
    return false;
  }
  absl::Status End(int64_t) override { return At("End"); }

 private:
  absl::Status At(const char* method) {
    if (where_ == method) throw std::runtime_error("listener");
    return absl::OkStatus();
  }
  std::string where_;
};

TEST(UserExceptions, OfSavingListeners) {
  Estimator estimator(LineModel, Config(ModelDir()));
  for (const char* method : {"Begin", "BeforeSave", "WaitsFor", "AfterSave", "End"}) {
    const absl::Status status =
        estimator.Train(LineInput(), {.steps = 1, .saving_listeners = {std::make_shared<ThrowingListener>(method)}});
    EXPECT_THAT(Message(status), StartsWith("CheckpointSaverHook::"));
    EXPECT_THAT(Message(status), EndsWith(std::string("CheckpointSaverListener::") + method +
                                          ": threw std::runtime_error: \"listener\""));
  }
}

}  // namespace
}  // namespace tandem
