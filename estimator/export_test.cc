// Exported models against Estimator::Predict.
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "base/exit_code.h"
#include "base/fault_injecting_env.h"
#include "base/logging.h"
#include "estimator/serving/model.h"
#include "estimator/serving/signature.h"
#include "estimator/test_models.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tandem {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

constexpr int64_t kClasses = 5;

// Pictures with a number each, and labels: convolution, batch norm with moving averages, an embedding, two predictions.
InputFn PictureInput(int64_t n, int64_t batch) {
  return [=](const InputContext&) -> absl::StatusOr<Dataset> {
    std::vector<float> pixels;
    std::vector<int32_t> ids, labels;
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t k = 0; k < 6 * 6; ++k) pixels.push_back(static_cast<float>((i * 37 + k * k) % 101) / 101);
      ids.push_back(i % 7);
      labels.push_back(i % kClasses);
    }
    return Dataset::FromTensorSlices({{"image", HostTensor::FromVector({n, 6, 6, 1}, pixels)},
                                      {"id", HostTensor::FromVector({n}, ids)},
                                      {"label", HostTensor::FromVector({n}, labels)}})
        .Batch(batch);
  };
}

EstimatorSpec PictureModel(const Features& features, const Tensor& labels, Mode mode, const Params& params) {
  Tensor x = layers::Conv2D(features["image"], {.filters = 4, .kernel_size = 3});
  x = layers::BatchNormalization(x, {.training = mode == Mode::kTrain});
  x = layers::Flatten(x);
  x = Concat({x, layers::Embedding(features["id"], {.input_dim = 7, .output_dim = 3})}, 1);
  Tensor logits = layers::Dense(x, {.units = kClasses});
  if (mode == Mode::kPredict) return EstimatorSpec::Predict({{"logits", logits}, {"class", ArgMax(logits, -1)}});
  Tensor loss = losses::SparseSoftmaxCrossEntropy(labels, logits);
  if (mode == Mode::kEval) return EstimatorSpec::Eval(loss);
  return EstimatorSpec::Train(loss, optimizers::Adam({.learning_rate = 0.01}).Minimize(loss));
}

std::vector<ComponentSpec> PictureFeatures() {
  return {{"image", DType::kFloat32, {kBatch, 6, 6, 1}}, {"id", DType::kInt32, {kBatch}}};
}

// The first `n` pictures as one batch.
NamedTensors Pictures(int64_t n) {
  NamedTensors inputs;
  const Dataset dataset = PictureInput(n, n)(InputContext()).value();
  auto iterator = dataset.MakeIterator();
  EXPECT_TRUE(iterator.ok()) << iterator.status();
  Element element;
  bool end = false;
  EXPECT_TRUE((*iterator)->GetNext(&element, &end).ok());
  inputs["image"] = element.components[0];
  inputs["id"] = element.components[1];
  return inputs;
}

// What Predict gives, row by row.
std::vector<NamedTensors> Predicted(Estimator& estimator, const InputFn& input_fn) {
  std::vector<NamedTensors> rows;
  const absl::Status status = estimator.Predict(input_fn, [&](const NamedTensors& row) {
    rows.push_back(row);
    return true;
  });
  EXPECT_TRUE(status.ok()) << status;
  return rows;
}

// Every row of `outputs` has the bits of a prediction.
void ExpectBits(const NamedTensors& outputs, const std::vector<NamedTensors>& expected) {
  ASSERT_FALSE(outputs.empty());
  for (const auto& [name, batch] : outputs) {
    ASSERT_GE(static_cast<int64_t>(expected.size()), batch.shape()[0]);
    const int64_t bytes = batch.shape()[0] > 0 ? batch.byte_size() / batch.shape()[0] : 0;
    for (int64_t row = 0; row < batch.shape()[0]; ++row) {
      const HostTensor& want = expected[row].at(name);
      ASSERT_EQ(want.byte_size(), bytes);
      ASSERT_EQ(std::memcmp(static_cast<const char*>(batch.raw()) + row * bytes, want.raw(), bytes), 0)
          << name << ", row " << row << " of " << batch.shape()[0];
    }
  }
}

