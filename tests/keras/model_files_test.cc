// Models from Keras' files: what they predict, evaluate to and train on to is what Keras' models do; and what is saved.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/env.h"
#include "base/test_dir.h"
#include "data/files/hdf5_attributes.h"
#include "data/files/hdf5_reader.h"
#include "estimator/checkpoint/safetensors.h"
#include "estimator/keras/load_model.h"
#include "estimator/keras/model.h"
#include "frontends/keras/layers.h"
#include "frontends/keras/optimizers.h"
#include "gmock/gmock.h"
#include "graph/ops.h"
#include "gtest/gtest.h"

namespace tandem::keras {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr char kDir[] = "tests/keras/testdata/";

TensorMap Expected(const std::string& name) {
  absl::StatusOr<TensorMap> tensors =
      ReadSafetensors(Env::Default(), absl::StrCat(kDir, name, ".expected.safetensors"));
  EXPECT_TRUE(tensors.ok()) << tensors.status();
  return tensors.ok() ? *std::move(tensors) : TensorMap();
}

// To 1e-5 of the largest element.
void ExpectNear(const HostTensor& actual, const HostTensor& expected, const std::string& what, double relative = 1e-5) {
  ASSERT_EQ(actual.dtype(), DType::kFloat32) << what;
  ASSERT_EQ(actual.num_elements(), expected.num_elements()) << what;
  double largest = 0;
  for (const float x : expected.values<float>()) largest = std::max<double>(largest, std::abs(x));
  for (int64_t i = 0; i < actual.num_elements(); ++i) {
    ASSERT_NEAR(actual.data<float>()[i], expected.data<float>()[i], relative * largest) << what << " element " << i;
  }
}

void ExpectSameBits(const HostTensor& actual, const HostTensor& expected, const std::string& what) {
  ASSERT_EQ(actual.dtype(), expected.dtype()) << what;
  ASSERT_EQ(actual.shape(), expected.shape()) << what;
  EXPECT_EQ(std::memcmp(actual.raw(), expected.raw(), actual.byte_size()), 0) << what;
}

HostTensor Rows(const HostTensor& tensor, int64_t begin, int64_t end) {
  Shape shape = tensor.shape();
  const int64_t row = tensor.byte_size() / shape[0];
  shape[0] = end - begin;
  HostTensor rows(tensor.dtype(), shape);
  std::memcpy(rows.raw(), static_cast<const char*>(tensor.raw()) + begin * row, row * shape[0]);
  return rows;
}

// Entry number `i` of [n, ...].
HostTensor Entry(const HostTensor& tensor, int64_t i) {
  const HostTensor rows = Rows(tensor, i, i + 1);
  Shape shape(rows.shape().begin() + 1, rows.shape().end());
  HostTensor entry(rows.dtype(), shape);
  std::memcpy(entry.raw(), rows.raw(), rows.byte_size());
  return entry;
}

// All weights of the model against "<prefix>/<Keras' name>".
void ExpectWeights(const Model& model, const TensorMap& expected, const std::string& prefix, double relative = 1e-5) {
  int64_t count = 0;
  for (const Weight& weight : model.weights()) {
    const auto found = expected.find(absl::StrCat(prefix, "/", weight.name(), ":0"));
    ASSERT_NE(found, expected.end()) << weight.name();
    const absl::StatusOr<HostTensor> value = weight.Value();
    ASSERT_TRUE(value.ok()) << value.status();
    ExpectNear(*value, found->second, weight.name(), relative);
    ++count;
  }
  int64_t wanted = 0;
  for (const auto& [name, value] : expected) wanted += absl::StartsWith(name, absl::StrCat(prefix, "/")) ? 1 : 0;
  EXPECT_EQ(count, wanted);
}

// The tensors of a list of names below `group`, in its order.
std::vector<HostTensor> Listed(const Hdf5Group& group) {
  std::vector<HostTensor> tensors;
  const absl::StatusOr<std::vector<std::string>> names = GetStringList(group, "weight_names");
  EXPECT_TRUE(names.ok()) << names.status();
  for (const std::string& name : *names) {
    const absl::StatusOr<const Hdf5Dataset*> data = group.Dataset(name);
    EXPECT_TRUE(data.ok()) << data.status();
    tensors.push_back(*(*data)->Read());
  }
  return tensors;
}

class ModelFilesTest : public testing::Test {
 protected:
  void SetUp() override { ClearSession(); }
  std::string Path(const std::string& name) const { return absl::StrCat(dir_, "/", name); }

