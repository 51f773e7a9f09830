// The sample programs as a user starts them: output, files and exit codes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/match.h"
#include "tandem/base/env.h"
#include "tandem/data/fashion_mnist.h"
#include "tandem/estimator/evaluation/eval_result.h"

namespace tandem {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct RunResult {
  int exit_code = -1;
  std::string output;  // stdout and stderr
};

RunResult RunCommand(const std::string& command) {
  RunResult result;
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return result;
  char buffer[4096];
  for (size_t n; (n = fread(buffer, 1, sizeof(buffer), pipe)) > 0;) result.output.append(buffer, n);
  const int status = pclose(pipe);
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

// Runs `samples/PROGRAM ARGUMENTS` through the shell.
RunResult RunProgram(const std::string& program, const std::string& arguments) {
  return RunCommand("samples/" + program + " " + arguments);
}

std::string Temp(const std::string& name) { return ::testing::TempDir() + "/" + name; }

// The whole way of a replay: flags, the step, an end with success; and a comparison with a run of another rate.
TEST(CommandLine, AStepIsMadeAgainAndRunsAreCompared) {
  const std::string a = Temp("replayed"), b = Temp("compared"), file = Temp("step.npz");
  const std::string run = "--devices=cpu:0 --epochs=1 --model_dir=";
  ASSERT_EQ(RunProgram("linear_estimator", run + a).exit_code, 0);
  ASSERT_EQ(RunProgram("linear_estimator", run + b + " --learning_rate=0.1").exit_code, 0);
  const RunResult replay =
      RunProgram("linear_estimator", run + a + " --replay_step=17 --fetch=dense/kernel@gradient --replay_out=" + file);
  EXPECT_EQ(replay.exit_code, 0) << replay.output;
  EXPECT_THAT(replay.output, HasSubstr("Step 17 of " + a + ", from model.ckpt-0: 18 steps in "));
  EXPECT_THAT(replay.output, HasSubstr("all have the bits of the run's record."));
  EXPECT_THAT(replay.output, HasSubstr("dense/kernel@gradient  float32 [1,1]"));
  EXPECT_THAT(replay.output, HasSubstr(file + ": 2 arrays"));

  const RunResult other = RunProgram("linear_estimator", run + a + " --replay_step=17 --learning_rate=0.1");
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_THAT(other.output, HasSubstr("learning_rate is 0.2"));
  EXPECT_EQ(RunProgram("linear_estimator", run + a + " --replay_step=1000").exit_code, 2);
  EXPECT_EQ(RunProgram("linear_estimator", run + a + " --replay_step=x").exit_code, 2);
  EXPECT_EQ(RunProgram("linear_estimator", run + a + " --fetch=loss").exit_code, 2);
  // A program that ends without the step.
  const RunResult none = RunProgram("fashion_mnist", "--model_dir=" + a + " --max_steps=10 --replay_step=17");
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.output, HasSubstr("none of its calls of Train and TrainAndEvaluate makes this step"));

  const RunResult compared = RunCommand("tools/tandem-compare " + a + " " + b);
  EXPECT_EQ(compared.exit_code, 1);
  EXPECT_THAT(compared.output, HasSubstr("Step 0 is the first that differs"));
  EXPECT_THAT(compared.output, HasSubstr("learning_rate is 0.2"));
  EXPECT_EQ(RunCommand("tools/tandem-compare " + a + " " + a).exit_code, 0);
  EXPECT_EQ(RunCommand("tools/tandem-compare " + a).exit_code, 2);
}

TEST(CommandLine, HelpExplainsEveryFlag) {
  for (const char* program :
       {"fashion_mnist", "mnist_estimator", "linear_estimator", "classify_pictures", "horovod_mnist"}) {
    EXPECT_EQ(RunProgram(program, "--help").exit_code, 0) << program;
  }
  const RunResult help = RunProgram("fashion_mnist", "--help");
  for (const char* flag :
       {"--data_dir", "--train_records", "--model_dir", "--devices", "--batch_size", "--epochs", "--max_steps",
        "--shuffle_buffer", "--optimizer", "--learning_rate", "--save_checkpoints_steps", "--dropout", "--init_from",
        "--loss_log", "--eval_json", "--eval_examples", "--threads", "--seed", "--model"}) {
    EXPECT_THAT(help.output, HasSubstr(std::string(flag) + "\n"));
  }
}

// A process that loads them starts some 30 ms later: see third_party/program.bzl.
TEST(CommandLine, SamplesHaveTheCompilerLinkedIn) {
  for (const char* program : {"fashion_mnist", "mnist_estimator", "linear_estimator"}) {
    const RunResult libraries = RunCommand(std::string("ldd samples/") + program);
    EXPECT_EQ(libraries.exit_code, 0);
    if (absl::StrContains(libraries.output, "san.so")) GTEST_SKIP() << "built for a sanitizer, with shared libraries";
    EXPECT_THAT(libraries.output, HasSubstr("libdnnl"));
    EXPECT_THAT(libraries.output, Not(HasSubstr("libLLVM"))) << program;
    EXPECT_THAT(libraries.output, Not(HasSubstr("libMLIR"))) << program;
  }
}

TEST(CommandLine, MistakesAreUsageErrors) {
  const RunResult typo = RunProgram("fashion_mnist", "--epoch=1");
  EXPECT_EQ(typo.exit_code, 2);
  EXPECT_THAT(typo.output, HasSubstr("unknown flag --epoch; did you mean --epochs?"));
  for (const char* arguments : {"--epochs=x",
                                "--model=vgg",
                                "--devices=cpu:0,gpu:0",
                                "--target=cuda:sm_90",
                                "--target=vax",
                                "--optimizer=lamb",
                                "--devices=gpu:0",
                                "--devices=cpu:0,cpu:0",
                                "--batch_size=0",
                                "--eval_examples=some",
                                "--threads=-1",
                                "--batch_size=100000",
                                "--train_records=/nowhere/*",
                                "--seed",
                                "--learning_rate=-1",
                                "--learning_rate=nan",
                                "--shuffle_buffer=-5",
                                "--max_steps=-1",
                                "--save_checkpoints_steps=-1",
                                "--eval_every_steps=-1",
                                "--eval_every_epochs=-1",
                                "--stop_if_no_decrease=-1",
                                "--eval_every_steps=5 --eval_every_epochs=1",
                                "--eval_throttle_secs=-1",
                                "--dropout=1.5",
                                "--dropout=-0.5",
                                "--eval_json=/nowhere/eval.json",
                                "--trace=/nowhere/trace.json",
                                "--loss_log=/nowhere/log",
                                "--eval_json=/",
                                "--trace=/"}) {
    const RunResult result = RunProgram("fashion_mnist", std::string("--model_dir=") + Temp("usage") + " " + arguments);
    EXPECT_EQ(result.exit_code, 2) << arguments << "\n" << result.output;
  }
}

// Found before the data are read, not when training is over.
TEST(CommandLine, AnOutputThatCannotBeWrittenIsFoundAtOnce) {
  for (const char* flag : {"--eval_json", "--trace", "--loss_log"}) {
    const RunResult result = RunProgram(
        "fashion_mnist", std::string(flag) + "=/nowhere/file --data_dir=/nowhere " + "--model_dir=" + Temp("outputs"));
    EXPECT_EQ(result.exit_code, 2) << result.output;
    EXPECT_THAT(result.output, HasSubstr(std::string(flag) + " /nowhere/file: there is no folder /nowhere"));
  }
}

// Every write to it fails: the disk is full.
TEST(CommandLine, ATraceThatCannotBeWrittenIsAnError) {
  const RunResult result =
      RunProgram("linear_estimator", "--trace=/dev/full --trace_steps=1-3 --model_dir=" + Temp("full_trace"));
  EXPECT_EQ(result.exit_code, 74) << result.output;
  EXPECT_THAT(result.output, HasSubstr("The trace could not be written: /dev/full"));
  EXPECT_THAT(result.output, HasSubstr("Loss for final step"));
}

TEST(CommandLine, MissingAndDamagedDataHaveTheirOwnExitCodes) {
  const RunResult missing = RunProgram("fashion_mnist", "--data_dir=/nowhere --model_dir=" + Temp("missing"));
  EXPECT_EQ(missing.exit_code, 66);
  EXPECT_THAT(missing.output, HasSubstr("/nowhere/train-images-idx3-ubyte"));
  const std::string data = Temp("damaged_data");
  ASSERT_TRUE(Env::Default()->CreateDirs(data).ok());
  for (const char* name : {"/train-images-idx3-ubyte", "/train-labels-idx1-ubyte"}) {
    ASSERT_TRUE(Env::Default()->WriteFile(data + name, {"no idx file"}).ok());
  }
  const RunResult damaged = RunProgram("fashion_mnist", "--data_dir=" + data + " --model_dir=" + Temp("damaged"));
  EXPECT_EQ(damaged.exit_code, 65) << damaged.output;
}

TEST(CommandLine, AModelDirThatCannotBeWrittenIsAnIoError) {
  const std::string file = Temp("in_the_way");
  ASSERT_TRUE(Env::Default()->WriteFile(file, {"x"}).ok());
  const RunResult result = RunProgram("fashion_mnist", "--max_steps=1 --model_dir=" + file + "/model");
  EXPECT_EQ(result.exit_code, 74) << result.output;
  EXPECT_THAT(result.output, HasSubstr("cannot be written"));
}

TEST(CommandLine, FashionMnistTrainsAndResumes) {
  const std::string dir = Temp("fashion");
  const std::string flags =
      "--threads=2 --batch_size=32 --shuffle_buffer=0 --eval_examples=train:100 --loss_log=" + Temp("loss") +
      " --eval_json=" + Temp("eval") + " --model_dir=" + dir;
  const RunResult first = RunProgram("fashion_mnist", flags + " --max_steps=3");
  ASSERT_EQ(first.exit_code, 0) << first.output;
  EXPECT_THAT(first.output, HasSubstr("batch 32 x 2 replicas x 1 worker = 64"));
  EXPECT_THAT(first.output, HasSubstr("total 93322 parameters"));
  EXPECT_THAT(first.output, HasSubstr("images/second: "));
  const RunResult second = RunProgram("fashion_mnist", flags + " --max_steps=5");
  ASSERT_EQ(second.exit_code, 0) << second.output;
  auto result = EvalResult::FromJson(*Env::Default()->ReadFile(Temp("eval")));
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->global_step(), 5);
  EXPECT_TRUE(result->Has("accuracy") && result->Has("loss"));
  const std::string log = *Env::Default()->ReadFile(Temp("loss"));
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 5) << log;
}