class ExportTest : public ::testing::Test {
 protected:
  // A trained estimator of pictures.
  std::unique_ptr<Estimator> Trained(int replicas = 1) {
    auto estimator = std::make_unique<Estimator>(PictureModel, test::Config(test::ModelDir(), replicas));
    const absl::Status status = estimator->Train(PictureInput(64, 8), {.steps = 5});
    EXPECT_TRUE(status.ok()) << status;
    return estimator;
  }
  std::string Base(const Estimator& estimator) { return JoinPath(estimator.model_dir(), "exports"); }
  LogCapture log_;
};

// A program with a `main` of its own keeps its descriptors. First in this file: the process has one thread.
TEST(LoadModelTest, NoStandardDescriptorIsOpened) {
  const pid_t child = fork();
  if (child == 0) {
    for (int fd : {0, 1, 2}) close(fd);
    static_cast<void>(LoadModel(::testing::TempDir() + "/absent"));
    _exit(open("/proc/self/maps", O_RDONLY) == 0 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(ExportTest, HasTheBitsOfPredictForEveryNumberOfRows) {
  auto estimator = Trained();
  const auto path = estimator->ExportModel(Base(*estimator), {.input_fn = PictureInput(100, 8)});
  ASSERT_TRUE(path.ok()) << path.status();
  const std::vector<NamedTensors> expected = Predicted(*estimator, PictureInput(45, 8));
  ASSERT_EQ(expected.size(), 45u);
  const auto model = LoadModel(*path);
  ASSERT_TRUE(model.ok()) << model.status();
  for (int64_t rows : {0, 1, 2, 7, 8, 9, 16, 45}) {
    const auto outputs = (*model)->Predict(Pictures(std::max<int64_t>(rows, 1)));
    ASSERT_TRUE(outputs.ok()) << outputs.status();
    ExpectBits(*outputs, expected);
  }
}

TEST_F(ExportTest, HasTheBitsOfPredictOnSeveralDevices) {
  auto estimator = Trained(2);
  const auto path = estimator->ExportModel(Base(*estimator), {.input_fn = PictureInput(100, 8)});
  ASSERT_TRUE(path.ok()) << path.status();
  EXPECT_EQ(ReadSignature(Env::Default(), *path)->rows_per_step, 16);
  const auto model = LoadModel(*path);
  ASSERT_TRUE(model.ok()) << model.status();
  const auto outputs = (*model)->Predict(Pictures(37));
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  ExpectBits(*outputs, Predicted(*estimator, PictureInput(37, 8)));
}

TEST_F(ExportTest, RandomNumbersAreThoseOfPredict) {
  const ModelFn noisy = [](const Features& features, const Tensor& labels, Mode mode, const Params& params) {
    Tensor y = layers::Dense(features["x"], {.units = 3});
    if (mode == Mode::kPredict) {
      return EstimatorSpec::Predict({{"y", layers::Dropout(y, {.rate = 0.5, .training = true})}});
    }
    Tensor loss = losses::MeanSquaredError(labels, ReduceMean(y, {1}, /*keep_dims=*/true));
    return EstimatorSpec::Train(loss, optimizers::GradientDescent({.learning_rate = 0.1}).Minimize(loss));
  };
  RunConfig config = test::Config(test::ModelDir());
  config.seed = -12345678901234;
  Estimator estimator(noisy, config);
  ASSERT_TRUE(estimator.Train(test::LineInput(), {.steps = 2}).ok());
  const auto path = estimator.ExportModel(Base(estimator), {.input_fn = test::LineInput(64, 8, 1)});
  ASSERT_TRUE(path.ok()) << path.status();
  const std::vector<NamedTensors> expected = Predicted(estimator, test::LineInput(20, 8, 1));
  auto iterator = (*test::LineInput(20, 20, 1)(InputContext())).MakeIterator();
  Element element;
  bool end = false;
  ASSERT_TRUE((*iterator)->GetNext(&element, &end).ok());
  const auto outputs = (*LoadModel(*path))->Predict({{"x", element.components[0]}});
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  ExpectBits(*outputs, expected);
}

TEST_F(ExportTest, FeaturesByNameTypeAndShape) {
  auto estimator = Trained();
  std::vector<ComponentSpec> features = PictureFeatures();
  features.push_back({"other", DType::kFloat32, {kBatch, 2}});
  const auto path =
      estimator->ExportModel(Base(*estimator), {.features = features}, {.metrics = {{"loss", 0.5}, {"auc", 0.1}}});
  ASSERT_TRUE(path.ok()) << path.status();
  EXPECT_THAT(log_.Text(), HasSubstr("does not use in mode predict: other"));
  EXPECT_THAT(*Env::Default()->ListDir(*path), UnorderedElementsAre(kProgramName, kSignatureName, kWeightsName));
  const auto model = LoadModel(Base(*estimator));  // the newest of all
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ((*model)->path(), *path);
  EXPECT_EQ((*model)->global_step(), 5);
  EXPECT_THAT((*model)->metrics(), ElementsAre(Pair("auc", 0.1), Pair("loss", 0.5)));
  std::map<std::string, std::string> inputs, outputs;
  for (const TensorSignature& t : (*model)->inputs()) inputs[t.name] = t.TypeString();
  for (const TensorSignature& t : (*model)->outputs()) outputs[t.name] = t.TypeString();
  EXPECT_THAT(inputs, ElementsAre(Pair("id", "int32[b]"), Pair("image", "float32[b,6,6,1]")));
  EXPECT_THAT(outputs, ElementsAre(Pair("class", "int64[b]"), Pair("logits", "float32[b,5]")));
  // 32 rows at once, which may be rounded otherwise than 8: near is enough here.
  const auto got = (*model)->Predict(Pictures(40));
  ASSERT_TRUE(got.ok()) << got.status();
  const std::vector<NamedTensors> expected = Predicted(*estimator, PictureInput(40, 8));
  for (int64_t i = 0; i < 40 * kClasses; ++i) {
    EXPECT_NEAR(got->at("logits").data<float>()[i], expected[i / kClasses].at("logits").data<float>()[i % kClasses],
                1e-5);
  }
}

TEST_F(ExportTest, TakesTheWeightsOfACheckpoint) {
  auto estimator = Trained();
  const std::vector<NamedTensors> of_five = Predicted(*estimator, PictureInput(9, 8));
  ASSERT_TRUE(estimator->Train(PictureInput(64, 8), {.steps = 3}).ok());
  const ServingInput input{.input_fn = PictureInput(9, 8)};
  const std::string checkpoint = JoinPath(estimator->model_dir(), "model.ckpt-5");
  const auto old = estimator->ExportModel(Base(*estimator), input, {.checkpoint_path = checkpoint});
  ASSERT_TRUE(old.ok()) << old.status();
  const auto latest = estimator->ExportModel(Base(*estimator), input);
  ASSERT_TRUE(latest.ok()) << latest.status();
  const auto model = LoadModel(*old);
  EXPECT_EQ((*model)->global_step(), 5);
  ExpectBits(*(*model)->Predict(Pictures(9)), of_five);
  EXPECT_EQ((*LoadModel(*latest))->global_step(), 8);
  ExpectBits(*(*LoadModel(*latest))->Predict(Pictures(9)), Predicted(*estimator, PictureInput(9, 8)));
  EXPECT_EQ(
      estimator
          ->ExportModel(Base(*estimator), input, {.checkpoint_path = JoinPath(estimator->model_dir(), "model.ckpt-9")})
          .status()
          .code(),
      absl::StatusCode::kNotFound);
}

TEST_F(ExportTest, OneProgramForAllExports) {
  auto estimator = Trained();
  const ServingInput input{.features = PictureFeatures()};
  ASSERT_TRUE(estimator->ExportModel(Base(*estimator), input).ok());
  const int64_t programs = estimator->programs_built();
  const auto second = estimator->ExportModel(Base(*estimator), input);
  EXPECT_EQ(estimator->programs_built(), programs);
  EXPECT_EQ(*estimator->ExportModel(Base(*estimator), input, {.reuse_equal = true}), *second);
  EXPECT_NE(*estimator->ExportModel(Base(*estimator), input), *second);
  EXPECT_NE(*estimator->ExportModel(Base(*estimator), input, {.metrics = {{"loss", 1}}, .reuse_equal = true}), *second);
  EXPECT_EQ(Env::Default()->ListDir(Base(*estimator))->size(), 4u);
}

TEST_F(ExportTest, NothingTrained) {
  Estimator estimator(PictureModel, test::Config(test::ModelDir()));
  const auto path = estimator.ExportModel(Base(estimator), {.features = PictureFeatures()});
  EXPECT_EQ(path.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(path.status().message(), HasSubstr("train first"));
  EXPECT_FALSE(Env::Default()->Exists(Base(estimator)));
}

TEST_F(ExportTest, WrongServingInputs) {
  auto estimator = Trained();
  const auto error = [&](const ServingInput& input) {
    const auto path = estimator->ExportModel(Base(*estimator), input);
    EXPECT_FALSE(path.ok());
    return std::string(path.status().message());
  };
  EXPECT_THAT(error({}), HasSubstr("there are no features"));
  EXPECT_THAT(error({.features = PictureFeatures(), .input_fn = PictureInput(9, 8)}),
              HasSubstr("leave one of them out"));
  EXPECT_THAT(error({.features = {{"image", DType::kFloat32, {6, 6, 1}}}}), HasSubstr("write {kBatch, ...}"));
  EXPECT_THAT(error({.features = {{"image", DType::kString, {kBatch}}}}), HasSubstr("is of type string"));
  EXPECT_THAT(error({.features = {{"", DType::kFloat32, {kBatch}}}}), HasSubstr("has no name"));
  EXPECT_THAT(error({.features = PictureFeatures(), .rows_per_step = -1}), HasSubstr("rows_per_step"));
  std::vector<ComponentSpec> twice = PictureFeatures();
  twice.push_back(twice[0]);
  EXPECT_THAT(error({.features = twice}), HasSubstr("two features have the name \"image\""));
  EXPECT_THAT(error({.features = {{"images", DType::kFloat32, {kBatch, 6, 6, 1}}}}),
              HasSubstr("did you mean \"images\"?"));
  // Other weights than training has.
  std::vector<ComponentSpec> larger = PictureFeatures();
  larger[0].shape = {kBatch, 8, 8, 1};
  EXPECT_THAT(error({.features = larger}), HasSubstr("dense/kernel"));
  EXPECT_THAT(error({.input_fn = [](const InputContext&) -> absl::StatusOr<Dataset> {
                return absl::NotFoundError("no such file");
              }}),
              HasSubstr("ServingInput.input_fn: no such file"));
  EXPECT_THAT(std::string(estimator->ExportModel("", {.features = PictureFeatures()}).status().message()),
              HasSubstr("export_dir_base"));
  EXPECT_FALSE(Env::Default()->Exists(Base(*estimator)));
}

TEST_F(ExportTest, WrongInputsOfAModel) {
  auto estimator = Trained();
  const auto path = estimator->ExportModel(Base(*estimator), {.features = PictureFeatures()});
  const auto model = LoadModel(*path);
  ASSERT_TRUE(model.ok()) << model.status();
  const auto error = [&](const NamedTensors& inputs) {
    const auto outputs = (*model)->Predict(inputs);
    EXPECT_EQ(outputs.status().code(), absl::StatusCode::kInvalidArgument) << outputs.status();
    return std::string(outputs.status().message());
  };
  const NamedTensors good = Pictures(3);
  const auto with = [&](const std::string& name, HostTensor value) {
    NamedTensors inputs = good;
    inputs[name] = std::move(value);
    return inputs;
  };
  EXPECT_THAT(error(with("imag", good.at("image"))), HasSubstr("did you mean \"image\"?"));
  EXPECT_THAT(error({{"id", good.at("id")}}), HasSubstr("no input \"image\" was given; the model takes"));
  EXPECT_THAT(error(with("id", HostTensor::Zeros(DType::kInt64, {3}))),
              HasSubstr("input \"id\" is int64[3], the model takes int32[b]"));
  EXPECT_THAT(error(with("image", HostTensor::Zeros(DType::kFloat32, {3, 6, 7, 1}))),
              HasSubstr("float32[3,6,7,1], the model takes float32[b,6,6,1]"));
  EXPECT_THAT(error(with("image", HostTensor::Zeros(DType::kFloat32, {}))), HasSubstr("float32[], the model takes"));
  EXPECT_THAT(error(with("id", HostTensor::Zeros(DType::kInt32, {4}))), HasSubstr("rows"));
  EXPECT_THAT(error(with("id", HostTensor())), HasSubstr("input \"id\""));
  const auto outputs = (*model)->Predict(with("id", HostTensor::FromVector<int32_t>({3}, {1, 7, 2})));
  EXPECT_EQ(outputs.status().code(), absl::StatusCode::kOutOfRange) << outputs.status();
  EXPECT_THAT(outputs.status().message(), HasSubstr("has 7 in row 1"));
  EXPECT_TRUE((*model)->Predict(good).ok());
}

TEST_F(ExportTest, PredictFromSeveralThreads) {
  auto estimator = Trained();
  const auto model = LoadModel(*estimator->ExportModel(Base(*estimator), {.input_fn = PictureInput(100, 8)}));
  const std::vector<NamedTensors> expected = Predicted(*estimator, PictureInput(30, 8));
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (int k = 0; k < 10; ++k) {
        const auto outputs = (*model)->Predict(Pictures(1 + (7 * i + k) % 30));
        ASSERT_TRUE(outputs.ok()) << outputs.status();
        ExpectBits(*outputs, expected);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// An export for many rows, of which a call has few: each row is what a full step computes.
TEST_F(ExportTest, ARowDoesNotDependOnTheOthers) {
  auto estimator = Trained();
  const auto path = estimator->ExportModel(Base(*estimator), {.features = PictureFeatures(), .rows_per_step = 64});
  ASSERT_TRUE(path.ok()) << path.status();
  for (int threads : {1, 2, 3}) {
    const auto model = LoadModel(*path, {.threads = threads});
    ASSERT_TRUE(model.ok()) << model.status();
    const auto all = (*model)->Predict(Pictures(130));
    ASSERT_TRUE(all.ok()) << all.status();
    for (int64_t rows = 1; rows <= 130; ++rows) {
      const auto some = (*model)->Predict(Pictures(rows));
      ASSERT_TRUE(some.ok()) << some.status();
      for (const auto& [name, values] : *some) {
        ASSERT_EQ(std::memcmp(values.raw(), all->at(name).raw(), values.byte_size()), 0) << name << ", " << rows;
      }
    }
  }
}

TEST_F(ExportTest, SeveralModelsInAProcess) {
  auto estimator = Trained();
  const std::string path = *estimator->ExportModel(Base(*estimator), {.features = PictureFeatures()});
  const auto all = (*LoadModel(path))->Predict(Pictures(50));
  ASSERT_TRUE(all.ok()) << all.status();
  std::vector<std::thread> owners;
  for (int owner = 0; owner < 3; ++owner) {
    owners.emplace_back([&, owner] {
      for (int i = 0; i < 5; ++i) {  // each ends while others run
        const auto model = LoadModel(path, {.threads = 1 + owner, .calls = 1 + i});
        ASSERT_TRUE(model.ok()) << model.status();
        const auto outputs = (*model)->Predict(Pictures(50));
        ASSERT_TRUE(outputs.ok()) << outputs.status();
        ASSERT_TRUE(outputs->at("logits").BitEqual(all->at("logits")));
      }
    });
  }
  for (std::thread& owner : owners) owner.join();
}

// From a checkpoint and from a model_dir, with the program that Predict has left there.
TEST_F(ExportTest, LoadsACheckpoint) {
  RunConfig config = test::Config(test::ModelDir());
  config.compile_cache = true;
  Estimator estimator(PictureModel, config);
  ASSERT_TRUE(estimator.Train(PictureInput(64, 8), {.steps = 5}).ok());
  const absl::Status none = LoadModel(config.model_dir).status();
  EXPECT_EQ(none.code(), absl::StatusCode::kFailedPrecondition) << none;
  EXPECT_THAT(none.message(), HasSubstr("no program of mode predict"));
  const std::vector<NamedTensors> of_five = Predicted(estimator, PictureInput(20, 8));
  ASSERT_TRUE(estimator.Train(PictureInput(64, 8), {.steps = 3}).ok());
  const std::vector<NamedTensors> of_eight = Predicted(estimator, PictureInput(20, 8));
  const std::string five = JoinPath(config.model_dir, "model.ckpt-5");
  for (const std::string& path : {five, config.model_dir}) {
    const auto model = LoadModel(path);
    ASSERT_TRUE(model.ok()) << model.status();
    EXPECT_EQ((*model)->global_step(), path == five ? 5 : 8);
    EXPECT_EQ((*model)->path(), path == five ? five : JoinPath(config.model_dir, "model.ckpt-8"));
    EXPECT_THAT((*model)->metrics(), IsEmpty());
    NamedTensors inputs;
    for (const TensorSignature& t : (*model)->inputs()) inputs[t.name] = Pictures(20).at(t.name);
    ExpectBits(*(*model)->Predict(inputs), path == five ? of_five : of_eight);
  }
}

TEST_F(ExportTest, DamageIsAnErrorWhereverItIs) {
  auto estimator = Trained();
  const std::string path = *estimator->ExportModel(Base(*estimator), {.features = PictureFeatures()});
  Env* env = Env::Default();
  for (const std::string name : {kProgramName, kWeightsName, kSignatureName}) {
    const std::string file = JoinPath(path, name), good = *env->ReadFile(file);
    for (size_t i = 0; i < 40; ++i) {  // a byte in each region of the file
      std::string bad = good;
      bad[i * (good.size() - 1) / 39] ^= 0x40;
      if (i % 4 == 3) bad.resize(i * good.size() / 40);
      ASSERT_TRUE(env->WriteFile(file, {bad}).ok());
      const auto model = LoadModel(path);
      ASSERT_EQ(model.status().code(), absl::StatusCode::kDataLoss) << model.status();
      EXPECT_EQ(ExitCodeFor(model.status()), kExitBadData);
      EXPECT_THAT(model.status().message(), HasSubstr(file));
    }
    ASSERT_TRUE(env->WriteFile(file, {good}).ok());
  }
  EXPECT_TRUE(LoadModel(path).ok());
  EXPECT_EQ(LoadModel(JoinPath(path, "absent")).status().code(), absl::StatusCode::kNotFound);
}

// Puts a copy of the export `from` to `to` at once. What is there goes away.
void PutExport(const std::filesystem::path& from, const std::filesystem::path& to) {
  const std::filesystem::path aside = to.string() + ".old", temporary = to.string() + ".new";
  std::filesystem::copy(from, temporary);
  if (std::filesystem::exists(to)) std::filesystem::rename(to, aside);
  std::filesystem::rename(temporary, to);
  std::filesystem::remove_all(aside);
}

// The only export of a folder, by another of its name, or by the next one, while it is loaded.
TEST_F(ExportTest, AnotherExportMayReplaceIt) {
  auto estimator = Trained();
  const std::string first = *estimator->ExportModel(Base(*estimator), {.features = PictureFeatures()});
  ASSERT_TRUE(estimator->Train(PictureInput(100, 8), {.steps = 3}).ok());
  const std::string second = *estimator->ExportModel(Base(*estimator), {.features = PictureFeatures()});
  const double begin = Env::Default()->MonotonicSeconds();
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(LoadModel(first).ok());
  const double load_seconds = (Env::Default()->MonotonicSeconds() - begin) / 10;
  constexpr int kLoads = 100;
  for (const bool same_name : {false, true}) {
    const std::filesystem::path base = test::ModelDir(same_name ? "same" : "next");
    const auto name = [&](int i) { return base / std::to_string(1700000000 + (same_name ? 0 : i)); };
    std::filesystem::create_directories(base);
    PutExport(first, name(0));
    for (int i = 1; i <= kLoads; ++i) {
      std::thread writer([&] {
        Env::Default()->SleepSeconds(load_seconds * i / kLoads);
        PutExport(i % 2 == 0 ? first : second, name(i));
        if (!same_name) std::filesystem::rename(name(i - 1), base / "deleted");
        std::filesystem::remove_all(base / "deleted");
      });
      const auto model = LoadModel(base.string());
      writer.join();
      ASSERT_TRUE(model.ok()) << i << ": " << model.status();
    }
  }
}

// The parts of two exports that are each intact.
TEST_F(ExportTest, PartsOfDifferentExports) {
  auto estimator = Trained();
  const std::string a = *estimator->ExportModel(Base(*estimator), {.features = PictureFeatures()});
  Estimator line(test::LineModel, test::Config(test::ModelDir("line")));
  ASSERT_TRUE(line.Train(test::LineInput(), {.steps = 2}).ok());
  const std::string b = *line.ExportModel(Base(line), {.input_fn = test::LineInput()});
  Env* env = Env::Default();
  for (const char* taken : {kProgramName, kWeightsName}) {
    ModelSignature signature = *ReadSignature(env, a);
    signature.files[taken] = ReadSignature(env, b)->files[taken];
    const std::string mixed = test::ModelDir(std::string("mixed_") + taken);
    for (const char* name : {kProgramName, kWeightsName}) {
      const std::string bytes = *env->ReadFile(JoinPath(std::string(name) == taken ? b : a, name));
      ASSERT_TRUE(env->WriteNewFile(JoinPath(mixed, name), {bytes}).ok());
    }
    const std::string text = *signature.Text();
    ASSERT_TRUE(env->WriteNewFile(JoinPath(mixed, kSignatureName), {text}).ok());
    const auto model = LoadModel(mixed);
    EXPECT_EQ(model.status().code(), absl::StatusCode::kDataLoss) << taken << ": " << model.status();
  }
}

TEST_F(ExportTest, OthersMayNotWriteTheProgram) {
  auto estimator = Trained();
  const std::string path = *estimator->ExportModel(Base(*estimator), {.features = PictureFeatures()});
  ASSERT_EQ(chmod(JoinPath(path, kProgramName).c_str(), 0666), 0);
  const auto model = LoadModel(path);
  EXPECT_EQ(model.status().code(), absl::StatusCode::kPermissionDenied) << model.status();
  EXPECT_EQ(ExitCodeFor(model.status()), kExitIo);
}

TEST_F(ExportTest, AFullDisk) {
  FaultInjectingEnv env(Env::Default());
  RunConfig config = test::Config(test::ModelDir());
  config.env = &env;
  Estimator estimator(PictureModel, config);
  ASSERT_TRUE(estimator.Train(PictureInput(64, 8), {.steps = 2}).ok());
  env.FailPath("exports", ENOSPC);
  const auto path = estimator.ExportModel(Base(estimator), {.features = PictureFeatures()});
  EXPECT_EQ(path.status().code(), absl::StatusCode::kResourceExhausted) << path.status();
  EXPECT_EQ(ExitCodeFor(path.status()), kExitIo);
  EXPECT_THAT(path.status().message(), HasSubstr("free some space"));
  EXPECT_FALSE(Env::Default()->Exists(Base(estimator)));
}

}  // namespace
}  // namespace tandem