  const std::string dir_ = TestDir("keras_files");
};

std::string ReadBytes(const std::string& path) {
  absl::StatusOr<std::string> bytes = Env::Default()->ReadFile(path);
  EXPECT_TRUE(bytes.ok()) << bytes.status();
  return bytes.ok() ? *bytes : "";
}

class PairsTest : public ModelFilesTest, public testing::WithParamInterface<const char*> {};

TEST_P(PairsTest, PredictsAndTakesTheThirdStep) {
  const TensorMap expected = Expected("pairs");
  absl::StatusOr<Model> model = LoadModel(absl::StrCat(kDir, GetParam()));
  ASSERT_TRUE(model.ok()) << model.status();
  ExpectWeights(*model, expected, "saved", 0);
  const std::vector<HostTensor> xs = {expected.at("left"), expected.at("right")};
  absl::StatusOr<NamedTensors> predictions = model->PredictOutputs(Data(xs, {}));
  ASSERT_TRUE(predictions.ok()) << predictions.status();
  ExpectNear(predictions->at("score"), expected.at("prediction_score"), "score");
  ExpectNear(predictions->at("kind"), expected.at("prediction_kind"), "kind");

  const Data batch({Rows(xs[0], 8, 12), Rows(xs[1], 8, 12)},
                   {Rows(expected.at("y_score"), 8, 12), Rows(expected.at("y_kind"), 8, 12)});
  absl::StatusOr<History> history = model->Fit(batch, {.batch_size = 4, .verbose = 0, .shuffle = false});
  ASSERT_TRUE(history.ok()) << history.status();
  ExpectWeights(*model, expected, "third_step");
  // The last of pairs.logs.json.
  EXPECT_NEAR(history->history.at("loss")[0], 1.2779065370559692, 2e-5);
  EXPECT_TRUE(history->history.contains("score_accuracy"));
  EXPECT_TRUE(history->history.contains("kind_accuracy"));
}

INSTANTIATE_TEST_SUITE_P(Files, PairsTest, testing::Values("pairs.h5", "pairs.keras"));

class NarrowTest : public ModelFilesTest, public testing::WithParamInterface<const char*> {};

TEST_P(NarrowTest, PredictsAndEvaluates) {
  const TensorMap expected = Expected("s2_narrow");
  absl::StatusOr<Model> model = LoadModel(absl::StrCat(kDir, GetParam()));
  ASSERT_TRUE(model.ok()) << model.status();
  absl::StatusOr<HostTensor> predictions = model->Predict(expected.at("x"));
  ASSERT_TRUE(predictions.ok()) << predictions.status();
  ExpectNear(*predictions, expected.at("predictions"), "predictions");
  absl::StatusOr<Logs> logs = model->Evaluate({expected.at("x"), expected.at("y")}, {.batch_size = 5, .verbose = 0});
  ASSERT_TRUE(logs.ok()) << logs.status();
  const double loss = *expected.at("loss").data<double>();
  EXPECT_NEAR((*logs)["loss"], loss, 1e-5 * loss);
  EXPECT_NEAR((*logs)["accuracy"], *expected.at("accuracy").data<double>(), 1e-6);
}

INSTANTIATE_TEST_SUITE_P(Files, NarrowTest, testing::Values("s2_narrow.h5", "s2_narrow.keras"));

class OptimizerFilesTest : public ModelFilesTest, public testing::WithParamInterface<const char*> {};

TEST_P(OptimizerFilesTest, TakesTheThirdStep) {
  const std::string name = absl::StrCat("optimizers/", GetParam());
  const TensorMap expected = Expected(name);
  absl::StatusOr<Model> model = LoadModel(absl::StrCat(kDir, name, ".h5"));
  ASSERT_TRUE(model.ok()) << model.status();
  ExpectWeights(*model, expected, "saved", 0);
  const Data batch(Entry(expected.at("x"), 2), Entry(expected.at("y"), 2));
  // An evaluation before it changes nothing.
  const absl::StatusOr<Logs> logs = model->Evaluate(batch, {.verbose = 0});
  ASSERT_TRUE(logs.ok()) << logs.status();
  const absl::StatusOr<History> history = model->Fit(batch, {.batch_size = 4, .verbose = 0});
  ASSERT_TRUE(history.ok()) << history.status();
  ExpectWeights(*model, expected, "third_step");
}

// Not Nadam, whose steps in Keras 2.15 are not those of its formula (keras::optimizers::Nadam).
INSTANTIATE_TEST_SUITE_P(Files, OptimizerFilesTest,
                         testing::Values("sgd", "sgd_momentum", "rmsprop", "rmsprop_centered", "adam", "adam_amsgrad",
                                         "adam_schedule", "adamw", "adamax", "adagrad", "adadelta", "ftrl",
                                         "legacy_sgd_momentum", "legacy_rmsprop", "legacy_adam"));

class SavedAgainTest : public ModelFilesTest, public testing::WithParamInterface<const char*> {};

TEST_P(SavedAgainTest, HasTheSameWeightsAndState) {
  const std::string from = absl::StrCat(kDir, GetParam()), to = Path("saved.h5"), again = Path("again.h5");
  absl::StatusOr<Model> model = LoadModel(from);
  ASSERT_TRUE(model.ok()) << model.status();
  ASSERT_TRUE(model->Save(to).ok()) << model->Save(to);
  absl::StatusOr<Hdf5Group> a = ReadHdf5(Env::Default(), from), b = ReadHdf5(Env::Default(), to);
  ASSERT_TRUE(a.ok() && b.ok()) << b.status();
  const std::vector<std::string> layer_names = *GetStringList(**a->Group("model_weights"), "layer_names");
  EXPECT_EQ(*GetStringList(**b->Group("model_weights"), "layer_names"), layer_names);
  for (const std::string& layer : layer_names) {
    const std::vector<HostTensor> x = Listed(**a->Group(absl::StrCat("model_weights/", layer)));
    const std::vector<HostTensor> y = Listed(**b->Group(absl::StrCat("model_weights/", layer)));
    ASSERT_EQ(x.size(), y.size()) << layer;
    for (size_t i = 0; i < x.size(); ++i) ExpectSameBits(x[i], y[i], absl::StrCat(layer, " ", i));
  }
  std::vector<HostTensor> x = Listed(**a->Group("optimizer_weights")), y = Listed(**b->Group("optimizer_weights"));
  // The rate of Keras 3, and Keras 2 counts in int64.
  if (x.size() == y.size() + 1) x.erase(x.begin() + 1);
  ASSERT_EQ(x.size(), y.size());
  for (size_t i = 1; i < x.size(); ++i) ExpectSameBits(x[i], y[i], absl::StrCat("optimizer ", i));
  EXPECT_EQ(*y[0].data<int64_t>(), 2);

  absl::StatusOr<Model> second = LoadModel(to);
  ASSERT_TRUE(second.ok()) << second.status();
  ASSERT_TRUE(second->Save(again).ok());
  EXPECT_EQ(ReadBytes(to), ReadBytes(again));
}

INSTANTIATE_TEST_SUITE_P(Files, SavedAgainTest,
                         testing::Values("pairs.h5", "s2_narrow.h5", "keras3_pairs.h5", "keras3_s2_narrow.h5",
                                         "optimizers/adam.h5", "optimizers/adam_amsgrad.h5",
                                         "optimizers/sgd_momentum.h5", "optimizers/rmsprop_centered.h5",
                                         "optimizers/ftrl.h5", "optimizers/adadelta.h5"));

struct Keras3Case {
  const char* file;
  const char* expected;
};

class Keras3Test : public ModelFilesTest, public testing::WithParamInterface<Keras3Case> {};

TEST_P(Keras3Test, Predicts) {
  const TensorMap expected = Expected(GetParam().expected);
  absl::StatusOr<Model> model = LoadModel(absl::StrCat(kDir, GetParam().file));
  ASSERT_TRUE(model.ok()) << model.status();
  std::vector<HostTensor> xs;
  for (int i = 0; expected.contains(absl::StrCat("input_", i)); ++i)
    xs.push_back(expected.at(absl::StrCat("input_", i)));
  absl::StatusOr<NamedTensors> predictions = model->PredictOutputs(Data(xs, {}));
  ASSERT_TRUE(predictions.ok()) << predictions.status();
  if (predictions->size() == 1) {
    ExpectNear(predictions->begin()->second, expected.at("output_0"), "output");
  } else {
    ExpectNear(predictions->at("score"), expected.at("output_0"), "score");
    ExpectNear(predictions->at("kind"), expected.at("output_1"), "kind");
  }
}

INSTANTIATE_TEST_SUITE_P(Files, Keras3Test,
                         testing::Values(Keras3Case{"keras3_pairs.h5", "keras3_pairs"},
                                         Keras3Case{"keras3_pairs.keras", "keras3_pairs"},
                                         Keras3Case{"keras3_s2_narrow.h5", "keras3_s2_narrow"},
                                         Keras3Case{"keras3_s2_narrow.keras", "keras3_s2_narrow"}));

// The same weights in all layouts.
class LayoutTest : public ModelFilesTest, public testing::WithParamInterface<const char*> {};

TEST_P(LayoutTest, GivesTheSameWeights) {
  absl::StatusOr<Model> model = LoadModel(absl::StrCat(kDir, "keras3_s2_narrow.h5"));  // of other values
  ASSERT_TRUE(model.ok()) << model.status();
  const absl::StatusOr<LoadReport> report = model->LoadWeights(absl::StrCat(kDir, GetParam()));
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->loaded, 14);
  ExpectWeights(*model, Expected("s2_narrow"), "weights", 0);
}