// Lines that users of tf.estimator look for.
TEST(CommandLine, AShortRunEvaluatesOnceAndSaysWhatItDoes) {
  const RunResult run =
      RunProgram("fashion_mnist",
                 "--max_steps=3 --batch_size=8 --save_checkpoints_steps=1 --shuffle_buffer=0 --threads=2 "
                 "--eval_examples=train:16 --eval_every_steps=100 --model_dir=" +
                     Temp("short"));
  EXPECT_EQ(run.exit_code, 0) << run.output;
  for (const char* line : {"Initializing RunConfig with distribution strategies.", "Not using Distribute Coordinator.",
                           "Using config: {", "Running training and evaluation locally (non-distributed).",
                           "Start train and evaluate loop. The evaluate will happen every 100 steps.",
                           "The `input_fn` accepts an `input_context` which will be given by DistributionStrategy",
                           "Calling model_fn.", "Done calling model_fn.", "Create CheckpointSaverHook.",
                           "Graph was finalized.", "Saving checkpoints for 0 into ",
                           "loss = ", "Starting evaluation at ", "Inference Time : ", "Finished evaluation at ",
                           "Saving dict for global step 3: accuracy = ", "Loss for final step: "}) {
    EXPECT_THAT(run.output, HasSubstr(line));
  }
  EXPECT_THAT(run.output, testing::Not(HasSubstr("checkpoint listeners")));  // there are none
  const size_t first = run.output.find("Starting evaluation at ");
  EXPECT_EQ(run.output.find("Starting evaluation at ", first + 1), std::string::npos) << run.output;
}

