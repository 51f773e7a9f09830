// tandem-checkpoint as a user starts it, and Estimators on what it makes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

#include "base/env.h"
#include "estimator/checkpoint/model_dir.h"
#include "estimator/test_models.h"

namespace tandem {
namespace {

using namespace test;  // NOLINT: this file's vocabulary
using ::testing::HasSubstr;

struct ToolResult {
  int exit_code = -1;
  std::string text;  // of both streams
};

ToolResult Tool(const std::string& arguments) {
  ToolResult result;
  FILE* pipe = popen(("tools/tandem-checkpoint " + arguments + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return result;
  char buffer[4096];
  for (size_t n; (n = fread(buffer, 1, sizeof(buffer), pipe)) > 0;) result.text.append(buffer, n);
  const int status = pclose(pipe);
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

void ExpectTool(int exit_code, const std::string& arguments, const std::string& part) {
  const ToolResult result = Tool(arguments);
  EXPECT_EQ(result.exit_code, exit_code) << arguments << ": " << result.text;
  EXPECT_THAT(result.text, HasSubstr(part)) << arguments;
}

// A model_dir with checkpoints of the steps 0, 10, 20 and 30, trained on two devices.
std::string Trained(const std::string& name = "trained") {
  RunConfig config = Config(ModelDir(name), 2);
  config.save_checkpoints_steps = 10;
  EXPECT_EQ(Estimator(LineModel, config).Train(LineInput(), {.max_steps = 30}), absl::OkStatus());
  return config.model_dir;
}

// All predictions with the weights of a checkpoint.
std::vector<float> PredictionsOf(const std::string& checkpoint) {
  std::vector<float> y;
  Estimator estimator(LineModel, Config(ModelDir("reader")));
  EXPECT_EQ(estimator.Predict(LineInput(16, 8, 1),
                              [&](const NamedTensors& p) { return y.push_back(p.at("y").data<float>()[0]), true; },
                              {.checkpoint_path = checkpoint}),
            absl::OkStatus());
  return y;
}

TEST(CheckpointTool, ListsAndShows) {
  const std::string dir = Trained();
  ExpectTool(0, "list " + dir, "  the latest\n");
  ExpectTool(0, "show " + dir, "model.ckpt-30: step 30\n");
  ExpectTool(0, "show " + dir + "/model.ckpt-10", "2 variables with 3 elements, 4 slots with 6 elements, 36 bytes\n");
  ExpectTool(0, "show " + dir + " dense/bias", "dense/bias: float32[1]\n");
  ExpectTool(66, "show " + dir + " dense/bia",
             "has no tensor \"dense/bia\"; did you mean \"dense/bias\"? It has: dense/bias, dense/kernel");
}

TEST(CheckpointTool, TheMeanIsEvaluatedAndWarmStartsATraining) {
  const std::string dir = Trained(), mean = ModelDir("made") + "/mean";
  ExpectTool(0,
             "average " + dir + "/model.ckpt-10 " + dir + "/model.ckpt-20 " + dir + "/model.ckpt-30 --output=" + mean,
             "mean: 2 variables and 0 slots of step 30\n");
  // The model is linear: the mean's predictions are the mean of the predictions, but for rounding.
  const std::vector<float> of_mean = PredictionsOf(mean);
  ASSERT_EQ(of_mean.size(), 16u);
  std::vector<double> expected(of_mean.size());
  for (const char* step : {"10", "20", "30"}) {
    const std::vector<float> y = PredictionsOf(dir + "/model.ckpt-" + step);
    for (size_t i = 0; i < y.size(); ++i) expected[i] += y[i] / 3.0;
  }
  for (size_t i = 0; i < of_mean.size(); ++i) EXPECT_NEAR(of_mean[i], expected[i], 1e-6);

  RunConfig config = Config(ModelDir("warm"), 2);
  config.warm_start_from = WarmStartSettings{.path = mean};
  Estimator warm(LineModel, config, {{"learning_rate", 0.0}});
  ASSERT_EQ(warm.Train(LineInput(), {.steps = 1}), absl::OkStatus());
  EXPECT_EQ(PredictionsOf(config.model_dir + "/model.ckpt-1"), of_mean);
}

TEST(CheckpointTool, AnotherNameAndBackIsTheSame) {
  const std::string dir = Trained(), made = ModelDir("made");
  const std::string there = made + "/there", back = made + "/back";
  ExpectTool(0, "rename " + dir + " " + there + " --map=dense/kernel=w,dense/bias=b", "2 variables and 4 slots");
  ExpectTool(1, "compare " + dir + " " + there, "dense/bias: float32[1], only in the first\n");
  ExpectTool(0, "rename " + there + " " + back + " --map=w=dense/kernel,b=dense/bias", "of step 30\n");
  ExpectTool(0, "compare " + dir + " " + back, "6 of 6 tensors have equal bits\n");
  ExpectTool(1, "compare " + dir + "/model.ckpt-20 " + back, "elements differ, by at most ");
  EXPECT_EQ(PredictionsOf(back), PredictionsOf(dir + "/model.ckpt-30"));
  RunConfig config = Config(ModelDir("warm"));
  config.warm_start_from =
      WarmStartSettings{.path = there, .var_name_to_prev_var_name = {{"dense/kernel", "w"}, {"dense/bias", "b"}}};
  Estimator warm(LineModel, config, {{"learning_rate", 0.0}});
  ASSERT_EQ(warm.Train(LineInput(), {.steps = 1}), absl::OkStatus());
  EXPECT_EQ(PredictionsOf(config.model_dir + "/model.ckpt-1"), PredictionsOf(back));
}

// A training goes on from what came back from NumPy's format, in a model_dir of its own.
TEST(CheckpointTool, NumPysFormatAndBackGoesOn) {
  const std::string dir = Trained(), made = ModelDir("made"), file = made + "/weights.npz";
  ExpectTool(0, "to_npz " + dir + " " + file, "7 arrays\n");
  ExpectTool(0, "from_npz " + file + " " + made + "/model.ckpt-30", "2 variables and 4 slots of step 30\n");
  ExpectTool(0, "compare " + dir + " " + made, "6 of 6 tensors have equal bits\n");
  ExpectTool(2, "from_npz " + file + " " + made + "/model.ckpt-31", "call it model.ckpt-30");
  Estimator estimator(LineModel, Config(made, 2));
  ASSERT_EQ(estimator.Train(LineInput(), {.max_steps = 31}), absl::OkStatus());
  EXPECT_EQ(estimator.last_train_result()->global_step, 31);
}

TEST(CheckpointTool, AModelDirThatIsBeingTrainedIsLeftAlone) {
  const std::string dir = Trained(), mean = dir + "/mean";
  int training;
  auto lock = LockModelDir(Env::Default(), dir, &training);
  ASSERT_TRUE(lock.ok()) << lock.status();
  const std::string average = "average " + dir + "/model.ckpt-10 " + dir + "/model.ckpt-20 --output=";
  ExpectTool(75, average + mean, "\"" + dir + "\" is in use: process " + std::to_string(getpid()));
  EXPECT_FALSE(Env::Default()->Exists(mean));
  ExpectTool(0, average + ModelDir("made") + "/mean", "of step 20\n");
  EXPECT_FALSE(Env::Default()->Exists(ModelDir("made") + "/.lock")) << "no model_dir";
  *lock = nullptr;
  ExpectTool(0, average + mean, "of step 20\n");
}

TEST(CheckpointTool, MistakesHaveTheirExitCodes) {
  const std::string dir = Trained(), made = ModelDir("made");
  ExpectTool(
      2, "",
      "a command is needed: average, compare, from_npz, list, rename, show, to_npz; usage:\ntandem-checkpoint COMMAND");
  ExpectTool(2, "lists " + dir, "there is no command \"lists\"; did you mean \"list\"?");
  ExpectTool(2, "show", "\"show\" takes other arguments than these 0");
  ExpectTool(2, "average " + dir, "--output is missing");
  ExpectTool(2, "rename " + dir + " " + made + "/x", "--map is missing");
  ExpectTool(2, "rename " + dir + " " + made + "/x --map=dense/kernal=w", "did you mean \"dense/kernel\"?");
  ExpectTool(2, "rename " + dir + " " + dir + "/model.ckpt-20 --map=dense/kernel=w", "is of step 30");
  ExpectTool(2, "rename " + dir + " " + dir + "/model.ckpt-30 --map=dense/kernel=w", "is there already; delete it");
  ExpectTool(66, "list " + dir + "x", "No such file or directory");
  ExpectTool(66, "show " + dir + "x", "No such file or directory");
  ExpectTool(66, "list " + made, "there is no checkpoint (model.ckpt-N) in it; name a model_dir");
  // Files of other kinds, and cut ones.
  const std::string text = made + "/text";
  ASSERT_EQ(Env::Default()->WriteFile(text, {"not weights at all"}), absl::OkStatus());
  ExpectTool(65, "show " + text, "text: offset 0: the header's size");
  ExpectTool(65, "compare " + dir + " " + text, "not a safetensors file, or truncated");
  ExpectTool(65, "show " + made, "is no checkpoint, or one that was never finished");
  const std::string variables = dir + "/model.ckpt-30/variables.safetensors";
  const auto bytes = Env::Default()->ReadFile(variables);
  ASSERT_TRUE(bytes.ok());
  ASSERT_EQ(Env::Default()->WriteFile(variables, {bytes->substr(0, bytes->size() / 2)}), absl::OkStatus());
  for (const std::string& command : {"show " + dir, "average " + dir + " --output=" + made + "/y",
                                     "to_npz " + dir + " " + made + "/y.npz", "compare " + dir + " " + dir}) {
    ExpectTool(65, command, "the manifest says");
  }
  ExpectTool(2, "to_npz " + dir + " " + made + "/no/y.npz", "to_npz " + made + "/no/y.npz: there is no folder ");
  ExpectTool(65, "list " + dir, "damaged: ");
  EXPECT_FALSE(Env::Default()->Exists(made + "/y"));
}

}  // namespace
}  // namespace tandem
