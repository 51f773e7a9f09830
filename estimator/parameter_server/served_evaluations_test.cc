// TrainAndEvaluate with several evaluations in jobs with parameter servers, as real processes: the chief evaluates, or
// a task of type evaluator. The loss of one evaluation falls while that of the other rises, so that what goes by one
// cannot have gone by the other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "estimator/checkpoint/done_marker.h"
#include "estimator/early_stopping.h"
#include "estimator/evaluation/eval_log.h"
#include "estimator/parameter_server/test_jobs.h"
#include "estimator/train_and_evaluate.h"

namespace tandem {
namespace {

using namespace test;  // NOLINT: this file's vocabulary
using ::testing::ElementsAre;
using ::testing::StartsWith;

// Between the losses of "mirrored" at the first checkpoints and the one that it ends at (11.8).
constexpr double kHighLoss = 9;

// LineModel at a rate at which there are several checkpoints before "mirrored" has a high loss.
EstimatorSpec SlowLineModel(const Features& features, const Tensor& labels, Mode mode, const Params&) {
  return LineModel(features, labels, mode, {{"learning_rate", 0.02}});
}

// All the points that are trained, whose loss falls.
EvalSpec Line() {
  return {.input_fn = LineInput(61, 8, /*epochs=*/1), .name = "line", .start_delay_secs = 0, .throttle_secs = 0};
}

// Points with labels of the other sign, whose loss rises, in three steps.
EvalSpec Mirrored() {
  const InputFn input = [](const InputContext&) -> absl::StatusOr<Dataset> {
    return LinePoints(61, /*factor=*/-1).Batch(8);
  };
  return {.input_fn = input, .steps = 3, .name = "mirrored", .start_delay_secs = 0, .throttle_secs = 0};
}

// The recorded losses by step.
std::map<int64_t, double> Losses(const std::string& dir, const std::string& name) {
  std::map<int64_t, double> losses;
  const auto history = ReadEvalHistory(Env::Default(), EvalDir(dir, name));
  EXPECT_TRUE(history.ok()) << history.status();
  if (!history.ok()) return losses;
  for (const auto& [step, result] : history->results) losses[step] = result["loss"];
  return losses;
}

int64_t StepOfTheLeast(const std::map<int64_t, double>& losses) {
  return std::min_element(losses.begin(), losses.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

// Lets the chief wait until both evaluations of a checkpoint are recorded, so that the evaluator sees every one.
class WaitForEvaluator : public CheckpointSaverListener {
 public:
  explicit WaitForEvaluator(std::string dir) : dir_(std::move(dir)) {}
  absl::StatusOr<bool> AfterSave(int64_t step) override {
    for (int i = 0; i < 3000; ++i) {
      if (Losses(dir_, "line").contains(step) && Losses(dir_, "mirrored").contains(step)) return false;
      Sleep(0.02);
    }
    return absl::DeadlineExceededError(absl::StrCat("the checkpoint of step ", step, " has not been evaluated"));
  }

 private:
  const std::string dir_;
};

// The parameter: whether there is an evaluator.
class ServedEvaluations : public testing::TestWithParam<bool> {
 protected:
  using Change = std::function<void(RunConfig*)>;
  using MakeHook = std::function<std::shared_ptr<SessionRunHook>(const Estimator&)>;

  // Runs a job of a chief, a worker and two servers that saves every 20 steps. The worker is slow, so that it makes few
  // of them while the chief evaluates.
  void Run(int64_t max_steps, const Change& change, const MakeHook& make_hook = nullptr) {
    Job job(2, 2, dir_);
    job.evaluator = GetParam();
    const int evaluates = job.evaluator ? job.tasks() - 1 : 0;
    const Work work = [&](int task, Estimator& estimator) -> absl::Status {
      TrainSpec train{.input_fn = LineInput(61, 8), .max_steps = max_steps};
      if (make_hook) train.hooks.push_back(make_hook(estimator));
      if (task == 1) {
        train.hooks.push_back(std::make_shared<StepHook>([](RunContext&, const RunValues&) { Sleep(0.01); }));
      }
      if (job.evaluator) train.saving_listeners = {std::make_shared<WaitForEvaluator>(dir_)};
      TD_ASSIGN_OR_RETURN(const EvalResults results,
                          TrainAndEvaluate(estimator, train, std::vector<EvalSpec>{Line(), Mirrored()}));
      if (task != evaluates) return results.empty() ? absl::OkStatus() : absl::InternalError("evaluated elsewhere");
      if (results.size() != 2) return absl::InternalError(absl::StrCat("there are ", results.size(), " results"));
      const int64_t line = results.at("line").global_step(), mirrored = results.at("mirrored").global_step();
      return line == mirrored ? absl::OkStatus() : absl::InternalError(absl::StrCat("of ", line, " and ", mirrored));
    };
    EXPECT_EQ(RunJob(job, SlowLineModel, work, change), std::vector<int>(job.tasks(), 0));
  }

  // Without an evaluator the values that a training starts with are not evaluated.
  bool IsEvaluated(int64_t step) const { return GetParam() || step > 0; }

  DoneMarker Done() const {
    const auto done = ReadDoneMarker(Env::Default(), dir_);
    EXPECT_TRUE(done.ok() && done->has_value()) << done.status();
    return done.ok() && done->has_value() ? **done : DoneMarker();
  }

  const std::string dir_ = ModelDir();
};

TEST_P(ServedEvaluations, EachIsThatOfACallOfItsOwnAndARestartGoesOn) {
  const auto keep_all = [](RunConfig* config) { config->keep_checkpoint_max = 0; };
  Run(50, keep_all);
  const int64_t first = Done().final_step;
  Run(110, keep_all);
  EXPECT_GE(Done().final_step, 110);
  std::vector<int64_t> evaluated;
  for (const std::string& name : CheckpointNames(dir_)) {
    int64_t step = 0;
    ASSERT_TRUE(absl::SimpleAtoi(name.substr(name.find('-') + 1), &step)) << name;
    if (!IsEvaluated(step)) continue;
    evaluated.push_back(step);
    for (const EvalSpec& spec : {Line(), Mirrored()}) {
      Estimator alone(SlowLineModel, Config(dir_));
      const auto result =
          alone.Evaluate(spec.input_fn, {.steps = spec.steps, .checkpoint_path = dir_ + "/" + name, .name = "alone"});
      ASSERT_TRUE(result.ok()) << result.status();
      const auto recorded =
          FindEvalResult(Env::Default(), EvalDir(dir_, spec.name), step, {.steps = spec.steps, .job = true});
      ASSERT_TRUE(recorded.ok() && recorded->has_value()) << spec.name << " " << step;
      EXPECT_EQ((*recorded)->metrics, result->metrics) << spec.name << " " << step;
    }
  }
  EXPECT_GE(evaluated.size(), 4);
  EXPECT_NE(std::find(evaluated.begin(), evaluated.end(), first), evaluated.end()) << first;
  for (const char* name : {"line", "mirrored"}) {
    std::vector<int64_t> steps;
    for (const auto& [step, loss] : Losses(dir_, name)) steps.push_back(step);
    EXPECT_EQ(steps, evaluated) << name;
  }
  EXPECT_FALSE(Env::Default()->Exists(EvalDir(dir_, "")));
}

TEST_P(ServedEvaluations, KeepBestGoesByTheNamedOne) {
  const auto keep_best = [](RunConfig* config) {
    config->keep_checkpoint_max = 1;
    config->keep_best = KeepBest{.evaluation = "mirrored"};
  };
  Run(70, keep_best);
  Run(130, keep_best);
  const int64_t best = StepOfTheLeast(Losses(dir_, "mirrored"));
  EXPECT_LT(best, StepOfTheLeast(Losses(dir_, "line")));
  const std::string kept = absl::StrCat("model.ckpt-", best);
  EXPECT_THAT(CheckpointNames(dir_), ElementsAre(kept, absl::StrCat("model.ckpt-", Done().final_step)));
  RunConfig config = Config(dir_);
  keep_best(&config);
  const auto record = Estimator(SlowLineModel, config).best("mirrored");
  ASSERT_TRUE(record.has_value());
  EXPECT_EQ(record->global_step, best);
  EXPECT_EQ(record->checkpoint, dir_ + "/" + kept);
}

TEST_P(ServedEvaluations, EarlyStoppingGoesByTheNamedOne) {
  const auto keep_all = [](RunConfig* config) { config->keep_checkpoint_max = 0; };
  const auto stop = [](const Estimator& estimator) {
    return StopIfHigher(estimator, "loss", kHighLoss, {.evaluation = "mirrored", .run_every_steps = 1});
  };
  Run(100000, keep_all, stop);
  const DoneMarker done = Done();
  EXPECT_THAT(done.reason, StartsWith("early stopping: \"loss\" is "));
  const auto is_high = [](const auto& entry) { return entry.second > kHighLoss; };
  const std::map<int64_t, double> mirrored = Losses(dir_, "mirrored"), line = Losses(dir_, "line");
  // The one that it stops at, and that of the steps that workers were in.
  const auto high = std::count_if(mirrored.begin(), mirrored.end(), is_high);
  EXPECT_TRUE(high == 1 || high == 2) << high;
  EXPECT_GT(mirrored.size(), high);
  EXPECT_GT(mirrored.at(done.final_step), kHighLoss);
  EXPECT_TRUE(std::none_of(line.begin(), line.end(), is_high));
  if (GetParam()) return;  // an evaluator that finds this DONE waits first
  // Started again, no worker makes a step.
  Run(100000, keep_all, stop);
  EXPECT_EQ(Done().reason, done.reason);
  EXPECT_EQ(Done().final_step, done.final_step);
}

INSTANTIATE_TEST_SUITE_P(By, ServedEvaluations, testing::Bool(),
                         [](const auto& info) { return info.param ? "AnEvaluator" : "TheChief"; });

}  // namespace
}  // namespace tandem