TEST(CommandLine, TrainingOnRecordsIsTrainingOnTheImages) {
  const std::string records = Temp("train.tfrecord.gz"), data = kFashionMnistDir;
  const RunResult written =
      RunCommand("tools/tandem-records write --compression=gzip --images=" + data + "/train-images-idx3-ubyte.gz " +
                 "--labels=" + data + "/train-labels-idx1-ubyte.gz " + records);
  ASSERT_EQ(written.exit_code, 0) << written.output;
  const std::string flags = "--max_steps=3 --batch_size=16 --shuffle_buffer=100 --threads=2 --eval_examples=train:16";
  for (const std::string name : {"from_images", "from_records"}) {
    const RunResult result =
        RunProgram("fashion_mnist", flags + " --model_dir=" + Temp(name) + " --loss_log=" + Temp(name + ".log") +
                                        (name == "from_records" ? " --train_records=" + records : ""));
    ASSERT_EQ(result.exit_code, 0) << result.output;
  }
  EXPECT_EQ(*Env::Default()->ReadFile(Temp("from_records.log")), *Env::Default()->ReadFile(Temp("from_images.log")));
}

// Through bash, with the programs' folder as $B and the model_dir as $M.
RunResult RunScript(const std::string& script, const std::string& model_dir) {
  return RunCommand("B=samples M=" + model_dir + " bash -c '" + script + "'");
}

