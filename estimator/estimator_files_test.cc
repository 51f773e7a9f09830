// What an Estimator does with its model_dir: who may use it, what may be missing, and what may not be writable.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <functional>

#include "absl/strings/match.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/exit_code.h"
#include "base/fault_injecting_env.h"
#include "base/logging.h"
#include "base/temporary_name.h"
#include "estimator/test_models.h"
#include "estimator/train_and_evaluate.h"
#include "passes/compile/compile.h"

namespace tandem {
namespace {

using test::CheckpointNames;
using test::Config;
using test::LineInput;
using test::LineModel;
using test::LinePoints;
using test::ModelDir;
using test::StepHook;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A program with a `main` of its own keeps its descriptors. First in this file: the process has one thread.
TEST(EstimatorFiles, NoStandardDescriptorIsOpened) {
  const std::string dir = ModelDir();
  const pid_t child = fork();
  if (child == 0) {
    for (int fd : {0, 1, 2}) close(fd);
    const Estimator estimator(LineModel, Config(dir));
    _exit(open((dir + "/file").c_str(), O_WRONLY | O_CREAT, 0600) == 0 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(EstimatorFiles, OneTrainingAtATime) {
  FaultInjectingEnv env(Env::Default());  // does not sleep
  RunConfig config = Config(ModelDir());
  config.env = &env;
  Estimator first(LineModel, config), second(LineModel, config);
  absl::Status refused, together;
  auto meanwhile = std::make_shared<StepHook>([&](RunContext&, const RunValues&) {
    refused = second.Train(LineInput(), {.max_steps = 9});
    together =
        TrainAndEvaluate(second, {.input_fn = LineInput(), .max_steps = 9}, {.input_fn = LineInput(64, 8, 1)}).status();
    EXPECT_TRUE(second.Evaluate(LineInput(64, 8, 1)).ok()) << "readers need no lock";
  });
  ASSERT_EQ(first.Train(LineInput(), {.max_steps = 1, .hooks = {meanwhile}}), absl::OkStatus());
  for (const absl::Status& status : {refused, together}) {
    EXPECT_EQ(ExitCodeFor(status), kExitTemporary) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("is in use: another Estimator of this process "));
  }
  EXPECT_THAT(CheckpointNames(config.model_dir), ElementsAre("model.ckpt-0", "model.ckpt-1"));
  EXPECT_EQ(second.Train(LineInput(), {.max_steps = 2}), absl::OkStatus()) << "the lock is given back";
}

// Waits until the log names what stands still; gives up after a minute.
void StandStillUntilNamed(const LogCapture& log, const std::string& what) {
  for (int i = 0; i < 6000 && !log.Contains(what); ++i) absl::SleepFor(absl::Milliseconds(10));
}

class SlowDisk : public FaultInjectingEnv {
 public:
  explicit SlowDisk(const LogCapture* log) : FaultInjectingEnv(Env::Default()), log_(log) {}
  absl::Status SyncDir(const std::string& dir) override {
    if (absl::StrContains(dir, ".tmp-model.ckpt-4-")) StandStillUntilNamed(*log_, "Saving checkpoint 4 into ");
    if (absl::StrContains(dir, "/exported")) StandStillUntilNamed(*log_, "Exporting the model to ");
    return FaultInjectingEnv::SyncDir(dir);
  }
  absl::StatusOr<std::unique_ptr<RandomAccessFile>> OpenForRead(const std::string& path) override {
    if (absl::EndsWith(path, slow_)) StandStillUntilNamed(*log_, what_);
    return FaultInjectingEnv::OpenForRead(path);
  }
  // Files whose names end so are opened once the log names `what`.
  void SlowToOpen(std::string end, std::string what) {
    slow_ = std::move(end);
    what_ = std::move(what);
  }

 private:
  const LogCapture* const log_;
  std::string slow_ = "nothing", what_;
};

void ExpectNamed(const LogCapture& log, const std::string& what) {
  EXPECT_THAT(log.Text(LogSeverity::kWarning), ::testing::ContainsRegex(what + " has taken [0-9.]+ s so far; still"));
  EXPECT_THAT(log.Text(), ::testing::ContainsRegex(what + " went on after [0-9.]+ s\\."));
}

TEST(EstimatorFiles, WhatStandsStillIsNamed) {
  LogCapture log;
  SlowDisk env(&log);
  RunConfig config = Config(ModelDir());
  config.env = &env;
  config.stall_warning_secs = 0.05;
  std::atomic<int> batches{0};
  auto input = [&](const InputContext&) -> absl::StatusOr<Dataset> {
    StandStillUntilNamed(log, "input_fn of mode train has taken");
    return LinePoints(64).Batch(8).Map([&log, &batches](const Element& batch) -> absl::StatusOr<Element> {
      // The first ones are drawn before the first step.
      if (++batches == 3) StandStillUntilNamed(log, "The input of mode train has taken");
      return batch;
    });
  };
  ASSERT_EQ(Estimator(LineModel, config).Train(input, {.max_steps = 4}), absl::OkStatus());
  for (const std::string& what : {std::string("input_fn of mode train"), std::string("The input of mode train"),
                                  "Saving checkpoint 4 into " + config.model_dir}) {
    ExpectNamed(log, what);
  }
}

TEST(EstimatorFiles, ReadingThatStandsStillIsNamed) {
  RunConfig config = Config(ModelDir());
  ASSERT_EQ(Estimator(LineModel, config).Train(LineInput(), {.max_steps = 4}), absl::OkStatus());
  const std::string checkpoint = config.model_dir + "/model.ckpt-4", folder = "Reading the checkpoints of ";
  config.stall_warning_secs = 0.05;
  const auto expect_named = [&](const std::string& file, const std::string& what,
                                const std::function<absl::Status(Estimator&)>& call) {
    SCOPED_TRACE(what);
    LogCapture log;
    SlowDisk env(&log);
    config.env = &env;
    env.SlowToOpen(file, what);
    Estimator estimator(LineModel, config);
    ASSERT_EQ(call(estimator), absl::OkStatus());
    ExpectNamed(log, what);
  };
  const auto evaluate = [&](std::string path) {
    return [path](Estimator& e) { return e.Evaluate(LineInput(8, 8, 1), {.checkpoint_path = path}).status(); };
  };
  expect_named("/checkpoint", folder + config.model_dir, evaluate(""));
  expect_named("/variables.safetensors", "Reading " + checkpoint, evaluate(checkpoint));
  expect_named("/checkpoint", folder + config.model_dir, [](Estimator& e) { return e.LatestCheckpoint().status(); });
  expect_named("nothing", "Exporting the model to " + config.model_dir + "/exported", [&](Estimator& e) {
    return e.ExportModel(config.model_dir + "/exported", {.input_fn = LineInput(64, 8, 1)}).status();
  });
  config.warm_start_from = WarmStartSettings{.path = checkpoint};
  config.model_dir += "/warm";
  expect_named("/variables.safetensors", "Reading " + checkpoint,
               [](Estimator& e) { return e.Train(LineInput(), {.max_steps = 1}); });
}

TEST(EstimatorFiles, TrainingsWithoutCheckpointsNeedNoLock) {
  RunConfig config = Config(ModelDir());
  config.save_checkpoints_steps = 0;
  Estimator first(LineModel, config), second(LineModel, config);
  auto meanwhile = std::make_shared<StepHook>(
      [&](RunContext&, const RunValues&) { EXPECT_EQ(second.Train(LineInput(), {.max_steps = 1}), absl::OkStatus()); });
  EXPECT_EQ(first.Train(LineInput(), {.max_steps = 1, .hooks = {meanwhile}}), absl::OkStatus());
}

TEST(EstimatorFiles, LeftoversOfDeadRunsGo) {
  Env* env = Env::Default();
  const RunConfig config = Config(ModelDir());
  const std::string& dir = config.model_dir;
  ASSERT_EQ(Estimator(LineModel, config).Train(LineInput(), {.max_steps = 1}), absl::OkStatus());
  for (const char* sub : {"eval", "model.ckpt-1.old-1"}) ASSERT_TRUE(env->CreateDirs(JoinPath(dir, sub)).ok());
  const std::vector<std::string> files = {".tmp-probe-99999999",  // of an earlier version
                                          TemporaryPath(env, "DONE"),
                                          TemporaryPath(env, "eval/metrics.jsonl"),
                                          TemporaryPath(env, "compiled/train-0.tdx"),
                                          TemporaryPath(env, "compiled/kernels/0.tdk"),
                                          "model.ckpt-1.old-1/manifest.json"};
  for (const std::string& file : files) ASSERT_TRUE(env->WriteFile(JoinPath(dir, file), {"x"}).ok());
  ASSERT_EQ(Estimator(LineModel, config).Train(LineInput(), {.max_steps = 2}), absl::OkStatus());
  for (const std::string& file : files) EXPECT_FALSE(env->Exists(JoinPath(dir, file))) << file;
  EXPECT_FALSE(env->Exists(dir + "/model.ckpt-1.old-1"));
}

TEST(EstimatorFiles, AModelDirThatDoesNotExistIsNotEvaluated) {
  const std::string dir = ModelDir() + "/mistyped";
  Estimator estimator(LineModel, Config(dir));
  for (const absl::Status& status :
       {estimator.Evaluate(LineInput(64, 8, 1)).status(),
        estimator.Predict(LineInput(64, 8, 1), [](const NamedTensors&) { return true; })}) {
    EXPECT_EQ(ExitCodeFor(status), kExitMissingInput) << status;
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("model_dir \"" + dir + "\" does not exist; check its name, or train first"));
  }
  EXPECT_FALSE(Env::Default()->Exists(dir));
}

TEST(EstimatorFiles, UntrainedWeightsAreAWarning) {
  LogCapture log;
  Estimator estimator(LineModel, Config(ModelDir()));
  EXPECT_TRUE(estimator.Evaluate(LineInput(64, 8, 1)).ok());
  EXPECT_THAT(log.Text(LogSeverity::kWarning),
              HasSubstr("running initialization to evaluate. The weights are untrained."));
}

TEST(EstimatorFiles, WithoutThePointerAllTakeTheNewestCheckpoint) {
  const RunConfig config = Config(ModelDir());
  float trained = 0;
  auto first_y = [](Estimator& estimator) {
    float y = 0;
    EXPECT_EQ(estimator.Predict(LineInput(8, 8, 1),
                                [&](const NamedTensors& p) { return y = p.at("y").data<float>()[0], false; }),
              absl::OkStatus());
    return y;
  };
  {
    Estimator estimator(LineModel, config);
    ASSERT_EQ(estimator.Train(LineInput(), {.max_steps = 30}), absl::OkStatus());
    trained = first_y(estimator);
  }
  ASSERT_TRUE(Env::Default()->DeleteFile(config.model_dir + "/checkpoint").ok());
  {
    LogCapture log;
    Estimator estimator(LineModel, config);
    EXPECT_EQ(*estimator.LatestCheckpoint(), config.model_dir + "/model.ckpt-30");
    EXPECT_EQ(first_y(estimator), trained);
    EXPECT_EQ(estimator.Evaluate(LineInput(64, 8, 1))->global_step(), 30);
    EXPECT_THAT(log.Text(LogSeverity::kWarning),
                HasSubstr("which names the newest checkpoint, is not there; taking model.ckpt-30"));
  }
  LogCapture log;
  Estimator estimator(LineModel, config);
  EXPECT_EQ(estimator.Train(LineInput(), {.max_steps = 30}), absl::OkStatus());
  EXPECT_THAT(log.Text(LogSeverity::kWarning),
              HasSubstr("which names the newest checkpoint, is not there; taking model.ckpt-30"));
  EXPECT_TRUE(Env::Default()->Exists(config.model_dir + "/checkpoint")) << "training writes it again";
}

TEST(EstimatorFiles, CompiledProgramsThatCannotBeKeptAreAWarning) {
  RunConfig config = Config(ModelDir());
  ASSERT_EQ(Estimator(LineModel, config).Train(LineInput(), {.max_steps = 1}), absl::OkStatus());
  // A file in the way stops everybody, root included.
  ASSERT_TRUE(Env::Default()->DeleteRecursively(config.model_dir + "/compiled").ok());
  ASSERT_TRUE(Env::Default()->WriteFile(config.model_dir + "/compiled", {"x"}).ok());
  LogCapture log;
  Estimator estimator(LineModel, config);
  auto result = estimator.Evaluate(LineInput(64, 8, 1));
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->global_step(), 1);
  EXPECT_THAT(log.Text(LogSeverity::kWarning), HasSubstr("the compiled program is not kept"));
  config.compile_only = true;
  const absl::Status status = Estimator(LineModel, config).Evaluate(LineInput(64, 8, 1)).status();
  EXPECT_FALSE(status.ok()) << "here it is all that was asked for";
  EXPECT_THAT(std::string(status.message()), HasSubstr("/compiled"));
}

TEST(EstimatorFiles, AProgramThatOthersCanWriteIsCompiledAgain) {
  const RunConfig config = Config(ModelDir());
  ASSERT_EQ(Estimator(LineModel, config).Train(LineInput(), {.max_steps = 1}), absl::OkStatus());
  std::string program;
  const auto names = Env::Default()->ListDir(config.model_dir + "/compiled");
  ASSERT_TRUE(names.ok()) << names.status();
  for (const std::string& name : *names) {
    if (name.starts_with("train-")) program = config.model_dir + "/compiled/" + name;
  }
  ASSERT_EQ(chmod(program.c_str(), 0666), 0);
  LogCapture log;
  ASSERT_EQ(Estimator(LineModel, config).Train(LineInput(), {.max_steps = 2}), absl::OkStatus());
  EXPECT_THAT(log.Text(LogSeverity::kWarning), HasSubstr(program + ": holds code that would run as this user"));
  struct stat info;
  ASSERT_EQ(stat(program.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0022, 0) << "it was written anew";
}

// A directory that is made for each run keeps nothing for the next one; the user's cache does.
TEST(EstimatorFiles, WithoutAModelDirTheSecondStartIsWarm) {
  const std::string cache = ModelDir("cache");
  setenv("XDG_CACHE_HOME", cache.c_str(), 1);
  RunConfig config;
  config.save_checkpoints_steps = 0;
  config.save_summary_steps = 0;  // which are put beside compiled programs
  config.threads = 2;
  for (const int64_t compiled : {1, 0}) {
    const int64_t before = CompileCount();
    Estimator estimator(LineModel, config);
    ASSERT_EQ(estimator.Train(LineInput(), {.steps = 1}), absl::OkStatus());
    EXPECT_EQ(CompileCount() - before, compiled);
    EXPECT_FALSE(Env::Default()->Exists(estimator.model_dir() + "/compiled"));
  }
  EXPECT_TRUE(Env::Default()->Exists(cache + "/tandem/compiled"));
  unsetenv("XDG_CACHE_HOME");
  unsetenv("HOME");
  Estimator estimator(LineModel, config);
  ASSERT_EQ(estimator.Train(LineInput(), {.steps = 1}), absl::OkStatus());
  EXPECT_TRUE(Env::Default()->Exists(estimator.model_dir() + "/compiled"));
}

}  // namespace
}  // namespace tandem
