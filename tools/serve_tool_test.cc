// tandem-serve as a user runs it: an export of a trained model, a reload, and the end by a signal.
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/env.h"
#include "base/test_dir.h"
#include "estimator/estimator.h"
#include "estimator/serving/server/http_client.h"
#include "frontends/initializers.h"
#include "frontends/layers.h"
#include "frontends/losses.h"
#include "frontends/optimizers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tandem {
namespace {

using serving::HttpClient;
using ::testing::HasSubstr;

// y = 3 * x.
EstimatorSpec ModelFn(const Features& features, const Tensor& labels, Mode mode, const Params& params) {
  Tensor y =
      layers::Dense(features["x"], {.units = 1, .use_bias = false, .kernel_initializer = initializers::Constant(3)});
  if (mode == Mode::kPredict) return EstimatorSpec::Predict({{"y", y}});
  Tensor loss = losses::MeanSquaredError(labels, y);
  return EstimatorSpec::Train(loss, optimizers::GradientDescent({.learning_rate = 0.0}).Minimize(loss));
}

absl::StatusOr<Dataset> Input(const InputContext&) {
  const HostTensor x = HostTensor::FromVector<float>({2, 1}, {1, 2});
  return Dataset::FromTensorSlices({{"x", x}, {"label", x}}).Batch(2);
}

// A process that serves.
class Program {
 public:
  explicit Program(const std::vector<std::string>& arguments) {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    std::vector<std::string> words = {"tools/tandem-serve", "--port=0", "--poll_secs=0.05"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    child_ = fork();
    if (child_ == 0) {
      dup2(ends[1], 1);
      execv(argv[0], argv.data());
      _exit(127);
    }
    close(ends[1]);
    out_ = fdopen(ends[0], "r");
  }
  ~Program() {
    if (child_ > 0) kill(child_, SIGKILL);
    fclose(out_);
  }

  // Reads the line "HTTP at ADDRESS:PORT".
  int Port() {
    char line[256] = "";
    EXPECT_NE(fgets(line, sizeof line, out_), nullptr);
    const std::string text = line;
    int port = 0;
    EXPECT_TRUE(absl::SimpleAtoi(text.substr(text.rfind(':') + 1), &port)) << text;
    return port;
  }
  int EndAfter(int signal) {
    if (signal != 0) kill(child_, signal);
    int status = 0;
    EXPECT_EQ(waitpid(child_, &status, 0), child_);
    child_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  pid_t child_ = -1;
  FILE* out_ = nullptr;
};

TEST(ServeTool, ServesReloadsAndEnds) {
  const std::string dir = TestDir("serve_tool");
  Estimator estimator(ModelFn, {.model_dir = dir + "/model", .threads = 1});
  ASSERT_TRUE(estimator.Train(Input, {.steps = 1}).ok());
  const ServingInput input{.features = {{"x", DType::kFloat32, {kBatch, 1}}}};
  const auto first = estimator.ExportModel(dir + "/exports", input);
  ASSERT_TRUE(first.ok()) << first.status();

  Program program({"m=" + dir + "/exports"});
  const int port = program.Port();
  HttpClient client(port);
  serving::HttpAnswer answer;
  for (int i = 0; i < 3000 && answer.status != 200; ++i) {
    answer = client.Get("/readyz");
    absl::SleepFor(absl::Milliseconds(10));
  }
  EXPECT_EQ(client.Post("/v1/models/m:predict", R"({"instances": [[1], {"x": [2.5]}]})").body,
            "{\"predictions\":[[3.0],[7.5]]}\n");
  EXPECT_THAT(client.Post("/v1/models/m:predict", R"({"instances": [[[1]]]})").body,
              HasSubstr("instances[0][0]: there is a list where float32 is expected"));

  const auto second = estimator.ExportModel(dir + "/exports", input);
  ASSERT_TRUE(second.ok()) << second.status();
  const std::string status = absl::StrCat("/v1/models/m/versions/", BaseName(*second));
  for (int i = 0; i < 3000 && client.Get(status).status != 200; ++i) absl::SleepFor(absl::Milliseconds(10));
  EXPECT_THAT(client.Get(status).body, HasSubstr("\"version\": \"" + BaseName(*second)));
  client.Reset();
  EXPECT_EQ(program.EndAfter(SIGTERM), 0);
}

TEST(ServeTool, MistakesAreExplained) {
  EXPECT_EQ(Program({}).EndAfter(0), 2) << "nothing to serve";
  EXPECT_EQ(Program({"m"}).EndAfter(0), 2) << "no folder";
  EXPECT_EQ(Program({"m=/nowhere", "--batch_threads=0"}).EndAfter(0), 2);
}

}  // namespace
}  // namespace tandem