TEST(CommandLine, StandardOutputThatCannotBeWrittenIsAnIoError) {
  const RunResult full = RunScript("$B/linear_estimator --model_dir=$M > /dev/full", Temp("full"));
  EXPECT_EQ(full.exit_code, 74) << full.output;
  EXPECT_THAT(full.output, HasSubstr("linear_estimator: standard output: "));
  EXPECT_EQ(RunScript("$B/linear_estimator --help > /dev/full", Temp("full")).exit_code, 74);
}

TEST(CommandLine, AReaderOfTheLogMayGoAway) {
  const std::string dir = Temp("head");
  const RunResult head = RunScript("$B/linear_estimator --model_dir=$M 2>&1 | head -3; exit ${PIPESTATUS[0]}", dir);
  EXPECT_EQ(head.exit_code, 74) << head.output;  // the result is lost
  EXPECT_TRUE(Env::Default()->Exists(dir + "/model.ckpt-500")) << "training is not";
}

TEST(CommandLine, StandardDescriptorsMayBeClosed) {
  const std::string dir = Temp("closed");
  const std::string flags =
      " --max_steps=3 --batch_size=8 --save_checkpoints_steps=1 --shuffle_buffer=0 --threads=2 "
      "--eval_examples=train:8 --loss_log=$M.losses --model_dir=$M";
  ASSERT_EQ(RunScript("$B/fashion_mnist" + flags + " <&- >&- 2>&-", dir).exit_code, 0);
  const std::string log = *Env::Default()->ReadFile(dir + ".losses");
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 3) << log;
  EXPECT_EQ(log.find("I1"), std::string::npos) << log;
  const RunResult next = RunScript("$B/fashion_mnist" + flags, dir);
  EXPECT_EQ(next.exit_code, 0) << next.output;
}

TEST(CommandLine, ASecondTrainingIsRefusedAndAHangupSaves) {
  const std::string dir = Temp("hangup");
  const RunResult result = RunScript(
      "$B/linear_estimator --epochs=100000000 --model_dir=$M & first=$!; "
      "while ! test -e $M/checkpoint; do kill -0 $first || exit 1; sleep 0.05; done; "
      "$B/linear_estimator --model_dir=$M; echo second ended with $?; "
      "kill -HUP $first; wait $first; echo first $first ended with $?; cat $M/.lock; echo end of lock",
      dir);
  EXPECT_THAT(result.output, HasSubstr("second ended with 75"));
  EXPECT_THAT(result.output, HasSubstr("linear_estimator: model_dir \"" + dir + "\" is in use: process "));
  EXPECT_THAT(result.output, HasSubstr("stopped by SIGHUP after global step "));
  EXPECT_THAT(result.output, ::testing::ContainsRegex("first [0-9]+ ended with 129\nend of lock"));
}

TEST(CommandLine, LinearEstimatorFindsTheLine) {
  const RunResult result = RunProgram("linear_estimator", "--model_dir=" + Temp("linear"));
  ASSERT_EQ(result.exit_code, 0) << result.output;
  EXPECT_THAT(result.output, ::testing::ContainsRegex("y = (9\\.9|10\\.0)[0-9]* x \\+ (4\\.9|5\\.0)"));
}

