// The built-in hooks, driven by a loop of scripted steps and a clock made by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/logging.h"
#include "estimator/fake_steps.h"
#include "estimator/hooks/checkpoint_saver_hook.h"
#include "estimator/hooks/logging_tensor_hook.h"
#include "estimator/hooks/progress_hook.h"
#include "estimator/hooks/step_counter_hook.h"
#include "estimator/hooks/stop_at_step_hook.h"
#include "estimator/run_loop.h"

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
    LoopOptions options{.fetches = {"loss"}, .fetchable = context.fetches()};
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
  std::vector<std::string> Log() const {
    std::vector<std::string> lines;
    for (const LogEntry& e : log_.entries()) lines.push_back(e.message);
    return lines;
  }

  double now_ = 100;
  Clock clock_ = [this] { return now_; };
  ScriptedRunner runner_{{2.5f, 2.25f, 2.0f}};
  std::vector<int64_t> saved_;
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
  auto progress = std::make_shared<ProgressHook>(
      0, [&](absl::string_view text) { terminal += std::string(text); }, clock_);
  ASSERT_TRUE(Run({std::make_shared<StepCounterHook>(2, clock_), progress}, 2, 0, 0.75, 0.25).ok());
  EXPECT_THAT(Log(), ElementsAre("global_step/sec: 1, input wait 25.0 %"));
  EXPECT_THAT(terminal, HasSubstr("step 2  loss 2.2500  4 images/s  input wait 25 %\r"));
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
  auto hook = std::make_shared<ProgressHook>(
      4, [&](absl::string_view text) { terminal += std::string(text); }, clock_);
  ASSERT_TRUE(Run({hook}, 2).ok());
  EXPECT_EQ(terminal, "\033[Kstep 1/4  loss 2.5000  4 images/s\r\033[Kstep 2/4  loss 2.2500  4 images/s\r\033[K");
}

}  // namespace
}  // namespace tandem
