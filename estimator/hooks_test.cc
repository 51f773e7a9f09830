// The built-in hooks, driven by a loop of scripted steps and a clock made by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/logging.h"
#include "estimator/hooks/checkpoint_saver_hook.h"
#include "estimator/hooks/logging_tensor_hook.h"
#include "estimator/hooks/progress_hook.h"
#include "estimator/hooks/progress_line.h"
#include "estimator/hooks/step_counter_hook.h"
#include "estimator/hooks/stop_at_step_hook.h"
#include "estimator/hooks/watched_values.h"
#include "estimator/loop/fake_steps.h"
#include "estimator/loop/run_loop.h"

namespace tandem {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class HooksTest : public ::testing::Test {
 protected:
  // Runs `steps` steps of one second each from global step `start`.
  // The input takes `input_secs` for each.
  absl::Status Run(const HookList& hooks, int64_t steps, int64_t start = 0, double secs_per_step = 1,
                   double input_secs = 0) {
    runner_.on_run = [this, secs_per_step] { now_ += secs_per_step; };
    HookContext context(Mode::kTrain, "", 1, 4);
    if (absl::Status s = BeginHooks(hooks, context); !s.ok()) return s;
    int64_t global_step = start;
    CountedSource source(steps);
    source.on_next = [this, input_secs] { now_ += input_secs; };
    LoopOptions options{.fetches = {"loss"}, .fetchable = context.fetches(), .saves = saves_};
    options.now = [this] { return static_cast<int64_t>(1e9 * now_); };
    return RunLoop(runner_, source, hooks, options, &global_step).status();
  }
  std::shared_ptr<CheckpointSaverHook> Saver(int64_t steps, double secs, int64_t restored = -1) {
    return std::make_shared<CheckpointSaverHook>(CheckpointSaverHook::Options{.save_steps = steps,
                                                                              .save_secs = secs,
                                                                              .save =
                                                                                  [this](int64_t s) {
                                                                                    saved_.push_back(s);
                                                                                    return absl::OkStatus();
                                                                                  },
                                                                              .restored_step = restored,
                                                                              .clock = clock_});
  }
  std::shared_ptr<ProgressHook> Progress(ProgressHook::Options options, std::string* terminal) const {
    options.write = [terminal](absl::string_view text) { *terminal += std::string(text); };
    options.clock = clock_;
    return std::make_shared<ProgressHook>(std::move(options));
  }
  std::vector<std::string> Log() const {
    std::vector<std::string> lines;
    for (const LogEntry& e : log_.entries()) lines.push_back(e.message);
    return lines;
  }

