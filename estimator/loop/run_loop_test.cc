// The hook protocol and the finite check.
#include "estimator/loop/run_loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/exit_code.h"
#include "base/logging.h"
#include "base/status_macros.h"
#include "base/user_code.h"
#include "estimator/hooks/checkpoint_saver_hook.h"
#include "estimator/hooks/nan_tensor_hook.h"
#include "estimator/hooks/stop_at_step_hook.h"
#include "estimator/loop/fake_steps.h"
#include "estimator/trace/tracer.h"

namespace tandem {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Calls = std::vector<std::string>;

// Notes its calls and can be told to fetch, stop or fail.
class Probe : public SessionRunHook {
 public:
  Probe(std::string label, Calls* calls) : label_(std::move(label)), calls_(calls) {}
  std::string name() const override { return label_; }
  absl::Status Begin(HookContext& context) override {
    for (const std::string& f : fetches) context.Fetch(f);
    return Note("begin");
  }
  absl::Status AfterCreateSession(RunContext&) override { return Note("session"); }
  std::vector<std::string> BeforeRun(RunContext&) override {
    (void)Note("before");
    return fetches;
  }
  absl::Status AfterRun(RunContext& context, const RunValues& values) override {
    last = values;
    ++steps;
    if (steps == stop_at) context.RequestStop();
    return Note("after");
  }
  absl::Status End(RunContext&) override { return Note("end"); }

  std::vector<std::string> fetches;
  std::string fail_in;
  int stop_at = -1;
  int steps = 0;
  RunValues last;

