// A step that is made again has the bits that hooks fetched in the run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/declare.h"
#include "absl/flags/flag.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/exit_code.h"
#include "base/logging.h"
#include "estimator/record/run_description.h"
#include "estimator/record/steps_file.h"
#include "estimator/replay/replay_request.h"
#include "estimator/replay/step_file.h"
#include "estimator/test_models.h"
#include "estimator/train_and_evaluate.h"

ABSL_DECLARE_FLAG(int64_t, replay_step);
ABSL_DECLARE_FLAG(std::vector<std::string>, fetch);
ABSL_DECLARE_FLAG(std::string, fetch_line);
ABSL_DECLARE_FLAG(std::string, replay_out);

namespace tandem {
namespace {

using namespace test;  // NOLINT: this file's vocabulary
using ::testing::HasSubstr;

constexpr int64_t kSteps = 12;
using Tensors = std::map<std::string, HostTensor>;

// Pictures of 8 x 8 with ids, shuffled.
InputFn PictureInput(float first_pixel = 0) {
  return [=](const InputContext&) -> absl::StatusOr<Dataset> {
    constexpr int64_t kCount = 48;
    std::vector<float> pixels(kCount * 64);
    std::vector<int32_t> labels, ids;
    for (size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<float>(i * 37 % 101) / 101;
    pixels[0] = first_pixel;
    for (int64_t i = 0; i < kCount; ++i) {
      labels.push_back(static_cast<int32_t>(i % 4));
      ids.push_back(static_cast<int32_t>(i * 7 % 20));
    }
    return Dataset::FromTensorSlices({{"image", HostTensor::FromVector({kCount, 8, 8, 1}, pixels)},
                                      {"id", HostTensor::FromVector({kCount}, ids)},
                                      {"label", HostTensor::FromVector({kCount}, labels)}})
        .Shuffle(20, {.seed = 3})
        .Repeat()
        .Batch(8)
        .Prefetch(2);
  };
}

EstimatorSpec Trained(const Tensor& labels, const Tensor& logits, const Params& params) {
  Tensor loss = losses::SparseSoftmaxCrossEntropy(labels, logits);
  return EstimatorSpec::Train(loss, optimizers::Adam({.learning_rate = params.Number("rate", 0.01)}).Minimize(loss));
}

EstimatorSpec ConvModel(const Features& features, const Tensor& labels, Mode mode, const Params& params) {
  Tensor x = layers::Conv2D(features["image"], {.filters = 4, .kernel_size = 3, .activation = Relu});
  x = layers::Flatten(layers::MaxPooling2D(x));
  x = layers::Dropout(layers::Dense(x, {.units = 16, .activation = Relu}), {.rate = 0.4, .training = true});
  return Trained(labels, layers::Dense(x, {.units = 4}), params);
}

EstimatorSpec EmbeddingModel(const Features& features, const Tensor& labels, Mode mode, const Params& params) {
  Tensor x = layers::Embedding(features["id"], {.input_dim = 20, .output_dim = 6});
  return Trained(labels, layers::Dense(x, {.units = 4, .use_bias = params.Bool("bias", true)}), params);
}

RunConfig ConfigOf(const std::string& dir, int replicas, int accumulate) {
  RunConfig config = Config(dir, replicas);
  config.save_checkpoints_steps = 5;
  config.seed = 11;
  config.accumulate_batches = accumulate;
  return config;
}

// Replays with the whole file system as it was: nothing in model_dir may change.
class Replayed {
 public:
  Replayed(ReplayRequest request, const std::string& name) {
    request.out = absl::StrCat(::testing::TempDir(), "/", name, ".npz");
    Env::Default()->DeleteFile(request.out).IgnoreError();
    out_ = request.out;
    SetReplayOfProcess(std::move(request));
  }
  ~Replayed() { SetReplayOfProcess(std::nullopt); }

  absl::Status Train(const ModelFn& model, const RunConfig& config, const InputFn& input = PictureInput(),
                     const Params& params = {}, int64_t max_steps = kSteps) {
    Estimator estimator(model, config, params);
    return Result(estimator.Train(input, {.max_steps = max_steps}));
  }

  // OK where the replay was done.
  static absl::Status Result(const absl::Status& status) {
    if (status.ok()) return absl::UnknownError("passed over");
    return ExitCodeFor(status) == kExitOk ? absl::OkStatus() : status;
  }

  Tensors Values() const {
    auto file = ReadStepFile(out_);
    EXPECT_TRUE(file.ok()) << file.status();
    return file.ok() ? std::move(file->arrays) : Tensors();
  }

 private:
  std::string out_;
};

// Sizes and contents of all files in a directory.
std::map<std::string, std::string> FilesOf(const std::string& dir) {
  std::map<std::string, std::string> files;
  const auto names = Env::Default()->ListDir(dir);
  if (!names.ok()) return files;
  for (const std::string& name : *names) {
    const std::string path = JoinPath(dir, name);
    const auto info = Env::Default()->Stat(path);
    if (info.ok() && info->is_directory) {
      files[path] = "";
      files.merge(FilesOf(path));
    } else {
      files[path] = Env::Default()->ReadFile(path).value_or("?");
    }
  }
  return files;
}

std::string MessageOf(const absl::Status& status) { return std::string(status.message()); }

struct Case {
  std::string name;
  ModelFn model;
  int replicas = 1, accumulate = 1;
};

class ReplayTest : public ::testing::TestWithParam<Case> {};

TEST_P(ReplayTest, EveryTensorHasTheBitsThatAHookFetched) {
  const Case& c = GetParam();
  const std::string dir = ModelDir();
  const RunConfig config = ConfigOf(dir, c.replicas, c.accumulate);
  // The names of all tensors: those of a first run, which is another one.
  const RunConfig other = ConfigOf(ModelDir("names"), c.replicas, c.accumulate);
  {
    Estimator estimator(c.model, other);
    ASSERT_EQ(estimator.Train(PictureInput(), {.max_steps = 1}), absl::OkStatus());
  }
  std::vector<std::string> names;
  {
    Replayed replay({.step = 0, .dump_step = true}, c.name + "_names");
    ASSERT_EQ(replay.Train(c.model, other), absl::OkStatus());
    for (const auto& entry : replay.Values()) {
      if (!absl::StrContains(entry.first, "@") && entry.first != "global_step") names.push_back(entry.first);
    }
  }
  ASSERT_GT(names.size(), 20u);

  std::map<int64_t, Tensors> fetched;
  auto keep = [&](RunContext&, const RunValues& values) { fetched[values.step] = values.tensors; };
  {
    // Killed behind step 8: the next start goes on from the checkpoint of step 5.
    auto hook = std::make_shared<StepHook>(keep, names);
    auto kill = std::make_shared<StepHook>([](RunContext& context, const RunValues& values) {
      if (values.step == 8) context.Fail(absl::AbortedError("killed"));
    });
    Estimator estimator(c.model, config);
    ASSERT_FALSE(estimator.Train(PictureInput(), {.max_steps = kSteps, .hooks = {hook, kill}}).ok());
  }
  {
    Estimator estimator(c.model, config);
    ASSERT_EQ(
        estimator.Train(PictureInput(), {.max_steps = kSteps, .hooks = {std::make_shared<StepHook>(keep, names)}}),
        absl::OkStatus());
  }
  ASSERT_EQ(fetched.size(), static_cast<size_t>(kSteps));

  const auto before = FilesOf(dir);
  for (const int64_t step : {0, 3, 5, 8, 11}) {
    Replayed replay({.step = step, .dump_step = true}, absl::StrCat(c.name, "_", step));
    ASSERT_EQ(replay.Train(c.model, config), absl::OkStatus()) << step;
    const Tensors values = replay.Values();
    for (const std::string& name : names) {
      ASSERT_TRUE(values.contains(name)) << name;
      ASSERT_TRUE(fetched[step].contains(name)) << name;
      EXPECT_TRUE(values.at(name).BitEqual(fetched[step].at(name))) << name << " of step " << step;
    }
    if (step < kSteps - 1) {
      EXPECT_TRUE(values.at("dense/kernel@new").BitEqual(fetched[step + 1].at("dense/kernel")));
    }
  }
  EXPECT_EQ(FilesOf(dir), before) << "a replay writes nothing into the model_dir";
}

INSTANTIATE_TEST_SUITE_P(Models, ReplayTest,
                         ::testing::Values(Case{.name = "convnet", .model = ConvModel},
                                           Case{.name = "convnet2", .model = ConvModel, .replicas = 2},
                                           Case{.name = "embedding", .model = EmbeddingModel, .accumulate = 2}),
                         [](const auto& info) { return info.param.name; });

// Of a run that fetched nothing, what a run with a hook has fetched, where that has the same bits.
TEST(ReplayOfFusedTensors, HasTheBitsThatAHookFetchesInARunOfTheSameBits) {
  const std::vector<std::string> names = {"conv2d/Relu",
                                          "dense/Relu",
                                          "dropout/Mul_1",
                                          "dense_1/Add",
                                          "gradients/dense_1/MatMul/MatMul_1",
                                          "sparse_softmax_cross_entropy_loss/SparseSoftmaxCrossEntropy"};
  for (const int replicas : {1, 2}) {
    const RunConfig plain = ConfigOf(ModelDir("plain"), replicas, 1);
    {
      Estimator estimator(ConvModel, plain);
      ASSERT_EQ(estimator.Train(PictureInput(), {.max_steps = kSteps}), absl::OkStatus());
    }
    int compared = 0;
    for (const std::string& name : names) {
      const RunConfig hooked = ConfigOf(ModelDir("hooked"), replicas, 1);
      std::map<int64_t, HostTensor> fetched;
      auto hook = std::make_shared<StepHook>(
          [&](RunContext&, const RunValues& values) { fetched[values.step] = values.tensors.at(name); },
          std::vector<std::string>{name});
      {
        Estimator estimator(ConvModel, hooked);
        ASSERT_EQ(estimator.Train(PictureInput(), {.max_steps = kSteps, .hooks = {hook}}), absl::OkStatus());
      }
      const auto record = [](const RunConfig& config) {
        return *Env::Default()->ReadFile(JoinPath(config.model_dir, kStepsName));
      };
      if (record(plain) != record(hooked)) continue;  // to keep it changes bits
      ++compared;
      for (const int64_t step : {4, 10}) {
        Replayed replay({.step = step, .fetches = names}, absl::StrCat("fused_", step));
        ASSERT_EQ(replay.Train(ConvModel, plain), absl::OkStatus());
        EXPECT_TRUE(replay.Values().at(name).BitEqual(fetched[step])) << name << " of step " << step;
      }
    }
    EXPECT_GE(compared, 4) << replicas << " replicas";
  }
}

// A run of the embedding model that needs no hook.
class ReplayOfRun : public ::testing::Test {
 protected:
  void SetUp() override {
    config_ = ConfigOf(ModelDir(), 1, 1);
    Estimator estimator(EmbeddingModel, config_);
    ASSERT_EQ(estimator.Train(PictureInput(), {.max_steps = kSteps}), absl::OkStatus());
  }
  std::string Path(const std::string& name) const { return JoinPath(config_.model_dir, name); }

  RunConfig config_;
};

TEST_F(ReplayOfRun, VariablesHaveGradientsUpdatesAndValuesBehindTheStep) {
  Replayed replay({.step = 6,
                   .fetches = {"dense/kernel", "dense/kernel@new", "dense/kernel@update", "dense/kernel@gradient",
                               "dense/kernel/Adam"}},
                  "of_variables");
  ASSERT_EQ(replay.Train(EmbeddingModel, config_), absl::OkStatus());
  const Tensors values = replay.Values();
  ASSERT_EQ(values.size(), 6u) << "with the loss";
  const HostTensor &before = values.at("dense/kernel"), &after = values.at("dense/kernel@new"),
                   &update = values.at("dense/kernel@update"), &gradient = values.at("dense/kernel@gradient");
  ASSERT_EQ(gradient.shape(), before.shape());
  int moved = 0;
  for (int64_t i = 0; i < before.num_elements(); ++i) {
    EXPECT_EQ(update.data<float>()[i], after.data<float>()[i] - before.data<float>()[i]);
    moved += gradient.data<float>()[i] != 0;
  }
  EXPECT_GT(moved, 0);
}

TEST_F(ReplayOfRun, ALineOfTheModelGivesWhatItMakes) {
  // The line of the embedding.
  const std::string text = *Env::Default()->ReadFile("estimator/replay/replay_test.cc");
  const size_t at = text.find("layers::Embedding(");
  const int64_t line = 1 + std::count(text.begin(), text.begin() + static_cast<int64_t>(at), '\n');
  Replayed one({.step = 2, .fetch_line = absl::StrCat("replay_test.cc:", line)}, "line_one");
  ASSERT_EQ(one.Train(EmbeddingModel, config_), absl::OkStatus());
  const Tensors values = one.Values();
  EXPECT_TRUE(values.contains("embedding/embeddings"));
  EXPECT_FALSE(values.contains("dense/MatMul"));
  Replayed none({.step = 2, .fetch_line = "replay_test.cc:1"}, "line_none");
  EXPECT_THAT(MessageOf(none.Train(EmbeddingModel, config_)), HasSubstr(absl::StrCat(line)));
}

TEST_F(ReplayOfRun, AMisspeltNameIsCorrected) {
  Replayed replay({.step = 2, .fetches = {"dense/kernal"}}, "misspelt");
  const absl::Status status = replay.Train(EmbeddingModel, config_);
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(MessageOf(status), HasSubstr("did you mean \"dense/kernel\""));
}

TEST_F(ReplayOfRun, AStepBeyondTheRunIsAnError) {
  Replayed replay({.step = kSteps + 1}, "beyond");
  const absl::Status status = replay.Train(EmbeddingModel, config_, PictureInput(), {}, 100);
  EXPECT_EQ(ExitCodeFor(status), kExitUsage);
  EXPECT_THAT(MessageOf(status), HasSubstr("the run has made 12 steps, the last of them step 11"));
}

TEST_F(ReplayOfRun, CallsOfTrainThatDoNotMakeTheStepArePassedOver) {
  Replayed replay({.step = 9}, "calls");
  EXPECT_EQ(replay.Train(EmbeddingModel, config_, PictureInput(), {}, /*max_steps=*/5).message(), "passed over");
  Estimator estimator(EmbeddingModel, config_);
  EXPECT_EQ(estimator.Train(PictureInput(), {.steps = 6}), absl::OkStatus());
  EXPECT_EQ(Replayed::Result(estimator.Train(PictureInput(), {.steps = 6})), absl::OkStatus());
}

TEST(ReplayFlags, MistakesAreNamed) {
  const auto message = [] { return MessageOf(ReplayOfProcess().status()); };
  EXPECT_FALSE(ReplayOfProcess()->has_value());
  absl::SetFlag(&FLAGS_fetch, {"loss"});
  EXPECT_EQ(message(), "flag --fetch belongs to a replay: say which step with --replay_step=N");
  absl::SetFlag(&FLAGS_replay_step, -3);
  EXPECT_THAT(message(), HasSubstr("flag --replay_step: bad value \"-3\": a number of steps"));
  absl::SetFlag(&FLAGS_replay_step, 3);
  EXPECT_EQ((*ReplayOfProcess())->fetches, std::vector<std::string>{"loss"});
  absl::SetFlag(&FLAGS_fetch, {"loss", ""});
  EXPECT_THAT(message(), HasSubstr("flag --fetch: bad value \"loss,\": names of tensors"));
  absl::SetFlag(&FLAGS_fetch, {});
  absl::SetFlag(&FLAGS_fetch_line, "model.cc");
  EXPECT_THAT(message(), HasSubstr("flag --fetch_line: bad value \"model.cc\": a file and a line of it"));
  absl::SetFlag(&FLAGS_fetch_line, "");
  absl::SetFlag(&FLAGS_replay_out, "step.txt");
  EXPECT_THAT(message(), HasSubstr("a file whose name ends in .npz"));
  absl::SetFlag(&FLAGS_replay_out, "");
  absl::SetFlag(&FLAGS_replay_step, -1);
}

TEST_F(ReplayOfRun, AnotherProgramIsRefused) {
  Replayed replay({.step = 2}, "program");
  const absl::Status status = replay.Train(EmbeddingModel, config_, PictureInput(), {{"bias", false}});
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(MessageOf(status),
              HasSubstr("another program than the run's: the variable dense/bias is in the run only"));
}

TEST_F(ReplayOfRun, AnotherRateIsRefused) {
  Replayed replay({.step = 2}, "rate");
  EXPECT_THAT(MessageOf(replay.Train(EmbeddingModel, config_, PictureInput(), {{"rate", 0.5}})),
              HasSubstr("not what the run computed: learning_rate is 0.01"));
}

TEST_F(ReplayOfRun, OtherDataAreRefused) {
  Replayed replay({.step = 2}, "data");
  EXPECT_THAT(MessageOf(replay.Train(EmbeddingModel, config_, PictureInput(/*first_pixel=*/5))),
              HasSubstr("the data are not those of the run"));
}

TEST_F(ReplayOfRun, AStepWithOtherBitsIsAnError) {
  std::string bytes = *Env::Default()->ReadFile(Path(kStepsName));
  bytes[24 + 8 * 6] ^= 1;
  ASSERT_EQ(Env::Default()->WriteFileAtomically(Path(kStepsName), bytes), absl::OkStatus());
  Replayed replay({.step = 7}, "bits");
  const absl::Status status = replay.Train(EmbeddingModel, config_);
  EXPECT_EQ(ExitCodeFor(status), kExitInternal);
  EXPECT_THAT(MessageOf(status), HasSubstr("step 6, replayed from model.ckpt-5, is not the run's"));
  EXPECT_THAT(MessageOf(status), HasSubstr("the loss ("));
}

TEST_F(ReplayOfRun, ACutRecordIsReadAsFarAsItGoes) {
  const std::string bytes = *Env::Default()->ReadFile(Path(kStepsName));
  ASSERT_EQ(bytes.size(), 24u + 8 * kSteps);
  ASSERT_EQ(Env::Default()->WriteFileAtomically(Path(kStepsName), bytes.substr(0, 24 + 8 * 3 + 5)), absl::OkStatus());
  {
    Replayed replay({.step = 7}, "cut");
    EXPECT_EQ(replay.Train(EmbeddingModel, config_), absl::OkStatus());
  }
  ASSERT_EQ(Env::Default()->WriteFileAtomically(Path(kRunName), "{\"format\": \"tandem-run-1\", \"sta"),
            absl::OkStatus());
  Replayed replay({.step = 7}, "cut_description");
  const absl::Status status = replay.Train(EmbeddingModel, config_);
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(MessageOf(status), HasSubstr("run.json: is no description of a run, or is cut; move it away"));
}

TEST_F(ReplayOfRun, WithoutTheCheckpointTheNextOlderOneIsTakenOrTheSeed) {
  ASSERT_EQ(Env::Default()->DeleteRecursively(Path("model.ckpt-5")), absl::OkStatus());
  {
    LogCapture log;
    Replayed replay({.step = 7, .fetches = {"dense/kernel"}}, "older");
    ASSERT_EQ(replay.Train(EmbeddingModel, config_), absl::OkStatus());
  }
  ASSERT_EQ(Env::Default()->DeleteRecursively(Path("model.ckpt-0")), absl::OkStatus());
  LogCapture log;
  Replayed replay({.step = 7, .fetches = {"dense/kernel"}}, "seed");
  ASSERT_EQ(replay.Train(EmbeddingModel, config_), absl::OkStatus());
  EXPECT_TRUE(log.Contains("There is no checkpoint at or before step 7"));
}

TEST_F(ReplayOfRun, ADamagedCheckpointIsPassedOver) {
  ASSERT_EQ(Env::Default()->WriteFileAtomically(Path("model.ckpt-5/variables.safetensors"), "damaged"),
            absl::OkStatus());
  LogCapture log;
  Replayed replay({.step = 7}, "damaged");
  ASSERT_EQ(replay.Train(EmbeddingModel, config_), absl::OkStatus());
  EXPECT_TRUE(log.Contains("the replay begins at the next older checkpoint"));
}

TEST_F(ReplayOfRun, TrainAndEvaluateReplaysAndEvaluatesNothing) {
  int evaluations = 0;
  const InputFn eval_input = [&](const InputContext& context) {
    ++evaluations;
    return PictureInput()(context);
  };
  Replayed replay({.step = 4}, "evaluate");
  Estimator estimator(EmbeddingModel, config_);
  const auto result = TrainAndEvaluate(estimator, {.input_fn = PictureInput(), .max_steps = kSteps},
                                       {.input_fn = eval_input, .steps = 1});
  EXPECT_EQ(Replayed::Result(result.status()), absl::OkStatus());
  EXPECT_EQ(evaluations, 0);
  EXPECT_EQ(replay.Values().size(), 1u);
}

TEST(ReplayOfNothing, NamesTheModelDir) {
  Replayed replay({.step = 4}, "nothing");
  const std::string dir = ModelDir();
  EXPECT_THAT(MessageOf(replay.Train(EmbeddingModel, ConfigOf(dir, 1, 1))),
              HasSubstr(absl::StrCat("neither a checkpoint nor a record of steps in ", dir)));
  EXPECT_THAT(MessageOf(replay.Train(EmbeddingModel, ConfigOf(dir + "/none", 1, 1))), HasSubstr("does not exist"));
  EXPECT_FALSE(Env::Default()->Exists(dir + "/none"));
}

// A step whose loss is not finite ends a run, and is the one to look at.
EstimatorSpec BreaksModel(const Features& features, const Tensor& labels, Mode mode, const Params& params) {
  GraphBuilder* graph = features["image"].graph();
  const Tensor step = Cast(graph->StepScalar("global_step", DType::kInt64), DType::kFloat32);
  const Tensor x = layers::Dense(layers::Flatten(features["image"]), {.units = 4});
  // The logarithm of a negative number from step 7 on.
  NameScope scope(graph, "breaks");
  return Trained(labels, x * Log(7.0f - step), params);
}

TEST(ReplayOfABreak, ShowsTheTensorsOfTheStepThatIsNotFinite) {
  const RunConfig config = ConfigOf(ModelDir(), 1, 1);
  {
    Estimator estimator(BreaksModel, config);
    ASSERT_FALSE(estimator.Train(PictureInput(), {.max_steps = kSteps}).ok());
  }
  ASSERT_EQ((*ReadRecordedSteps(Env::Default(), config.model_dir))->end(), 7);
  Replayed replay({.step = 7, .dump_step = true}, "break");
  ASSERT_EQ(replay.Train(BreaksModel, config), absl::OkStatus());
  const Tensors values = replay.Values();
  ASSERT_TRUE(values.contains("breaks/Log")) << "what came before the check";
  EXPECT_FALSE(std::isfinite(*values.at("breaks/Log").data<float>()));
  EXPECT_TRUE(std::isfinite(*values.at("dense/kernel").data<float>()));
}

}  // namespace
}  // namespace tandem