  double now_ = 100;
  Clock clock_ = [this] { return now_; };
  ScriptedRunner runner_{{2.5f, 2.25f, 2.0f}};
  std::vector<int64_t> saved_;
  bool saves_ = true;
  LogCapture log_;
};

TEST_F(HooksTest, LoggingTensorPrintsTheFirstStepWithoutATime) {
  ASSERT_TRUE(Run({std::make_shared<LoggingTensorHook>(std::vector<std::string>{"loss"}, 2, clock_)}, 5).ok());
  EXPECT_THAT(Log(),
              ElementsAre("loss = 2.5, step = 0", "loss = 2, step = 2 (2.000 sec)", "loss = 2, step = 4 (2.000 sec)"));
}

TEST_F(HooksTest, LoggingTensorFetchesOnlyWhenDue) {
  auto hook = std::make_shared<LoggingTensorHook>(std::vector<std::string>{"dense/Relu"}, 3, clock_);
  ASSERT_TRUE(Run({hook}, 4).ok());
  EXPECT_THAT(runner_.requests[0].fetches, ElementsAre("dense/Relu", "loss"));
  EXPECT_THAT(runner_.requests[1].fetches, ElementsAre("loss"));
  EXPECT_THAT(runner_.requests[3].fetches, ElementsAre("dense/Relu", "loss"));
}

TEST_F(HooksTest, ShortStringShowsTheFirstElements) {
  EXPECT_EQ(ShortString(HostTensor::FromVector<int32_t>({2}, {1, 2})), "[1 2]");
  EXPECT_EQ(ShortString(HostTensor::Zeros(DType::kFloat32, {9})), "[0 0 0 0 0 0 ...]");
  EXPECT_EQ(ShortString(HostTensor::Scalar(true)), "true");
  EXPECT_EQ(ShortString(HostTensor()), "none");
}

TEST_F(HooksTest, StepCounterPrintsTheRate) {
  ASSERT_TRUE(Run({std::make_shared<StepCounterHook>(2, clock_)}, 5, 0, 0.25).ok());
  EXPECT_THAT(Log(), ElementsAre("global_step/sec: 4, input wait 0.0 %", "global_step/sec: 4, input wait 0.0 %"));
}

TEST_F(HooksTest, StepCounterAndProgressNameInputStalls) {
  std::string terminal;
  auto progress = Progress({}, &terminal);
  ASSERT_TRUE(Run({std::make_shared<StepCounterHook>(2, clock_), progress}, 2, 0, 0.75, 0.25).ok());
  EXPECT_THAT(Log(), ElementsAre("global_step/sec: 1, input wait 25.0 %"));
  EXPECT_THAT(terminal, HasSubstr("step 2  loss 2.2500  4 examples/s  input wait 25 %  ETA -\r"));
}

TEST_F(HooksTest, StopAtStepCountsFromWhereTrainingStarts) {
  ASSERT_TRUE(Run({std::make_shared<StopAtStepHook>(StopAtStepHook::Options{.num_steps = 3})}, 10, 7).ok());
  EXPECT_EQ(runner_.requests.size(), 3);
  runner_.requests.clear();
  ASSERT_TRUE(Run({std::make_shared<StopAtStepHook>(StopAtStepHook::Options{.last_step = 9})}, 10, 7).ok());
  EXPECT_EQ(runner_.requests.size(), 2);
  runner_.requests.clear();
  ASSERT_TRUE(Run({std::make_shared<StopAtStepHook>(StopAtStepHook::Options{.last_step = 7})}, 10, 7).ok());
  EXPECT_EQ(runner_.requests.size(), 0);
  EXPECT_FALSE(Run({std::make_shared<StopAtStepHook>(StopAtStepHook::Options{})}, 1).ok());
}

TEST_F(HooksTest, SaverSavesFirstDueAndLast) {
  ASSERT_TRUE(Run({Saver(4, 0)}, 10).ok());
  EXPECT_THAT(saved_, ElementsAre(0, 4, 8, 10));
}

TEST_F(HooksTest, SaverDoesNotSaveAStepTwice) {
  ASSERT_TRUE(Run({Saver(5, 0)}, 10).ok());
  EXPECT_THAT(saved_, ElementsAre(0, 5, 10));
  saved_.clear();
  ASSERT_TRUE(Run({Saver(5, 0, 10)}, 0, 10).ok());
  EXPECT_TRUE(saved_.empty());
}

TEST_F(HooksTest, SaverByTime) {
  ASSERT_TRUE(Run({Saver(0, 3)}, 7).ok());
  EXPECT_THAT(saved_, ElementsAre(0, 3, 6, 7));
}

// Asks for checkpoints at some global steps, before or behind the step.
class Asking : public SessionRunHook {
 public:
  Asking(std::vector<int64_t> before, std::vector<int64_t> behind)
      : before_(std::move(before)), behind_(std::move(behind)) {}
  std::string name() const override { return "Asking"; }
  std::vector<std::string> BeforeRun(RunContext& context) override {
    if (Has(before_, context.global_step())) context.Fail(context.RequestSave());
    return {};
  }
  absl::Status AfterRun(RunContext& context, const RunValues&) override {
    return Has(behind_, context.global_step()) ? context.RequestSave() : absl::OkStatus();
  }