 private:
  absl::Status Note(const std::string& what) {
    calls_->push_back(label_ + " " + what);
    return what == fail_in ? absl::UnavailableError("told to fail") : absl::OkStatus();
  }
  std::string label_;
  Calls* calls_;
};

struct Loop {
  absl::StatusOr<LoopResult> Run(const HookList& hooks, int64_t rounds) {
    source = CountedSource(rounds);
    HookContext context(Mode::kTrain, "dir", 2, 64);
    TD_RETURN_IF_ERROR(BeginHooks(hooks, context));
    LoopOptions options{.fetches = {"loss"}, .fetchable = context.fetches()};
    options.signalled = signalled;
    options.scalars["seed"] = 3;
    return RunLoop(runner, source, hooks, options, &global_step);
  }
  ScriptedRunner runner;
  CountedSource source{0};
  int64_t global_step = 0;
  std::function<bool()> signalled;
};

TEST(RunLoop, CallsHooksInOrderAndCountsSteps) {
  Calls calls;
  auto a = std::make_shared<Probe>("a", &calls);
  auto b = std::make_shared<Probe>("b", &calls);
  Loop loop;
  auto result = loop.Run({a, b}, 2);
  ASSERT_TRUE(result.ok());
  // The last BeforeRun meets the end of the input.
  EXPECT_THAT(calls,
              ElementsAre("a begin", "b begin", "a session", "b session", "a before", "b before", "a after", "b after",
                          "a before", "b before", "a after", "b after", "a before", "b before", "a end", "b end"));
  EXPECT_EQ(result->steps, 2);
  EXPECT_EQ(result->examples, 8);
  EXPECT_EQ(result->reason, StopReason::kEndOfInput);
  EXPECT_EQ(loop.global_step, 2);
  EXPECT_EQ(loop.runner.requests[1].scalars.at("global_step"), 1);
  EXPECT_EQ(loop.runner.requests[1].scalars.at("seed"), 3);
}

TEST(RunLoop, RunsTheUnionOfFetchesOnce) {
  Calls calls;
  auto a = std::make_shared<Probe>("a", &calls);
  auto b = std::make_shared<Probe>("b", &calls);
  a->fetches = {"dense/Relu", "global_step"};
  b->fetches = {"dense/Relu"};
  Loop loop;
  ASSERT_TRUE(loop.Run({a, b}, 1).ok());
  EXPECT_THAT(loop.runner.requests[0].fetches, ElementsAre("dense/Relu", "loss"));
  EXPECT_EQ(a->last.Number("dense/Relu"), 7);
  EXPECT_EQ(b->last.Number("loss"), 1);
  EXPECT_EQ(a->last.Number("global_step"), 1);
  EXPECT_TRUE(std::isnan(a->last.Number("unknown")));
}

TEST(RunLoop, AHookSeesWhatItHasFetched) {
  Calls calls;
  auto a = std::make_shared<Probe>("a", &calls);
  auto b = std::make_shared<Probe>("b", &calls);
  a->fetches = {"dense/Relu"};
  Loop loop;
  ASSERT_TRUE(loop.Run({a, b}, 1).ok());
  EXPECT_TRUE(a->last.Has("dense/Relu"));
  EXPECT_FALSE(b->last.Has("dense/Relu"));
  for (const auto& hook : {a, b}) {
    EXPECT_EQ(hook->last.Number("loss"), 1);
    EXPECT_EQ(hook->last.Number("global_step"), 1);
  }
  // Asking for what it has not fetched is an error of the hook, unless the step was not finite and knows little.
  const int line = __LINE__ + 1;
  const absl::Status status = CallUserCode([&] { EXPECT_TRUE(std::isnan(b->last.Number("dense/Relu"))); });
  EXPECT_THAT(
      std::string(status.message()),
      HasSubstr(absl::StrCat("run_loop_test.cc:", line,
                             ": RunValues::Number(\"dense/Relu\"): step 0 has no "
                             "number of this name, it has global_step, loss; a hook sees what its BeforeRun has "
                             "fetched in this step")));
  b->last.finite = false;
  EXPECT_TRUE(CallUserCode([&] { EXPECT_TRUE(std::isnan(b->last.Number("dense/Relu"))); }).ok());
}

TEST(RunLoop, AFetchThatBeginDidNotAskForIsAnError) {
  Calls calls;
  auto a = std::make_shared<Probe>("a", &calls);
  Loop loop;
  HookContext context(Mode::kTrain, "", 1, 1);
  ASSERT_TRUE(BeginHooks({a}, context).ok());
  a->fetches = {"late"};
  CountedSource source(1);
  auto result = RunLoop(loop.runner, source, {a}, {.fetchable = {"loss"}}, &loop.global_step);
  EXPECT_THAT(std::string(result.status().message()), HasSubstr("a::BeforeRun fetches \"late\""));
  EXPECT_EQ(source.drawn, 0);
}

TEST(RunLoop, TheSeedChangesWithTheRoundOutsideOfTraining) {
  for (Mode mode : {Mode::kTrain, Mode::kEval, Mode::kPredict}) {
    std::vector<std::map<int64_t, int>> seeds(2);
    for (std::map<int64_t, int>& seen : seeds) {
      ScriptedRunner runner({1.0f, std::nanf("")});  // a step that is not finite is a round too
      CountedSource source(100);
      LoopOptions options{.mode = mode, .fetches = {"loss"}};
      options.scalars["seed"] = 3;
      int64_t global_step = 7;
      ASSERT_TRUE(RunLoop(runner, source, {}, options, &global_step).ok());
      ASSERT_EQ(runner.requests.size(), 100u);
      EXPECT_EQ(runner.requests[0].scalars.at("seed").integer(), 3);
      for (const ScriptedRunner::Seen& request : runner.requests) {
        ++seen[request.scalars.at("seed").integer()];
      }
    }
    EXPECT_EQ(seeds[0], seeds[1]);
    EXPECT_EQ(seeds[0].size(), mode == Mode::kTrain ? 1u : 100u);
  }
}

// Workers with parameter servers agree on the end as well, but their steps are their own.
TEST(RunLoop, WhatIsNotFiniteMayBeAnotherWorkers) {
  for (const bool shared : {false, true}) {
    ScriptedRunner runner({std::nanf("")});
    runner.origin = "";
    CountedSource source(100);
    LoopOptions options{.mode = Mode::kTrain, .fetches = {"loss"}, .shared_steps = shared};
    options.agree = [](std::optional<StopReason> mine) { return mine; };
    int64_t global_step = 0;
    const auto result = RunLoop(runner, source, {std::make_shared<NanTensorHook>(true)}, options, &global_step);
    EXPECT_THAT(std::string(result.status().message()),
                HasSubstr(shared ? "first seen in an op of another worker, whose message names it"
                                 : "running the step again did not reproduce it"));
  }
}

TEST(RunLoop, StopTakesEffectAfterEveryAfterRun) {
  Calls calls;
  auto a = std::make_shared<Probe>("a", &calls);
  auto b = std::make_shared<Probe>("b", &calls);
  a->stop_at = 1;
  Loop loop;
  auto result = loop.Run({a, b}, 5);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(b->steps, 1);
  EXPECT_EQ(result->reason, StopReason::kStopRequested);
  EXPECT_EQ(calls.back(), "b end");
}

TEST(RunLoop, AnErrorInEndDoesNotKeepOthersFromTheirs) {
  Calls calls;
  auto a = std::make_shared<Probe>("a", &calls);
  auto b = std::make_shared<Probe>("b", &calls);
  a->fail_in = "end";
  Loop loop;
  auto result = loop.Run({a, b}, 1);
  EXPECT_EQ(result.status().message(), "a::End: told to fail");
  EXPECT_EQ(calls.back(), "b end");
}

TEST(RunLoop, AnErrorInAfterRunEndsWithoutEnd) {
  Calls calls;
  auto a = std::make_shared<Probe>("a", &calls);
  auto b = std::make_shared<Probe>("b", &calls);
  a->fail_in = "after";
  Loop loop;
  EXPECT_FALSE(loop.Run({a, b}, 3).ok());
  EXPECT_EQ(calls.back(), "a after");
}

TEST(RunLoop, ASignalFinishesTheStepAndEnds) {
  Calls calls;
  auto a = std::make_shared<Probe>("a", &calls);
  Loop loop;
  loop.signalled = [&] { return a->steps == 2; };
  auto result = loop.Run({a}, 5);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->reason, StopReason::kSignal);
  EXPECT_EQ(result->steps, 2);
  EXPECT_EQ(calls.back(), "a end");
}