INSTANTIATE_TEST_SUITE_P(Files, LayoutTest,
                         testing::Values("s2_narrow.h5", "s2_narrow.keras", "s2_narrow.weights.h5",
                                         "s2_narrow_weights.h5", "s2_narrow_weights_fixed.h5"));

TEST_F(ModelFilesTest, WeightsOfKeras3AreThoseOfItsModel) {
  for (const char* name : {"keras3_pairs", "keras3_s2_narrow"}) {
    absl::StatusOr<Model> a = LoadModel(absl::StrCat(kDir, name, ".h5"));
    absl::StatusOr<Model> b = LoadModel(absl::StrCat(kDir, name, ".keras"), {.compile = false});
    ASSERT_TRUE(a.ok() && b.ok()) << a.status() << b.status();
    for (const Weight& weight : b->weights()) {
      ASSERT_TRUE(weight.Assign(HostTensor(DType::kFloat32, weight.shape())).ok());
    }
    absl::StatusOr<LoadReport> report = b->LoadWeights(absl::StrCat(kDir, name, ".weights.h5"));
    ASSERT_TRUE(report.ok()) << report.status();
    const absl::StatusOr<HostTensors> x = a->GetWeights(), y = b->GetWeights();
    for (size_t i = 0; i < x->size(); ++i) ExpectSameBits((*y)[i], (*x)[i], absl::StrCat(name, " ", i));
  }
}