 private:
  static bool Has(const std::vector<int64_t>& steps, int64_t step) {
    return std::find(steps.begin(), steps.end(), step) != steps.end();
  }
  const std::vector<int64_t> before_, behind_;
};

TEST_F(HooksTest, SaverSavesWhatAHookAsksFor) {
  // Step 7 is made when 6 asks; the rule goes on from there. 10 is the last.
  ASSERT_TRUE(
      Run({Saver(5, 0), std::make_shared<Asking>(std::vector<int64_t>{6}, std::vector<int64_t>{2, 10})}, 14).ok());
  EXPECT_THAT(saved_, ElementsAre(0, 2, 7, 10, 14));
  saves_ = false;
  const absl::Status off = Run({std::make_shared<Asking>(std::vector<int64_t>{}, std::vector<int64_t>{2})}, 3);
  EXPECT_EQ(off.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(off.message()), HasSubstr("Asking::AfterRun: RequestSave: nothing is saved here"));
}

// Calls a function behind each step.
class Behind : public SessionRunHook {
 public:
  explicit Behind(std::function<void(int64_t step)> call, std::string key = "")
      : call_(std::move(call)), key_(std::move(key)) {}
  std::string checkpoint_key() const override { return key_; }
  absl::Status AfterRun(RunContext& context, const RunValues&) override {
    call_(context.global_step());
    return absl::OkStatus();
  }

 private:
  const std::function<void(int64_t)> call_;
  const std::string key_;
};

// The rule goes on as it was; what was assigned is in the next checkpoint, or in the last one.
TEST_F(HooksTest, SaverSavesAStepAgainWhoseValuesWereAssigned) {
  const auto saver = Saver(4, 0);
  const auto assigns = std::make_shared<Behind>([&](int64_t step) {
    if (step == 4 || step == 5 || step == 8) saver->NoteChange();
  });
  ASSERT_TRUE(Run({saver, assigns}, 8).ok());
  EXPECT_THAT(saved_, ElementsAre(0, 4, 8, 8));
}

TEST_F(HooksTest, HooksOfCheckpointsComeBeforeTheSaver) {
  std::vector<std::string> order;
  const auto note = [&](const std::string& who) {
    return [&order, who](int64_t step) { order.push_back(absl::StrCat(who, step)); };
  };
  const auto saver = Saver(2, 0);
  ASSERT_TRUE(Run({saver, std::make_shared<Behind>(note("a")),
                   std::make_shared<Behind>(
                       [&](int64_t step) { order.push_back(absl::StrCat("kept", step, " of ", saved_.size())); }, "k")},
                  2)
                  .ok());
  EXPECT_THAT(order, ElementsAre("kept1 of 1", "a1", "kept2 of 1", "a2"));
  EXPECT_THAT(saved_, ElementsAre(0, 2));
}

TEST_F(HooksTest, WatchedValuesAreNamedOnce) {
  std::vector<std::string> told;
  const WatchedValues::Warn warn = [&](const std::string& message) { told.push_back(message); };
  WatchedValues watched(
      std::map<std::string, std::string>{{"a", "The summary \"a\" at model.cc:7"}, {"b", "B"}, {"c", "C"}}, warn);
  const auto run = [&](std::map<std::string, HostTensor> tensors, bool finite = true) {
    watched.Look({.tensors = std::move(tensors), .step = 3, .finite = finite});
  };
  const float inf = std::numeric_limits<float>::infinity();
  const HostTensor bad = HostTensor::FromVector<double>({2}, {1, NAN}), good = HostTensor::Scalar<float>(1);
  run({{"a", bad}, {"b", good}, {"other", bad}, {"c", HostTensor::Scalar<int32_t>(1)}});
  run({{"a", bad}, {"b", HostTensor::Scalar<float>(-inf)}}, /*finite=*/false);
  run({{"a", bad}, {"b", HostTensor::Scalar<float>(-inf)}});
  EXPECT_THAT(told,
              ElementsAre("The summary \"a\" at model.cc:7 is NaN in step 3. It is only watched: it is recorded as "
                          "it is, and training goes on.",
                          HasSubstr("B is -infinite in step 3.")));
}

// Counts of steps that no training comes to.
TEST_F(HooksTest, TheLargestCountsAreNeverReached) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  std::string terminal;
  ASSERT_TRUE(Run({Saver(kMost, 0, /*restored=*/3), Progress({.steps = kMost}, &terminal),
                   std::make_shared<StopAtStepHook>(StopAtStepHook::Options{.num_steps = kMost})},
                  5, 3)
                  .ok());
  EXPECT_EQ(runner_.requests.size(), 5);
  EXPECT_THAT(saved_, ElementsAre(8));
  EXPECT_THAT(terminal, HasSubstr("/9223372036854775807"));
}