// Loss 1.0, then NaN.
class DivergedRun : public ::testing::Test {
 protected:
  absl::StatusOr<LoopResult> Run(bool fail_on_nan) {
    auto saver =
        std::make_shared<CheckpointSaverHook>(CheckpointSaverHook::Options{.save_steps = 1, .save = [&](int64_t step) {
                                                                             saved_.push_back(step);
                                                                             return absl::OkStatus();
                                                                           }});
    loop_.runner = ScriptedRunner({1.0f, NAN});
    return loop_.Run({saver, user_, std::make_shared<StopAtStepHook>(StopAtStepHook::Options{.num_steps = 2}),
                      std::make_shared<NanTensorHook>(fail_on_nan)},
                     10);
  }
  Calls calls_;
  std::shared_ptr<Probe> user_ = std::make_shared<Probe>("user", &calls_);
  std::vector<int64_t> saved_;
  Loop loop_;
};

TEST_F(DivergedRun, FailsAfterUserHooksSawItAndSavesNothingOfIt) {
  LogCapture log;
  auto result = Run(true);
  EXPECT_EQ(ExitCodeFor(result.status()), kExitInternal);
  EXPECT_THAT(std::string(result.status().message()), HasSubstr("dense/Log at model.cc:12"));
  EXPECT_THAT(std::string(result.status().message()), HasSubstr("NaN loss during training"));
  EXPECT_TRUE(log.Contains("Model diverged with loss = NaN."));
  EXPECT_EQ(user_->steps, 2);
  EXPECT_THAT(saved_, ElementsAre(0, 1));
  EXPECT_EQ(loop_.global_step, 1);
}