TEST_F(ModelFilesTest, ListsOfNamesMayBeCut) {
  std::vector<Layer> inner;
  for (int i = 0; i < 17; ++i) {
    inner.push_back(layers::Dense(1, {.name = absl::StrCat(i, std::string(1980, 'x')), .input_shape = {1}}));
  }
  Sequential nested("inner");
  for (const Layer& layer : inner) nested.Add(layer);
  Sequential model({nested, layers::Dense(1)});
  const absl::StatusOr<LoadReport> report = model.LoadWeights(absl::StrCat(kDir, "long_names_weights.h5"));
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->loaded, 36);
  const absl::StatusOr<HostTensors> values = model.GetWeights();
  ASSERT_TRUE(values.ok());
  for (size_t i = 0; i < values->size(); ++i) EXPECT_EQ(*(*values)[i].data<float>(), i);
  // And are, where they are saved.
  ASSERT_TRUE(model.SaveWeights(Path("long.h5")).ok());
  const absl::StatusOr<Hdf5Group> saved = ReadHdf5(Env::Default(), Path("long.h5"));
  ASSERT_TRUE(saved.ok()) << saved.status();
  EXPECT_TRUE(saved->FindGroup("inner")->attributes.contains("weight_names1"));
  const absl::StatusOr<LoadReport> again = model.LoadWeights(Path("long.h5"));
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->loaded, 36);
}

