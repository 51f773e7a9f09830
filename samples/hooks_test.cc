// The hooks and inputs of the samples.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "estimator/loop/fake_steps.h"
#include "estimator/loop/run_loop.h"
#include "samples/fashion_input.h"
#include "samples/loss_log.h"
#include "samples/time_history.h"
#include "tandem/base/env.h"
#include "tandem/base/exit_code.h"
#include "tandem/base/logging.h"

namespace tandem {
namespace {

using ::testing::HasSubstr;

absl::Status Train(std::shared_ptr<SessionRunHook> hook, ScriptedRunner* runner, int64_t rounds, int64_t start = 0) {
  CountedSource source(rounds);
  HookContext context(Mode::kTrain, "", 2, 64);
  if (absl::Status s = BeginHooks({hook}, context); !s.ok()) return s;
  return RunLoop(*runner, source, {hook}, {.fetches = {"loss"}, .fetchable = {"loss"}}, &start).status();
}

TEST(TimeHistory, CountsTheGlobalBatchAndSkipsTheFirstStep) {
  LogCapture log;
  double now = 0;
  auto hook = std::make_shared<TimeHistory>([&now] { return now; });
  EXPECT_EQ(hook->images_per_second(), 0);
  ScriptedRunner runner;
  int64_t step = 0;
  runner.on_run = [&] { now += step++ == 0 ? 10 : 0.5; };
  ASSERT_TRUE(Train(hook, &runner, 5).ok());
  EXPECT_EQ(hook->images_per_second(), 256);
  EXPECT_TRUE(log.Contains("images/second: 256.0"));
}

TEST(TimeHistory, SaysOnceWhenTheFirstStepWasDone) {
  LogCapture log;
  auto hook = std::make_shared<TimeHistory>();
  ScriptedRunner runner;
  ASSERT_TRUE(Train(hook, &runner, 2).ok());
  ASSERT_TRUE(Train(hook, &runner, 2).ok());
  int found = 0;
  for (const LogEntry& entry : log.entries()) {
    if (entry.message.find("s after the process started") == std::string::npos) continue;
    ++found;
    EXPECT_EQ(entry.message.find("first step done "), 0u);
  }
  EXPECT_EQ(found, 1);
}

TEST(LossLog, WritesEveryStepAndContinuesAfterAResume) {
  const std::string path = ::testing::TempDir() + "/loss.jsonl";
  ScriptedRunner first({2.30405998f, 1.5f, 1.25f});
  ASSERT_TRUE(Train(std::make_shared<LossLog>(path), &first, 3).ok());
  EXPECT_EQ(*Env::Default()->ReadFile(path),
            "{\"step\": 0, \"loss\": 2.30405998}\n{\"step\": 1, \"loss\": 1.5}\n{\"step\": 2, \"loss\": 1.25}\n");
  // A run that starts again at step 1 replaces what came after it.
  ScriptedRunner second({0.5f});
  ASSERT_TRUE(Train(std::make_shared<LossLog>(path), &second, 1, 1).ok());
  EXPECT_EQ(*Env::Default()->ReadFile(path), "{\"step\": 0, \"loss\": 2.30405998}\n{\"step\": 1, \"loss\": 0.5}\n");
  ScriptedRunner third({0.5f});
  ASSERT_TRUE(Train(std::make_shared<LossLog>(path), &third, 1).ok());
  EXPECT_EQ(*Env::Default()->ReadFile(path), "{\"step\": 0, \"loss\": 0.5}\n");
}

TEST(LossLog, ALossThatIsNotFiniteIsJsonToo) {
  const std::string path = ::testing::TempDir() + "/loss_not_finite.jsonl";
  ScriptedRunner runner({-INFINITY});
  ASSERT_TRUE(Train(std::make_shared<LossLog>(path), &runner, 1).ok());
  EXPECT_EQ(*Env::Default()->ReadFile(path), "{\"step\": 0, \"loss\": \"-Infinity\"}\n");
}

TEST(LossLog, APathThatCannotBeWrittenIsAnIoError) {
  ScriptedRunner runner;
  const absl::Status status = Train(std::make_shared<LossLog>("/nowhere/loss.jsonl"), &runner, 1);
  EXPECT_EQ(ExitCodeFor(status), kExitIo);
  EXPECT_THAT(std::string(status.message()), HasSubstr("/nowhere/loss.jsonl"));
}

TEST(FashionInput, CountsSteps) {
  EXPECT_EQ(StepsForEpochs(60000, 5, 64, 2), 2344);
  EXPECT_EQ(StepsForEpochs(60000, 1, 64, 1), 938);
  EXPECT_EQ(StepsForEpochs(10, 1, 10, 2), 1);
}

TEST(FashionInput, ParsesEvalExamples) {
  EXPECT_EQ(ParseEvalExamples("test")->count, -1);
  EXPECT_EQ(ParseEvalExamples("train:1000")->count, 1000);
  EXPECT_TRUE(ParseEvalExamples("train:1000")->split == FashionMnistSplit::kTrain);
  for (const char* bad : {"", "train", "train:", "train:0", "train:x", "valid"}) {
    EXPECT_EQ(ExitCodeFor(ParseEvalExamples(bad).status()), kExitUsage) << bad;
  }
}

TEST(FashionInput, YieldsImagesAndOneHotLabels) {
  auto input = std::make_shared<FashionInput>(kFashionMnistDir, FashionMnistSplit::kTest, /*one_hot=*/true);
  auto dataset = EvalInputFn(input, 64, 100)(InputContext());
  ASSERT_TRUE(dataset.ok()) << dataset.status();
  EXPECT_EQ(SpecString(dataset->spec()), "image:float32[b,28,28,1], label:float32[b,10]");
  EXPECT_EQ(dataset->cardinality(), 2);
  EXPECT_EQ(dataset->batch_size(), 64);
  const LabelledImages raw = *LoadFashionMnistSplit(FashionMnistSplit::kTest);
  auto iterator = *dataset->MakeIterator();
  for (const int64_t first : {0, 64}) {
    Element batch;
    bool end = true;
    ASSERT_TRUE(iterator->GetNext(&batch, &end).ok());
    ASSERT_FALSE(end);
    ASSERT_TRUE(CheckElement(dataset->spec(), batch).ok());
    for (int64_t row = 0; row < batch.components[0].shape()[0]; ++row) {
      for (int64_t pixel = 0; pixel < 28 * 28; ++pixel) {
        ASSERT_EQ(batch.components[0].data<float>()[row * 28 * 28 + pixel],
                  static_cast<float>(raw.images.data<uint8_t>()[(first + row) * 28 * 28 + pixel]) / 255.0f);
      }
      EXPECT_EQ(batch.components[1].data<float>()[row * 10 + raw.labels.data<uint8_t>()[first + row]], 1.0f);
    }
  }
  EXPECT_FALSE(EvalInputFn(input, 64, 10001)(InputContext()).ok());
  const absl::Status status = TrainInputFn(input, {.batch_size = 10001})(InputContext()).status();
  EXPECT_THAT(std::string(status.message()), HasSubstr("batch size 10001 is larger than the 10000 training examples"));
  EXPECT_EQ(ExitCodeFor(status), kExitUsage);
}

}  // namespace
}  // namespace tandem