// Others may have made steps by then.
TEST_F(HooksTest, ListenersHearOfTheStepThatWasSaved) {
  struct Listener : CheckpointSaverListener {
    absl::StatusOr<bool> AfterSave(int64_t step) override {
      steps.push_back(step);
      return false;
    }
    std::vector<int64_t> steps;
  };
  auto listener = std::make_shared<Listener>();
  int64_t global_step = 0;
  CheckpointSaverHook::Options options{.save_steps = 4};
  options.save = [&](int64_t) {
    global_step += 2;
    return absl::OkStatus();
  };
  options.listeners = {listener};
  const HookList hooks = {std::make_shared<CheckpointSaverHook>(options)};
  HookContext context(Mode::kTrain, "", 1, 4);
  ASSERT_EQ(BeginHooks(hooks, context), absl::OkStatus());
  CountedSource source(5);
  ASSERT_TRUE(RunLoop(runner_, source, hooks, {.fetches = {"loss"}}, &global_step).ok());
  // The first save becomes step 2, that of step 6 step 8, and that of the end, 9, step 11.
  EXPECT_THAT(listener->steps, ElementsAre(2, 8, 11));
}

TEST_F(HooksTest, SaverNeedsOneInterval) {
  EXPECT_FALSE(Run({Saver(0, 0)}, 1).ok());
  EXPECT_FALSE(Run({Saver(5, 5)}, 1).ok());
}

TEST_F(HooksTest, AFirstSaveThatFailsEndsBeforeTheFirstStep) {
  auto saver = std::make_shared<CheckpointSaverHook>(CheckpointSaverHook::Options{
      .save_steps = 1, .save = [](int64_t) { return absl::ResourceExhaustedError("disk full"); }});
  EXPECT_EQ(Run({saver}, 1).message(), "CheckpointSaverHook::BeforeRun: disk full");
  EXPECT_TRUE(runner_.requests.empty());
}

// Writes saves "in the background": a save ends when somebody waits for it, or after `steps` looks at it.
struct SlowSaves {
  int looks_needed = 2;
  absl::Status result;
  int looks = 0;
  bool pending = false;
  std::vector<std::string> log;

  CheckpointSaverHook::Options Options(int64_t every, Clock clock) {
    return {.save_steps = every,
            .save =
                [this](int64_t step) {
                  log.push_back(absl::StrCat(pending ? "two at a time: " : "begin ", step));
                  pending = true;
                  looks = 0;
                  return absl::OkStatus();
                },
            .finish_save = [this](bool wait) -> absl::Status {
              if (!pending || (!wait && ++looks < looks_needed)) return absl::OkStatus();
              pending = false;
              log.push_back(wait ? "waited" : "done");
              return result;
            },
            .clock = clock};
  }
};

TEST_F(HooksTest, StepsGoOnWhileACheckpointIsWritten) {
  SlowSaves saves;
  ASSERT_TRUE(Run({std::make_shared<CheckpointSaverHook>(saves.Options(3, clock_))}, 4).ok());
  EXPECT_THAT(saves.log, ElementsAre("begin 0", "done", "begin 3", "waited", "begin 4", "waited"));
  saves.log.clear();
  saves.looks_needed = 9;  // slower than saves are due
  ASSERT_TRUE(Run({std::make_shared<CheckpointSaverHook>(saves.Options(2, clock_))}, 4).ok());
  EXPECT_THAT(saves.log, ElementsAre("begin 0", "waited", "begin 2", "waited", "begin 4", "waited"));
}