// What SaveWeights writes reads the same, in each format.
class SaveWeightsTest : public ModelFilesTest, public testing::WithParamInterface<const char*> {};

TEST_P(SaveWeightsTest, ReadsTheSame) {
  absl::StatusOr<Model> model = LoadModel(absl::StrCat(kDir, "pairs.h5"));
  ASSERT_TRUE(model.ok()) << model.status();
  const absl::StatusOr<HostTensors> before = model->GetWeights();
  const std::string path = Path(GetParam());
  ASSERT_TRUE(model->SaveWeights(path).ok()) << model->SaveWeights(path);
  for (const Weight& weight : model->weights()) {
    ASSERT_TRUE(weight.Assign(HostTensor(DType::kFloat32, weight.shape())).ok());
  }
  const absl::StatusOr<LoadReport> report = model->LoadWeights(path);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->loaded, 14);
  const absl::StatusOr<HostTensors> after = model->GetWeights();
  for (size_t i = 0; i < before->size(); ++i) ExpectSameBits((*after)[i], (*before)[i], absl::StrCat(i));
}

INSTANTIATE_TEST_SUITE_P(Formats, SaveWeightsTest, testing::Values("w.h5", "w.hdf5", "w.weights.h5", "w.safetensors"));

TEST_F(ModelFilesTest, AnArchiveHasTheSameModelAndState) {
  absl::StatusOr<Model> model = LoadModel(absl::StrCat(kDir, "pairs.h5"));
  ASSERT_TRUE(model.ok()) << model.status();
  ASSERT_TRUE(model->Save(Path("pairs.keras")).ok()) << model->Save(Path("pairs.keras"));
  absl::StatusOr<Model> archived = LoadModel(Path("pairs.keras"));
  ASSERT_TRUE(archived.ok()) << archived.status();
  ASSERT_TRUE(model->Save(Path("a.h5")).ok());
  ASSERT_TRUE(archived->Save(Path("b.h5")).ok());
  EXPECT_EQ(ReadBytes(Path("a.h5")), ReadBytes(Path("b.h5")));
}

TEST_F(ModelFilesTest, TrainingGoesOnFromWhatWasSaved) {
  const TensorMap expected = Expected("optimizers/adam");
  absl::StatusOr<Model> model = LoadModel(absl::StrCat(kDir, "optimizers/adam.h5"));
  ASSERT_TRUE(model.ok()) << model.status();
  const Data batch(Entry(expected.at("x"), 2), Entry(expected.at("y"), 2));
  const FitOptions options{.batch_size = 4, .epochs = 2, .verbose = 0, .shuffle = false};
  ASSERT_TRUE(model->Fit(batch, options).ok());
  ASSERT_TRUE(model->Save(Path("half.h5")).ok());
  absl::StatusOr<Model> other = LoadModel(Path("half.h5"));
  ASSERT_TRUE(other.ok()) << other.status();
  ASSERT_TRUE(model->Fit(batch, options).ok());
  ASSERT_TRUE(other->Fit(batch, options).ok());
  // With a directory the same: what was trained in memory is what it begins with.
  ASSERT_TRUE(model->Fit(batch, {.batch_size = 4, .verbose = 0, .shuffle = false, .directory = Path("run")}).ok());
  ASSERT_TRUE(other->Fit(batch, {.batch_size = 4, .verbose = 0, .shuffle = false}).ok());
  const absl::StatusOr<HostTensors> x = model->GetWeights(), y = other->GetWeights();
  ASSERT_TRUE(x.ok() && y.ok());
  for (size_t i = 0; i < x->size(); ++i) ExpectSameBits((*x)[i], (*y)[i], absl::StrCat(i));
}