TEST_F(DivergedRun, StopsWithoutAnErrorWhenToldSo) {
  LogCapture log;
  auto result = Run(false);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->reason, StopReason::kStopRequested);
  EXPECT_EQ(result->steps, 1);
  EXPECT_THAT(saved_, ElementsAre(0, 1));
  EXPECT_EQ(calls_.back(), "user end");
}

TEST(NanTensorHookTest, SaysWhatIsNotFinite) {
  const auto message = [](std::optional<float> loss) {
    int64_t step = 7;
    RunContext context(Mode::kTrain, &step);
    context.set_find_non_finite(
        []() -> absl::StatusOr<std::string> { return std::string("dense/Log at model.cc:12"); });
    RunValues values;
    values.step = step;
    values.finite = values.applied = false;
    if (loss.has_value()) values.tensors["loss"] = HostTensor::Scalar<float>(*loss);
    return std::string(NanTensorHook(true).AfterRun(context, values).message());
  };
  EXPECT_THAT(message(NAN), HasSubstr("NaN loss during training: step 7 gave loss = NaN; first seen in "));
  EXPECT_THAT(message(INFINITY), HasSubstr("Inf loss during training: step 7 gave loss = Inf;"));
  EXPECT_THAT(message(-INFINITY), HasSubstr("-Inf loss during training: step 7 gave loss = -Inf;"));
  EXPECT_THAT(message(0.5f), HasSubstr("Non-finite update during training: step 7 gave loss = 0.5 and an update"));
  EXPECT_THAT(message(std::nullopt),
              HasSubstr("Non-finite loss or update during training: step 7 gave a loss or an update that is not"));
}

// Input takes one second and a step three.
TEST(RunLoopTest, MeasuresTheInputAndTracesItsPhases) {
  double now = 0;
  CountedSource source(4);
  source.on_next = [&] { now += 1; };
  ScriptedRunner runner;
  runner.on_run = [&] { now += 3; };
  Calls calls;
  auto probe = std::make_shared<Probe>("a", &calls);
  Tracer tracer({.file = ::testing::TempDir() + "/loop.json", .first_step = 1, .last_step = 2});
  LoopOptions options{.fetches = {"loss"}};
  options.now = [&] { return static_cast<int64_t>(1e9 * now); };
  options.tracer = &tracer;
  int64_t global_step = 10;
  LogCapture log;
  const absl::StatusOr<LoopResult> result = RunLoop(runner, source, {probe}, options, &global_step);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_DOUBLE_EQ(result->input_secs, 4);
  EXPECT_DOUBLE_EQ(result->seconds, 16);
  EXPECT_DOUBLE_EQ(probe->last.input_secs, 1);
  const std::string trace = tracer.Json();
  auto count = [&](const std::string& part) {
    int n = 0;
    for (size_t at = trace.find(part); at != std::string::npos; at = trace.find(part, at + 1)) ++n;
    return n;
  };
  for (const char* phase : {"hooks before the step", "input wait", "step", "hooks after the step", "a"}) {
    EXPECT_EQ(count("\"name\":\"" + std::string(phase) + "\""), 2) << phase;
  }
  EXPECT_EQ(count("\"dur\":1000000.000"), 2);
  EXPECT_EQ(count("\"dur\":3000000.000"), 2);
  EXPECT_THAT(trace, HasSubstr("\"args\":{\"drawn\":2}"));
  EXPECT_THAT(trace, HasSubstr("\"step\":11,\"examples\":4"));
}

TEST(RunLoopTest, ARunnerSeesTheNextRoundWhereItWantsTo) {
  for (bool wants : {false, true}) {
    ScriptedRunner runner;
    runner.wants_next = wants;
    CountedSource source(3);
    int64_t global_step = 0;
    ASSERT_TRUE(RunLoop(runner, source, {}, {}, &global_step).ok());
    // Behind the third there is none.
    EXPECT_EQ(runner.prefetched, wants ? std::vector<int64_t>({101, 102}) : std::vector<int64_t>());
  }
}

}  // namespace
}  // namespace tandem