TEST(CommandLine, ClassifyPicturesTrainsOnFiles) {
  const std::string data = Temp("textures");
  const RunResult made = RunCommand("tools/tandem-textures " + data + " --per_class=20 --height=64 --width=64");
  ASSERT_EQ(made.exit_code, 0) << made.output;
  const std::string flags = "--data_dir=" + data + " --image_size=32 --batch_size=4 --threads=2 ";
  const RunResult small = RunProgram("classify_pictures", flags + "--epochs=1 --model_dir=" + Temp("pictures"));
  ASSERT_EQ(small.exit_code, 0) << small.output;
  EXPECT_THAT(small.output,
              HasSubstr("72 pictures to train on and 8 to test, of 4 classes: falling, horizontal, rising, vertical"));
  EXPECT_THAT(small.output, HasSubstr("Saving dict for global step 9: accuracy = "));
  const RunResult vgg = RunProgram(
      "classify_pictures", flags + "--network=vgg16 --max_steps=1 --devices=cpu:0 --model_dir=" + Temp("vgg16"));
  ASSERT_EQ(vgg.exit_code, 0) << vgg.output;
  EXPECT_THAT(vgg.output, HasSubstr("block5_conv3/kernel"));

  for (const auto& [arguments, code, what] : std::vector<std::tuple<std::string, int, std::string>>{
           {"", 2, "--data_dir is missing"},
           {"--data_dir=/nowhere", 66, "/nowhere"},
           {flags + "--network=lenet", 2, "--network=lenet is unknown"},
           {flags + "--network=vgg16 --image_size=100", 2, "a multiple of 32"},
           {flags + "--learning_rate=nan", 2, "--learning_rate"},
           {flags + "--batch_size=0", 2, "--batch_size must be positive"}}) {
    const RunResult result = RunProgram("classify_pictures", arguments + " --model_dir=" + Temp("wrong"));
    EXPECT_EQ(result.exit_code, code) << arguments << result.output;
    EXPECT_THAT(result.output, HasSubstr(what)) << arguments;
  }
  const std::string broken = data + "/rising/000003.jpeg";
  ASSERT_TRUE(Env::Default()->WriteFile(broken, {"\xff\xd8\xff no picture"}).ok());
  const RunResult damaged =
      RunProgram("classify_pictures", flags + "--epochs=1 --model_dir=" + Temp("damaged_picture"));
  EXPECT_EQ(damaged.exit_code, 65) << damaged.output;
  EXPECT_THAT(damaged.output, HasSubstr("/rising/000003.jpeg: "));
}

// Two processes make half the steps each; only rank 0 saves and prints.
TEST(CommandLine, HorovodMnistRuns) {
  const std::string flags = " --max_steps=4 --batch_size=8 --model_dir=";
  const RunResult one = RunProgram("horovod_mnist", flags + Temp("horovod"));
  ASSERT_EQ(one.exit_code, 0) << one.output;
  EXPECT_THAT(one.output, HasSubstr("step 0: loss "));
  EXPECT_THAT(one.output, HasSubstr("global_step = 4"));
#ifndef TANDEM_SANITIZE_THREAD  // gRPC is not instrumented
  const RunResult two = RunCommand("tools/tandem-launch -n 2 -- samples/horovod_mnist" + flags + Temp("horovod_two"));
  ASSERT_EQ(two.exit_code, 0) << two.output;
  EXPECT_THAT(two.output, HasSubstr("[worker 0] step 0: loss "));
  EXPECT_THAT(two.output, HasSubstr("[worker 0] accuracy = "));
  EXPECT_THAT(two.output, Not(HasSubstr("[worker 1] step")));
  EXPECT_TRUE(Env::Default()->Exists(Temp("horovod_two") + "/model.ckpt-2"));
#endif
  EXPECT_EQ(RunProgram("horovod_mnist", flags + Temp("horovod") + " --max_steps=0").exit_code, 2);
}

TEST(CommandLine, MnistEstimatorRuns) {
  const RunResult result = RunProgram("mnist_estimator", "--max_steps=3 --model_dir=" + Temp("mnist"));
  ASSERT_EQ(result.exit_code, 0) << result.output;
  EXPECT_THAT(result.output, HasSubstr("Saving dict for global step 3: accuracy = "));
}

}  // namespace
}  // namespace tandem