TEST_F(HooksTest, ASaveThatFailsBehindTheStepsEndsTraining) {
  SlowSaves saves;
  saves.result = absl::ResourceExhaustedError("disk full");
  EXPECT_EQ(Run({std::make_shared<CheckpointSaverHook>(saves.Options(100, clock_))}, 9).message(),
            "CheckpointSaverHook::AfterRun: disk full");
  EXPECT_EQ(runner_.requests.size(), 2u);
  saves.looks_needed = 100;  // known at the end only
  EXPECT_EQ(Run({std::make_shared<CheckpointSaverHook>(saves.Options(100, clock_))}, 5).message(),
            "CheckpointSaverHook::End: disk full");
}

TEST_F(HooksTest, ListenersHearOfACheckpointWhenItIsWritten) {
  struct Listener : CheckpointSaverListener {
    SlowSaves* saves;
    bool waits = true;
    bool WaitsFor(int64_t) override { return waits; }
    absl::StatusOr<bool> AfterSave(int64_t step) override {
      saves->log.push_back(absl::StrCat("saved ", step));
      return false;
    }
  };
  SlowSaves saves;
  auto listener = std::make_shared<Listener>();
  listener->saves = &saves;
  CheckpointSaverHook::Options options = saves.Options(3, clock_);
  options.listeners = {listener};
  ASSERT_TRUE(Run({std::make_shared<CheckpointSaverHook>(options)}, 3).ok());
  EXPECT_THAT(saves.log, ElementsAre("begin 0", "waited", "saved 0", "begin 3", "waited", "saved 3"));
  // One that does not need the files does not keep training waiting for them.
  saves.log.clear();
  listener->waits = false;
  ASSERT_TRUE(Run({std::make_shared<CheckpointSaverHook>(options)}, 3).ok());
  EXPECT_THAT(saves.log, ElementsAre("begin 0", "saved 0", "done", "begin 3", "saved 3", "waited"));
}

TEST_F(HooksTest, ProgressRewritesOneLine) {
  std::string terminal;
  ASSERT_TRUE(Run({Progress({.max_steps = 4}, &terminal)}, 3).ok());
  EXPECT_EQ(terminal,
            "\033[Kstep 1/4  loss 2.5000  4 examples/s  ETA -\r\033[Kstep 2/4  loss 2.2500  4 examples/s  ETA 0:02\r"
            "\033[Kstep 3/4  loss 2.0000  4 examples/s  ETA 0:01\r\033[K");
}

TEST_F(HooksTest, ProgressTellsTheTimeLeft) {
  // Steps of 30 s: after the third of 100 there are 97 left.
  std::string terminal;
  ASSERT_TRUE(Run({Progress({.max_steps = 100}, &terminal)}, 3, 0, 30).ok());
  EXPECT_THAT(terminal, HasSubstr("step 3/100  loss 2.0000  0.13 examples/s  ETA 48:30\r"));
  // Of `steps` more from step 7 on, seven are left after the third.
  terminal.clear();
  ASSERT_TRUE(Run({Progress({.steps = 10}, &terminal)}, 3, 7, 30).ok());
  EXPECT_THAT(terminal, HasSubstr("step 10/17  loss 2.0000  0.13 examples/s  ETA 3:30\r"));
  // Without an end it is not known.
  terminal.clear();
  ASSERT_TRUE(Run({Progress({}, &terminal)}, 3, 0, 30).ok());
  EXPECT_THAT(terminal, HasSubstr("step 3  loss 2.0000  0.13 examples/s  ETA -\r"));
}

TEST_F(HooksTest, TheFirstStepIsNoMeasureOfTheTimeLeft) {
  std::string terminal;
  auto hook = Progress({.max_steps = 11}, &terminal);
  int64_t global_step = 0;
  RunContext context(Mode::kTrain, &global_step);
  ASSERT_TRUE(hook->AfterCreateSession(context).ok());
  for (const double seconds : {100.0, 2.0}) {
    now_ += seconds;
    ++global_step;
    ASSERT_TRUE(hook->AfterRun(context, RunValues{.examples = 4}).ok());
  }
  EXPECT_THAT(terminal, HasSubstr("step 1/11  loss nan  0.04 examples/s  ETA -\r"));
  EXPECT_THAT(terminal, HasSubstr("step 2/11  loss nan  2 examples/s  ETA 0:18\r"));
}