TEST_F(ModelFilesTest, TheRateOfNowIsSaved) {
  absl::StatusOr<Model> model = LoadModel(absl::StrCat(kDir, "optimizers/adam.h5"));
  ASSERT_TRUE(model.ok()) << model.status();
  ASSERT_TRUE(model->SetLearningRate(0.25).ok());
  ASSERT_TRUE(model->Save(Path("rate.h5")).ok());
  absl::StatusOr<Model> other = LoadModel(Path("rate.h5"));
  ASSERT_TRUE(other.ok()) << other.status();
  EXPECT_EQ(*other->LearningRate(), 0.25);
}

// Dense(2) on 3 inputs, as the files of hostile/ have it.
Sequential SmallModel() { return Sequential({layers::Dense(2, {.input_shape = {3}})}); }

class ReadableTest : public ModelFilesTest, public testing::WithParamInterface<const char*> {};

TEST_P(ReadableTest, Loads) {
  Sequential model = SmallModel();
  const absl::StatusOr<LoadReport> report = model.LoadWeights(absl::StrCat(kDir, "hostile/", GetParam(), ".h5"));
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->loaded, 2);
  const absl::StatusOr<HostTensors> values = model.GetWeights();
  ASSERT_TRUE(values.ok());
  for (int i = 0; i < 6; ++i) EXPECT_EQ((*values)[0].data<float>()[i], i);
}

INSTANTIATE_TEST_SUITE_P(Files, ReadableTest, testing::Values("good", "float64", "big_endian", "latest"));

TEST_F(ModelFilesTest, ValuesThatAreNotFiniteAreAWarning) {
  Sequential model = SmallModel();
  testing::internal::CaptureStderr();
  const absl::StatusOr<LoadReport> report = model.LoadWeights(absl::StrCat(kDir, "hostile/not_finite.h5"));
  const std::string log = testing::internal::GetCapturedStderr();
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_TRUE(std::isnan(*(*model.GetWeights())[0].data<float>()));
  EXPECT_THAT(log, HasSubstr("hostile/not_finite.h5: /dense/dense/kernel:0: 6 of 6"));
}

struct HostileCase {
  const char* file;
  const char* what;
};

class HostileTest : public ModelFilesTest, public testing::WithParamInterface<HostileCase> {};

TEST_P(HostileTest, IsRefused) {
  Sequential model = SmallModel();
  const absl::StatusOr<HostTensors> before = model.GetWeights();
  const std::string path = absl::StrCat(kDir, "hostile/", GetParam().file, ".h5");
  const absl::StatusOr<LoadReport> report = model.LoadWeights(path);
  ASSERT_FALSE(report.ok());
  EXPECT_THAT(report.status().message(), AllOf(HasSubstr(path), HasSubstr(GetParam().what)));
  const absl::StatusOr<HostTensors> after = model.GetWeights();
  for (size_t i = 0; i < before->size(); ++i) ExpectSameBits((*after)[i], (*before)[i], "unchanged");
}

INSTANTIATE_TEST_SUITE_P(
    Files, HostileTest,
    testing::Values(HostileCase{"external_link", "link"}, HostileCase{"soft_link", "link"},
                    HostileCase{"external_storage", "another file"}, HostileCase{"virtual", "virtual"},
                    HostileCase{"gzip", "compressed"}, HostileCase{"chunked", "chunks"},
                    HostileCase{"huge_shape", "chunks"}, HostileCase{"no_values", "kernel:0"},
                    HostileCase{"cycle", "loop"}, HostileCase{"integers", "cannot be read"},
                    HostileCase{"missing", "no data set \"kernel:0\""}, HostileCase{"group_for_data", "kernel:0"},
                    HostileCase{"other_shape", "\"dense/kernel\", float32 [3,2], is [2,3] in"},
                    HostileCase{"absent_layer", "/dense: the group has no"}, HostileCase{"path_as_name", "\"..\""},
                    HostileCase{"no_layer_names", "layer_names"}, HostileCase{"truncated", "it has 5256"},
                    HostileCase{"empty", "HDF5"}, HostileCase{"not_hdf5", "zip archive"}),
    [](const testing::TestParamInfo<HostileCase>& info) { return std::string(info.param.file); });

