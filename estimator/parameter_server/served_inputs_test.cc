// What becomes of the workers' inputs when jobs with parameter servers stop and go on, as real processes. The model
// counts how often it was trained with each example, so that the values of a checkpoint say what they hold.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/exit_code.h"
#include "base/logging.h"
#include "base/status_macros.h"
#include "estimator/parameter_server/test_jobs.h"
#include "estimator/train_and_evaluate.h"
#include "graph/ops.h"

namespace tandem {
namespace {

using namespace test;  // NOLINT: this file's vocabulary

constexpr int64_t kExamples = 1200;

// Gradient descent on the sum of w[id] at rate 1, of two variables for two servers: each element becomes minus the
// number of times that its example was used.
EstimatorSpec CountingModel(const Features& features, const Tensor& labels, Mode mode, const Params& params) {
  GraphBuilder* graph = features["id"].graph();
  Tensor a = graph->Variable({.name = "a", .shape = {kExamples, 1}});
  Tensor b = graph->Variable({.name = "b", .shape = {kExamples, 1}});
  Tensor loss = ReduceSum(Gather(a, features["id"])) + ReduceSum(Gather(b, features["id"]));
  if (mode == Mode::kEval) return EstimatorSpec::Eval(loss, {});
  return EstimatorSpec::Train(loss, optimizers::GradientDescent({.learning_rate = 1}).Minimize(loss));
}

// The numbers of examples, shuffled, in batches of 5; for each input its part.
InputFn Numbered(int64_t epochs = 1) {
  return [epochs](const InputContext& context) -> absl::StatusOr<Dataset> {
    std::vector<int32_t> ids(kExamples);
    std::iota(ids.begin(), ids.end(), 0);
    Dataset all = Dataset::FromTensorSlices({{"id", HostTensor::FromVector({kExamples}, ids)}});
    if (context.num_input_pipelines > 1) all = all.Shard(context.num_input_pipelines, context.input_pipeline_id);
    return all.Shuffle(100, {.seed = 3}).Repeat(epochs).Batch(5).Prefetch(2);
  };
}

std::vector<int> UsesIn(const std::string& checkpoint, const std::string& dir, const std::string& name) {
  const auto data = CheckpointManager(Env::Default(), dir).Restore(checkpoint);
  EXPECT_TRUE(data.ok()) << data.status();
  if (!data.ok()) return {};
  const float* w = data->variables.at(name).data<float>();
  std::vector<int> uses;
  for (int64_t i = 0; i < kExamples; ++i) uses.push_back(static_cast<int>(-w[i]));
  return uses;
}

// How often the values of the last checkpoint were trained with each example. All checkpoints hold whole updates. A
// kill may come before the file that names the last one, from which a job goes on all the same.
std::vector<int> Uses(const std::string& dir) {
  const std::vector<std::string> names = CheckpointNames(dir);
  EXPECT_FALSE(names.empty()) << dir;
  std::vector<int> last;
  for (const std::string& name : names) {
    last = UsesIn(dir + "/" + name, dir, "a");
    EXPECT_EQ(last, UsesIn(dir + "/" + name, dir, "b")) << name;
  }
  return last;
}

std::vector<int> AllOf(int uses) { return std::vector<int>(kExamples, uses); }

struct Pace {
  int64_t epochs = 1;
  double seconds = 0.001;    // of the chief's steps at least; those of others are longer
  int64_t term_after = -1;   // steps, after which the chief sends itself SIGTERM
  int64_t stand_after = -1;  // steps, after which a worker stands still until it is killed
};

// Trains with the numbered input, and writes what each worker has used and logged into the model's folder.
Work Counting(const Job& job, const std::string& run, Pace pace = {}) {
  return [=](int task, Estimator& estimator) -> absl::Status {
    LogCapture log;
    SetMinLogSeverity(LogSeverity::kInfo);
    std::ofstream used(absl::StrCat(job.model_dir, "/", run, ".used.", task));
    auto hook = std::make_shared<StepHook>(
        [&, n = int64_t{0}](RunContext& context, const RunValues& values) mutable {
          const HostTensor& ids = values.tensors.at("id");
          for (int64_t i = 0; i < ids.shape()[0]; ++i) used << ids.data<int32_t>()[i] << "\n";
          used.flush();
          ++n;
          if (task == 0 && n == pace.term_after) kill(getpid(), SIGTERM);
          Sleep(n == pace.stand_after ? 60 : pace.seconds * (1 + task));
        },
        std::vector<std::string>{"id"});
    const absl::Status status = estimator.Train(Numbered(pace.epochs), {.hooks = {hook}});
    std::ofstream(absl::StrCat(job.model_dir, "/", run, ".log.", task)) << log.Text();
    return status;
  };
}

// What the workers of a run have used.
std::vector<int> Used(const Job& job, const std::string& run) {
  std::vector<int> uses(kExamples);
  for (int task = 0; task < job.workers; ++task) {
    std::ifstream file(absl::StrCat(job.model_dir, "/", run, ".used.", task));
    for (int id = 0; file >> id;) ++uses[id];
  }
  return uses;
}

std::string LogOf(const Job& job, const std::string& run, int task) {
  return Env::Default()->ReadFile(absl::StrCat(job.model_dir, "/", run, ".log.", task)).value_or("no log");
}

std::vector<int> Plus(std::vector<int> a, const std::vector<int>& b) {
  for (size_t i = 0; i < a.size(); ++i) a[i] += b[i];
  return a;
}

void Copy(const std::string& checkpoint, const Job& job) {
  ASSERT_EQ(system(absl::StrCat("cp -r '", checkpoint, "' '", job.model_dir, "'").c_str()), 0);
}

// Steps of a worker, of 2 epochs' 160 if its input is its own. Where saving takes long, one that is to be killed would
// otherwise come to its end before there are checkpoints enough.
constexpr int64_t kBeforeItsEnd = 100;

// And for some steps behind the last.
void WaitForCheckpoints(const Job& job, size_t count) {
  for (int i = 0; i < 1000 && CheckpointNames(job.model_dir).size() < count; ++i) Sleep(0.02);
  Sleep(0.05);
}

std::function<void(RunConfig*)> Sharing(AutoShard shard) {
  return [shard](RunConfig* config) { config->auto_shard = shard; };
}

std::vector<int> Codes(int chief, int workers, int servers) {
  std::vector<int> codes(3, workers);
  codes[0] = chief;
  codes.resize(5, servers);
  return codes;
}

class ServedInputs : public testing::TestWithParam<AutoShard> {};

TEST_P(ServedInputs, AfterASignalEveryExampleIsUsedOnce) {
  Job job(3, 2, ModelDir());
  EXPECT_EQ(RunJob(job, CountingModel, Counting(job, "first", {.epochs = 2, .term_after = 40}), Sharing(GetParam())),
            Codes(kExitTerminated, kExitTemporary, 0));
  const std::vector<int> held = Uses(job.model_dir);
  EXPECT_EQ(held, Used(job, "first"));
  job.addresses = {FreeAddress(), FreeAddress()};
  EXPECT_EQ(RunJob(job, CountingModel, Counting(job, "second", {.epochs = 2}), Sharing(GetParam())), Codes(0, 0, 0));
  EXPECT_EQ(Uses(job.model_dir), AllOf(2));
  EXPECT_EQ(Plus(held, Used(job, "second")), AllOf(2));
}

TEST_P(ServedInputs, AfterAKillWhatTheCheckpointDoesNotHoldIsUsedAgain) {
  Job job(3, 2, ModelDir());
  {
    Processes tasks(5, [&](int task) {
      const Pace pace{.epochs = 2, .seconds = 0.002, .stand_after = kBeforeItsEnd};
      return RunTask(job, CountingModel, task, Counting(job, "first", pace), Sharing(GetParam()));
    });
    WaitForCheckpoints(job, 3);
    for (int task = 0; task < 5; ++task) tasks.Signal(task, SIGKILL);
    for (int task = 0; task < 5; ++task) EXPECT_EQ(tasks.Wait(task), -SIGKILL);
  }
  const std::vector<int> held = Uses(job.model_dir);
  EXPECT_NE(held, AllOf(0));
  EXPECT_NE(held, AllOf(2));
  job.addresses = {FreeAddress(), FreeAddress()};
  EXPECT_EQ(RunJob(job, CountingModel, Counting(job, "second", {.epochs = 2}), Sharing(GetParam())), Codes(0, 0, 0));
  EXPECT_EQ(Uses(job.model_dir), AllOf(2));
  EXPECT_EQ(Plus(held, Used(job, "second")), AllOf(2));
}

// Steps that are faster than positions can be told with each.
TEST_P(ServedInputs, OfFastSteps) {
  Job job(3, 2, ModelDir());
  const auto change = [&](RunConfig* config) {
    config->auto_shard = GetParam();
    config->save_checkpoints_steps = 200;
    config->keep_checkpoint_max = 100;
  };
  EXPECT_EQ(RunJob(job, CountingModel, Counting(job, "first", {.epochs = 30, .seconds = 0}), change), Codes(0, 0, 0));
  EXPECT_EQ(Uses(job.model_dir), AllOf(30));
  const std::vector<std::string> checkpoints = CheckpointNames(job.model_dir);
  ASSERT_GT(checkpoints.size(), 10);
  for (const std::string& name : {checkpoints[3], checkpoints[6], checkpoints[9]}) {
    const Job again(3, 2, ModelDir(name));
    Copy(job.model_dir + "/" + name, again);
    EXPECT_EQ(RunJob(again, CountingModel, Counting(again, "again", {.epochs = 30, .seconds = 0}), change),
              Codes(0, 0, 0));
    EXPECT_EQ(Uses(again.model_dir), AllOf(30)) << name;
  }
}

// Of a worker that was lost the last position that it has told counts: nothing is left out, and what it did after that
// is done again.
void ExpectAFewAgain(const Job& job) {
  int64_t again = 0;
  for (const int uses : Uses(job.model_dir)) {
    EXPECT_GE(uses, 2);
    again += uses - 2;
  }
  EXPECT_LE(again, 5 * 10);
}

// Of three workers `lost` is killed, and comes back. One server, so that no update is half made.
void LoseAndComeBack(AutoShard sharing, int lost) {
  const Job job(3, 1, ModelDir());
  const auto run = [&](int task, int64_t stand_after = -1) {
    const Pace pace{.epochs = 2, .seconds = 0.002, .stand_after = stand_after};
    return RunTask(job, CountingModel, task, Counting(job, "first", pace), Sharing(sharing));
  };
  Processes server(1, [&](int) { return run(3); });
  Processes workers(3, [&](int task) { return run(task, task == lost ? kBeforeItsEnd : -1); });
  WaitForCheckpoints(job, 3);
  workers.Signal(lost, SIGKILL);
  EXPECT_EQ(workers.Wait(lost), -SIGKILL);
  Processes again(1, [&](int) { return run(lost); });
  EXPECT_EQ(again.Wait(0), 0);
  for (int task = 0; task < 3; ++task) {
    if (task != lost) {
      EXPECT_EQ(workers.Wait(task), 0);
    }
  }
  EXPECT_EQ(server.Wait(0), 0);
  ExpectAFewAgain(job);
}

TEST_P(ServedInputs, AWorkerThatComesBackGoesOnWhereItWas) { LoseAndComeBack(GetParam(), 2); }

TEST_P(ServedInputs, AChiefThatComesBackGoesOnWhereItWas) { LoseAndComeBack(GetParam(), 0); }

INSTANTIATE_TEST_SUITE_P(Sharing, ServedInputs, testing::Values(AutoShard::kBatch, AutoShard::kOff),
                         [](const auto& info) { return std::string(Name(info.param)); });

TEST(ServedInputsOfOthers, FewerWorkersGoOnFromTheEarliest) {
  const Job job(3, 1, ModelDir());
  (void)RunJob(job, CountingModel, Counting(job, "first", {.term_after = 60}));
  const std::vector<int> held = Uses(job.model_dir);
  for (const int workers : {2, 0}) {  // 0: one, without servers
    Job fewer(std::max(workers, 1), workers > 0 ? 1 : 0, ModelDir(absl::StrCat("with", workers)));
    Copy(Latest(job.model_dir), fewer);
    if (workers > 0) {
      EXPECT_EQ(RunJob(fewer, CountingModel, Counting(fewer, "second")), std::vector<int>(3, 0));
    } else {
      const std::vector<int> codes = RunJob(fewer, CountingModel, Counting(fewer, "second"), [](RunConfig* config) {
        config->cluster.reset();
        config->train_distribute = MirroredStrategy({"cpu:0"});
      });
      EXPECT_EQ(codes, std::vector<int>(1, 0));
    }
    const std::vector<int> uses = Uses(fewer.model_dir);
    EXPECT_EQ(Plus(held, Used(fewer, "second")), uses);
    int64_t again = 0;
    for (const int n : uses) {
      EXPECT_GE(n, 1);
      EXPECT_LE(n, 2);
      again += n - 1;
    }
    EXPECT_GT(again, 0);
    EXPECT_LT(again, kExamples / 2);
    EXPECT_NE(LogOf(fewer, "second", 0).find("The checkpoint has the positions of 3 workers in one input"),
              std::string::npos)
        << LogOf(fewer, "second", 0);
  }
}

TEST(ServedInputsOfOthers, FewerInputsOfTheirOwnStartAgain) {
  const Job job(3, 1, ModelDir()), fewer(2, 1, job.model_dir);
  (void)RunJob(job, CountingModel, Counting(job, "first", {.term_after = 60}), Sharing(AutoShard::kOff));
  const std::vector<int> held = Uses(job.model_dir);
  EXPECT_EQ(RunJob(fewer, CountingModel, Counting(fewer, "second"), Sharing(AutoShard::kOff)), std::vector<int>(3, 0));
  EXPECT_EQ(Uses(job.model_dir), Plus(held, AllOf(1)));
  EXPECT_NE(LogOf(fewer, "second", 0)
                .find("The input starts from its beginning: the checkpoint has the positions of 3 workers' own "
                      "inputs, and there are 2 workers"),
            std::string::npos)
      << LogOf(fewer, "second", 0);
}

// As checkpoints of one worker are, and as those of several were.
TEST(ServedInputsOfOthers, AllGoOnFromTheOnePositionOfACheckpoint) {
  const Job one(1, 1, ModelDir()), job(3, 2, one.model_dir);
  EXPECT_EQ(RunJob(one, CountingModel, Counting(one, "first", {.term_after = 60})),
            (std::vector<int>{kExitTerminated, 0}));
  EXPECT_EQ(RunJob(job, CountingModel, Counting(job, "second")), Codes(0, 0, 0));
  EXPECT_EQ(Uses(job.model_dir), AllOf(1));
}

// An input that has ended is not read again as long as others have something left.
TEST(ServedInputsOfOthers, AnInputThatHasEndedWaitsForTheOthers) {
  Job job(3, 2, ModelDir());
  const auto change = Sharing(AutoShard::kOff);
  // The chief is the slowest here: its input has not ended when those of the others have.
  const auto train = [&](int64_t term_after) {
    return [=](int task, Estimator& estimator) -> absl::Status {
      auto hook = std::make_shared<StepHook>([=, n = int64_t{0}](RunContext&, const RunValues&) mutable {
        if (task == 0) Sleep(0.02);
        if (task == 0 && ++n == term_after) kill(getpid(), SIGTERM);
      });
      return estimator.Train(Numbered(), {.hooks = {hook}});
    };
  };
  EXPECT_EQ(RunJob(job, CountingModel, train(60), change), (std::vector<int>{kExitTerminated, 0, 0, 0, 0}));
  const std::vector<int> held = Uses(job.model_dir);
  EXPECT_EQ(std::accumulate(held.begin(), held.end(), 0), 800 + 300);
  job.addresses = {FreeAddress(), FreeAddress()};
  EXPECT_EQ(RunJob(job, CountingModel, train(-1), change), Codes(0, 0, 0));
  EXPECT_EQ(Uses(job.model_dir), AllOf(1));
  // Where nothing is left of any, all start again.
  job.addresses = {FreeAddress(), FreeAddress()};
  EXPECT_EQ(RunJob(job, CountingModel, train(-1), change), Codes(0, 0, 0));
  EXPECT_EQ(Uses(job.model_dir), AllOf(2));
}

// A job whose chief is stopped in the last evaluation: the workers' inputs do not start again.
TEST(ServedInputsOfOthers, AnInterruptedJobKeepsTheEnd) {
  Job job(3, 1, ModelDir());
  const auto run = [&](bool stop) {
    return RunJob(
        job, CountingModel,
        [=](int, Estimator& estimator) -> absl::Status {
          const auto raise = std::make_shared<StepHook>([=](RunContext& context, const RunValues&) {
            if (stop && context.global_step() == kExamples / 5) kill(getpid(), SIGTERM);
          });
          const auto pace = std::make_shared<StepHook>([](RunContext&, const RunValues&) { Sleep(0.002); });
          return TrainAndEvaluate(estimator, {.input_fn = Numbered(), .hooks = {pace}},
                                  {.input_fn = Numbered(), .hooks = {raise}})
              .status();
        },
        [](RunConfig* config) { config->save_checkpoints_steps = 1000; });
  };
  EXPECT_EQ(run(true)[0], kExitTerminated);
  EXPECT_EQ(Uses(job.model_dir), AllOf(1));
  for (const int uses : {1, 2}) {  // and a job that is done is another pass
    job.addresses = {FreeAddress()};
    EXPECT_EQ(run(false), std::vector<int>(4, 0));
    EXPECT_EQ(Uses(job.model_dir), AllOf(uses));
  }
}

}  // namespace
}  // namespace tandem