TEST_F(HooksTest, ProgressShowsEpochAndMetrics) {
  std::string terminal;
  auto hook = Progress({.max_steps = 10, .steps_per_epoch = 2.5}, &terminal);
  int64_t global_step = 5;
  RunContext context(Mode::kTrain, &global_step);
  ASSERT_TRUE(hook->AfterCreateSession(context).ok());
  hook->set_metrics({{"accuracy", 0.875}, {"loss", 7}});
  now_ += 1;
  ASSERT_TRUE(hook->AfterRun(context, RunValues{.examples = 4}).ok());
  EXPECT_THAT(terminal, HasSubstr("\033[Kepoch 2/4  step 5/10  loss nan  accuracy 0.875  4 examples/s  ETA -\r"));
}

TEST_F(HooksTest, ProgressFitsTheTerminal) {
  for (const int columns : {200, 60, 30, 12, 1}) {
    std::string terminal;
    ASSERT_TRUE(Run({Progress({.max_steps = 4, .columns = [columns] { return columns; }}, &terminal)}, 3).ok());
    for (absl::string_view line : absl::StrSplit(terminal, '\r')) {
      EXPECT_LT(absl::StripPrefix(line, "\033[K").size(), static_cast<size_t>(columns)) << line;
    }
  }
}

TEST(ProgressLineTest, LosesTheLeastImportantFirst) {
  const tandem::Progress p = {.step = 1200,
                              .last_step = 4690,
                              .steps_per_epoch = 938,
                              .loss = 0.4312,
                              .metrics = {{"accuracy", 0.871}, {"top_5", 0.99}},
                              .images_per_second = 10873,
                              .input_wait = 0.12,
                              .seconds_left = 200};
  EXPECT_EQ(ProgressLine(p, 200),
            "epoch 2/5  step 1200/4690  loss 0.4312  accuracy 0.871  top_5 0.99  10873 examples/s  input wait 12 %  "
            "ETA 3:20");
  EXPECT_EQ(ProgressLine(p, 95),
            "epoch 2/5  step 1200/4690  loss 0.4312  accuracy 0.871  top_5 0.99  10873 examples/s  ETA 3:20");
  EXPECT_EQ(ProgressLine(p, 82), "epoch 2/5  step 1200/4690  loss 0.4312  accuracy 0.871  10873 examples/s  ETA 3:20");
  EXPECT_EQ(ProgressLine(p, 70), "epoch 2/5  step 1200/4690  loss 0.4312  10873 examples/s  ETA 3:20");
  EXPECT_EQ(ProgressLine(p, 60), "step 1200/4690  loss 0.4312  10873 examples/s  ETA 3:20");
  EXPECT_EQ(ProgressLine(p, 45), "step 1200/4690  loss 0.4312  ETA 3:20");
  EXPECT_EQ(ProgressLine(p, 30), "step 1200/4690  ETA 3:20");
  EXPECT_EQ(ProgressLine(p, 20), "step 1200/4690");
  EXPECT_EQ(ProgressLine(p, 10), "step 1200/");
}

TEST(ProgressLineTest, AnEpochEndsWithItsLastStep) {
  const auto epoch = [](int64_t step) {
    return ProgressLine({.step = step, .last_step = 20, .steps_per_epoch = 10}, 80).substr(0, 9);
  };
  EXPECT_EQ(epoch(0), "epoch 1/2");
  EXPECT_EQ(epoch(10), "epoch 1/2");
  EXPECT_EQ(epoch(11), "epoch 2/2");
  EXPECT_EQ(epoch(20), "epoch 2/2");
}

TEST(ProgressLineTest, NamesDurations) {
  EXPECT_EQ(DurationText(0), "0:00");
  EXPECT_EQ(DurationText(6.2), "0:07");
  EXPECT_EQ(DurationText(3599), "59:59");
  EXPECT_EQ(DurationText(3900), "1:05:00");
  EXPECT_EQ(DurationText(2 * 86400 + 3 * 3600 + 59), "2 d 3 h");
  EXPECT_FALSE(DurationText(1e300).empty());
}

}  // namespace
}  // namespace tandem