TEST_F(ModelFilesTest, AllDifferencesAreListedAtOnce) {
  Sequential model({layers::Dense(5, {.name = "encoder", .input_shape = {6}}), layers::Dense(4, {.name = "own"}),
                    layers::Dense(7, {.name = "kind"})});
  const absl::StatusOr<LoadReport> report = model.LoadWeights(absl::StrCat(kDir, "pairs.h5"));
  ASSERT_FALSE(report.ok());
  EXPECT_THAT(
      report.status().message(),
      AllOf(HasSubstr("2 weights are missing, 10 superfluous, 2 of another shape"),
            HasSubstr("Dense \"own\" (tests/keras/model_files_test.cc:"),
            HasSubstr("\"own/kernel\", float32 [5,4], is not"),
            HasSubstr("pairs.h5: /model_weights/tower/batch_normalization/gamma:0, [4], is no weight of the model"),
            HasSubstr("\"kind/kernel\", float32 [4,7], is [5,3] in tests/keras/testdata/pairs.h5: "
                      "/model_weights/kind/kind/kernel:0"),
            HasSubstr(".by_name")));
}

TEST_F(ModelFilesTest, ByNameTakesLayersOfEqualNames) {
  Sequential model({layers::Dense(5, {.name = "encoder", .input_shape = {6}}), layers::Dense(4, {.name = "own"})});
  const absl::StatusOr<HostTensors> before = model.GetWeights();
  const absl::StatusOr<LoadReport> report = model.LoadWeights(absl::StrCat(kDir, "pairs.h5"), {.by_name = true});
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->loaded, 2);
  EXPECT_EQ(report->missing.size(), 2u);
  EXPECT_EQ(report->superfluous.size(), 12u);
  const absl::StatusOr<HostTensors> after = model.GetWeights();
  ExpectSameBits((*after)[0], Expected("pairs").at("saved/encoder/kernel:0"), "encoder/kernel");
  ExpectSameBits((*after)[2], (*before)[2], "own/kernel");
}

TEST_F(ModelFilesTest, ByNameTakesLayersWherePathsSayTheirNames) {
  // In another order and with a layer between them, so that no path fits.
  Sequential model({layers::Dense(5, {.name = "own", .input_shape = {6}}), layers::Dense(6, {.name = "between"}),
                    layers::Dense(5, {.name = "encoder"})});
  const std::string path = absl::StrCat(kDir, "keras3_pairs.weights.h5");
  EXPECT_THAT(model.LoadWeights(path).status().message(), HasSubstr(".by_name"));
  const absl::StatusOr<LoadReport> report = model.LoadWeights(path, {.by_name = true});
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->loaded, 2);
  EXPECT_EQ(report->missing.size(), 4u);
  ExpectSameBits((*model.GetWeights())[4], Expected("keras3_pairs").at("weights/encoder/kernel"), "encoder/kernel");
}

TEST_F(ModelFilesTest, SkipMismatchKeepsWeightsOfAnotherShape) {
  Sequential model({layers::Dense(5, {.name = "encoder", .input_shape = {6}}), layers::Dense(7, {.name = "kind"})});
  const LoadWeightsOptions by_name{.by_name = true}, skip{.by_name = true, .skip_mismatch = true};
  const std::string path = absl::StrCat(kDir, "pairs.h5");
  const absl::StatusOr<LoadReport> refused = model.LoadWeights(path, by_name);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.status().message(), HasSubstr("2 of another shape"));
  const absl::StatusOr<LoadReport> report = model.LoadWeights(path, skip);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->loaded, 2);
  EXPECT_EQ(report->mismatched.size(), 2u);
}

TEST_F(ModelFilesTest, UnknownClassesAreListed) {
  const absl::StatusOr<Model> model = LoadModel(absl::StrCat(kDir, "recurrent.h5"));
  ASSERT_FALSE(model.ok());
  EXPECT_THAT(model.status().message(),
              AllOf(HasSubstr("recurrent.h5"), HasSubstr("Bidirectional, GRU, LSTM, SimpleRNN, TimeDistributed"),
                    HasSubstr("LoadWeights"), HasSubstr("model_files_test.cc")));
}

TEST_F(ModelFilesTest, AFileOfWeightsIsNoModel) {
  const absl::StatusOr<Model> model = LoadModel(absl::StrCat(kDir, "s2_narrow_weights.h5"));
  ASSERT_FALSE(model.ok());
  EXPECT_THAT(model.status().message(), AllOf(HasSubstr("weights alone"), HasSubstr("LoadWeights")));
}

TEST_F(ModelFilesTest, AFileThatIsNotThereIsNamed) {
  Sequential model = SmallModel();
  for (const char* name : {"none.h5", "none.keras", "none.safetensors"}) {
    const absl::StatusOr<LoadReport> report = model.LoadWeights(Path(name));
    ASSERT_FALSE(report.ok());
    EXPECT_TRUE(absl::IsNotFound(report.status())) << report.status();
    EXPECT_THAT(report.status().message(), HasSubstr(name));
  }
}

TEST_F(ModelFilesTest, WeightsInSeveralFilesAreRefused) {
  Sequential model = SmallModel();
  const absl::StatusOr<LoadReport> report = model.LoadWeights(Path("model.weights.json"));
  ASSERT_FALSE(report.ok());
  EXPECT_THAT(report.status().message(), HasSubstr("max_shard_size"));
}

TEST_F(ModelFilesTest, ADamagedArchiveIsRefused) {
  std::string bytes = ReadBytes(absl::StrCat(kDir, "pairs.keras"));
  bytes.resize(bytes.size() / 2);
  ASSERT_TRUE(Env::Default()->WriteFileAtomically(Path("half.keras"), bytes).ok());
  const absl::StatusOr<Model> model = LoadModel(Path("half.keras"));
  ASSERT_FALSE(model.ok());
  EXPECT_THAT(model.status().message(), HasSubstr("half.keras"));
}

TEST_F(ModelFilesTest, UnknownEndingsAreRefused) {
  const Sequential model = SmallModel();
  EXPECT_THAT(model.Save("model.pb").message(), AllOf(HasSubstr("model.pb"), HasSubstr(".h5")));
  EXPECT_THAT(model.Save("model.weights.h5").message(), HasSubstr("SaveWeights"));
  EXPECT_THAT(model.SaveWeights("model.bin").message(), AllOf(HasSubstr("model.bin"), HasSubstr(".safetensors")));
}

TEST_F(ModelFilesTest, AFunctionWithoutANameIsNotSaved) {
  Sequential model(
      {layers::Dense(2, {.activation = [](const Tensor& x) { return x; }, .name = "odd", .input_shape = {3}})});
  const absl::Status status = model.Save(Path("odd.h5"));
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.message(), AllOf(HasSubstr("Dense \"odd\" (tests/keras/model_files_test.cc:"),
                                      HasSubstr("activation"), HasSubstr("relu")));
  EXPECT_TRUE(model.SaveWeights(Path("odd_weights.h5")).ok());
}

TEST_F(ModelFilesTest, ALossWithoutANameIsLeftOut) {
  Sequential model = SmallModel();
  model.Compile({.optimizer = "sgd", .loss = [](const Tensor& y, const Tensor& p) { return Square(Sub(p, y)); }});
  testing::internal::CaptureStderr();
  ASSERT_TRUE(model.Save(Path("own_loss.h5")).ok());
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("the loss is a function without a name"));
  absl::StatusOr<Model> loaded = LoadModel(Path("own_loss.h5"));
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  HostTensor x(DType::kFloat32, {1, 3}), y(DType::kFloat32, {1, 2});
  EXPECT_THAT(loaded->Fit({x, y}, {.verbose = 0}).status().message(), HasSubstr("is not compiled"));
}

}  // namespace
}  // namespace tandem::keras
