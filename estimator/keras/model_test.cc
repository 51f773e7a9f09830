// Models that are compiled, trained and evaluated.
#include "estimator/keras/model.h"

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <stdexcept>

#include "base/logging.h"
#include "base/test_dir.h"
#include "frontends/keras/layers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tandem::keras {
namespace {

using layers::Dense;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;

// y = 2 x0 - x1 + 0.5.
Data Line(int64_t rows) {
  HostTensor x(DType::kFloat32, {rows, 2}), y(DType::kFloat32, {rows, 1});
  std::mt19937 random(3);
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (int64_t i = 0; i < rows; ++i) {
    const float a = uniform(random), b = uniform(random);
    x.data<float>()[2 * i] = a;
    x.data<float>()[2 * i + 1] = b;
    y.data<float>()[i] = 2 * a - b + 0.5f;
  }
  return Data(x, y);
}

Sequential LineModel() { return Sequential({Dense(1, {.input_shape = {2}})}); }

std::vector<float> ValuesOf(const HostTensors& weights) {
  std::vector<float> values;
  for (const HostTensor& weight : weights) {
    const auto of_weight = weight.values<float>();
    values.insert(values.end(), of_weight.begin(), of_weight.end());
  }
  return values;
}

class KerasModelTest : public testing::Test {
 protected:
  void SetUp() override { ClearSession(); }
};

TEST_F(KerasModelTest, TensorsAreAddedSubtractedAndMultiplied) {
  const KerasTensor x = Input({.shape = {2}, .name = "x"}), y = Input({.shape = {2}, .name = "y"});
  Model model({x, y}, {x + y, x - y, x * y}, "sums");
  const Data data({HostTensor::FromVector<float>({1, 2}, {3, -1}), HostTensor::FromVector<float>({1, 2}, {0.5, 4})},
                  {});
  const absl::StatusOr<NamedTensors> result = model.PredictOutputs(data);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_THAT(result->at("add").values<float>(), ElementsAre(3.5f, 3));
  EXPECT_THAT(result->at("subtract").values<float>(), ElementsAre(2.5f, -5));
  EXPECT_THAT(result->at("multiply").values<float>(), ElementsAre(1.5f, -4));
  EXPECT_FALSE((x + Input({.shape = {3}})).status().ok());
}

TEST_F(KerasModelTest, LeavesNoFolderAndLogsNothing) {
  const std::string temporary = TestDir("temporary");
  const char* const before = std::getenv("TMPDIR");
  const std::string saved = before != nullptr ? before : "";
  setenv("TMPDIR", temporary.c_str(), 1);
  const LogCapture log;
  {
    Sequential model = LineModel();
    model.Compile({.optimizer = "sgd", .loss = "mse"});
    EXPECT_TRUE(model.Predict(Line(8).xs()[0]).ok());
    EXPECT_TRUE(model.Fit(Line(8), {.verbose = 0}).ok());
    EXPECT_TRUE(model.Evaluate(Line(8), {.verbose = 0}).ok());
  }
  setenv("TMPDIR", saved.c_str(), 1);
  if (before == nullptr) unsetenv("TMPDIR");
  EXPECT_EQ(log.Text(), "");
  EXPECT_TRUE(std::filesystem::is_empty(temporary));
}

TEST_F(KerasModelTest, FitsALineAndPredicts) {
  Sequential model = LineModel();
  model.Compile({.optimizer = optimizers::SGD({.learning_rate = 0.1}), .loss = "mse", .metrics = {"mae"}});
  const Data data = Line(100);
  absl::StatusOr<History> history = model.Fit(data, {.batch_size = 8, .epochs = 30, .verbose = 0});
  ASSERT_TRUE(history.ok()) << history.status();
  EXPECT_EQ(history->epoch.size(), 30u);
  EXPECT_LT(history->history.at("loss").back(), 1e-4);
  EXPECT_LT(history->history.at("loss").back(), history->history.at("loss").front());
  EXPECT_TRUE(history->history.contains("mae"));
  absl::StatusOr<HostTensors> weights = model.GetWeights();
  ASSERT_TRUE(weights.ok()) << weights.status();
  const std::vector<float> values = ValuesOf(*weights);
  EXPECT_NEAR(values[0], 2, 0.02);
  EXPECT_NEAR(values[1], -1, 0.02);
  EXPECT_NEAR(values[2], 0.5, 0.02);
  absl::StatusOr<HostTensor> predictions = model.Predict(data.xs()[0]);
  ASSERT_TRUE(predictions.ok()) << predictions.status();
  EXPECT_EQ(predictions->shape(), (Shape{100, 1}));
  for (int i = 0; i < 100; ++i) {
    EXPECT_NEAR(predictions->data<float>()[i], data.ys()[0].data<float>()[i], 0.05);
  }
  absl::StatusOr<Logs> logs = model.Evaluate(data, {.verbose = 0});
  ASSERT_TRUE(logs.ok()) << logs.status();
  ASSERT_EQ(logs->size(), 2u);
  EXPECT_LT((*logs)["loss"], 1e-3);
  EXPECT_EQ((*logs)[1], (*logs)["mae"]);
}

TEST_F(KerasModelTest, HasTheSameBitsOnOneTwoAndFourDevices) {
  std::vector<std::vector<float>> results;
  for (const auto& devices :
       std::vector<std::vector<std::string>>{{"cpu:0"}, {"cpu:0", "cpu:1"}, {"cpu:0", "cpu:1", "cpu:2", "cpu:3"}}) {
    ClearSession();
    StrategyScope scope{MirroredStrategy(devices)};
    Sequential model({Dense(3, {.activation = "relu", .input_shape = {2}}), Dense(1)});
    model.Compile({.optimizer = "adam", .loss = "mse", .config = {.lanes = 4}});
    absl::StatusOr<History> history = model.Fit(Line(50), {.batch_size = 8, .epochs = 3, .verbose = 0});
    ASSERT_TRUE(history.ok()) << history.status();
    absl::StatusOr<HostTensors> weights = model.GetWeights();
    ASSERT_TRUE(weights.ok()) << weights.status();
    results.push_back(ValuesOf(*weights));
    for (double loss : history->history.at("loss")) results.back().push_back(static_cast<float>(loss));
  }
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(results[0], results[2]);
}

TEST_F(KerasModelTest, ASecondFitGoesOnFromTheFirst) {
  Sequential model = LineModel();
  model.Compile({.optimizer = optimizers::SGD({.learning_rate = 0.05}), .loss = "mse"});
  absl::StatusOr<History> first = model.Fit(Line(64), {.batch_size = 16, .epochs = 2, .verbose = 0});
  ASSERT_TRUE(first.ok()) << first.status();
  absl::StatusOr<History> second = model.Fit(Line(64), {.batch_size = 16, .epochs = 2, .verbose = 0});
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_EQ(second->epoch, (std::vector<int64_t>{0, 1}));
  EXPECT_LT(second->history.at("loss")[0], first->history.at("loss")[1]);
}

TEST_F(KerasModelTest, TrainsWhatWasAssigned) {
  Sequential model = LineModel();
  model.Compile({.optimizer = optimizers::SGD({.learning_rate = 0.05}), .loss = "mse"});
  ASSERT_TRUE(model.Fit(Line(64), {.verbose = 0}).ok());
  HostTensors perfect = {HostTensor::FromVector<float>({2, 1}, {2, -1}), HostTensor::FromVector<float>({1}, {0.5})};
  ASSERT_TRUE(model.SetWeights(perfect).ok());
  absl::StatusOr<Logs> logs = model.Evaluate(Line(64), {.verbose = 0});
  ASSERT_TRUE(logs.ok()) << logs.status();
  EXPECT_LT((*logs)["loss"], 1e-10);
  absl::StatusOr<History> history = model.Fit(Line(64), {.verbose = 0});
  ASSERT_TRUE(history.ok()) << history.status();
  EXPECT_LT(history->history.at("loss")[0], 1e-10);
}

TEST_F(KerasModelTest, TwoModelsShareALayer) {
  auto x = Input({.shape = {2}});
  Dense shared(1, {.name = "shared"});
  auto y = shared(x);
  Model a(x, y), b(x, layers::Activation("sigmoid")(y));
  a.Compile({.optimizer = "sgd", .loss = "mse"});
  b.Compile({.optimizer = "sgd", .loss = "mse"});
  ASSERT_TRUE(a.Fit(Line(64), {.verbose = 0}).ok());
  absl::StatusOr<HostTensors> of_a = a.GetWeights(), of_b = b.GetWeights();
  ASSERT_TRUE(of_a.ok() && of_b.ok());
  EXPECT_EQ(ValuesOf(*of_a), ValuesOf(*of_b));
  ASSERT_TRUE(b.Fit(Line(64), {.verbose = 0}).ok());
  absl::StatusOr<HostTensors> after = a.GetWeights();
  ASSERT_TRUE(after.ok()) << after.status();
  EXPECT_NE(ValuesOf(*after), ValuesOf(*of_a));
  of_b = b.GetWeights();
  EXPECT_EQ(ValuesOf(*after), ValuesOf(*of_b));
}

class Counting : public Callback {
 public:
  explicit Counting(int64_t kill_at = -1) : kill_at_(kill_at) {}
  absl::Status OnEpochBegin(int64_t epoch) override { return calls.push_back(epoch), absl::OkStatus(); }
  absl::Status OnTrainBatchEnd(int64_t, const Logs&) override {
    return ++batches == kill_at_ ? absl::InternalError("killed") : absl::OkStatus();
  }
  std::vector<int64_t> calls;
  int64_t batches = 0;

 private:
  const int64_t kill_at_;
};

TEST_F(KerasModelTest, ARunThatWasKilledInAnEpochEndsWithTheSameBitsAndHistory) {
  const Data data = Line(100);
  const auto run = [&](const std::string& directory, int64_t kill_at) -> absl::StatusOr<std::vector<float>> {
    ClearSession();
    Sequential model({Dense(3, {.activation = "relu", .input_shape = {2}}), layers::Dropout(0.3), Dense(1)});
    model.Compile({.optimizer = "adam", .loss = "mse", .metrics = {"mae"}});
    absl::StatusOr<History> history = model.Fit(data, {.batch_size = 8,
                                                       .epochs = 4,
                                                       .verbose = 0,
                                                       .callbacks = {std::make_shared<Counting>(kill_at)},
                                                       .validation_data = Line(20),
                                                       .directory = directory});
    if (!history.ok()) return history.status();
    absl::StatusOr<HostTensors> weights = model.GetWeights();
    if (!weights.ok()) return weights.status();
    std::vector<float> all = ValuesOf(*weights);
    for (const auto& [name, values] : history->history) {
      for (double value : values) all.push_back(static_cast<float>(value));
    }
    return all;
  };
  const std::string whole_dir = TestDir("whole"), killed_dir = TestDir("killed");
  absl::StatusOr<std::vector<float>> whole = run(whole_dir, -1);
  ASSERT_TRUE(whole.ok()) << whole.status();
  EXPECT_THAT(run(killed_dir, 20).status().message(), HasSubstr("killed"));
  absl::StatusOr<std::vector<float>> resumed = run(killed_dir, -1);
  ASSERT_TRUE(resumed.ok()) << resumed.status();
  EXPECT_EQ(*whole, *resumed);
  absl::StatusOr<std::vector<float>> again = run(killed_dir, -1);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(*whole, *again) << "a run that has ended returns its history at once";
}

TEST_F(KerasModelTest, AFrozenLayerCountsFromTheNextCompile) {
  Sequential model({Dense(3, {.name = "first", .input_shape = {2}}), Dense(1)});
  model.Compile({.optimizer = "sgd", .loss = "mse"});
  model.layers()[0].set_trainable(false);
  const auto kernel = [&] { return model.layers()[0].weights()[0].Value()->Clone(); };
  const HostTensor before = kernel();
  ASSERT_TRUE(model.Fit(Line(16), {.verbose = 0}).ok());
  const HostTensor trained = kernel();
  EXPECT_FALSE(before.BitEqual(trained)) << "it was compiled as a layer that is trained";
  EXPECT_FALSE(model.layers()[0].trainable());
  model.Compile({.optimizer = "sgd", .loss = "mse"});
  ASSERT_TRUE(model.Fit(Line(16), {.verbose = 0}).ok());
  EXPECT_TRUE(trained.BitEqual(kernel()));
}

TEST_F(KerasModelTest, TrainsBatchByBatch) {
  Sequential model = LineModel();
  model.Compile({.optimizer = optimizers::SGD({.learning_rate = 0.1}), .loss = "mse"});
  double first = 0, last = 0;
  for (int i = 0; i < 10; ++i) {
    const absl::StatusOr<Logs> logs = model.TrainOnBatch(Line(32));
    ASSERT_TRUE(logs.ok()) << logs.status();
    last = (*logs)["loss"];
    if (i == 0) first = last;
  }
  EXPECT_LT(last, first / 2);
  const absl::StatusOr<Logs> tested = model.TestOnBatch(Line(32));
  ASSERT_TRUE(tested.ok()) << tested.status();
  EXPECT_LT((*tested)["loss"], last);
}

TEST_F(KerasModelTest, WeighsClassesAndExamples) {
  const HostTensor x = HostTensor::FromVector<float>({4, 1}, {1, 1, 1, 1});
  const HostTensor y = HostTensor::FromVector<int32_t>({4}, {0, 1, 0, 1});
  Sequential model({Dense(2, {.activation = "softmax", .kernel_initializer = "zeros", .input_shape = {1}})});
  model.Compile({.optimizer = optimizers::SGD({.learning_rate = 0}), .loss = "sparse_categorical_crossentropy"});
  absl::StatusOr<History> history = model.Fit({x, y}, {.verbose = 0, .class_weight = {{0, 1.0}, {1, 3.0}}});
  ASSERT_TRUE(history.ok()) << history.status();
  EXPECT_NEAR(history->history.at("loss")[0], 2 * std::log(2.0), 1e-6);
  const HostTensor weights = HostTensor::FromVector<float>({4}, {4, 0, 0, 0});
  history = model.Fit({x, y, weights}, {.verbose = 0});
  ASSERT_TRUE(history.ok()) << history.status();
  EXPECT_NEAR(history->history.at("loss")[0], std::log(2.0), 1e-6);
}

TEST_F(KerasModelTest, SeveralInputsAndOutputs) {
  auto left = Input({.shape = {2}, .name = "left"}), right = Input({.shape = {2}, .name = "right"});
  auto sum = layers::Add()({left, right});
  auto a = Dense(1, {.name = "a"})(sum), b = Dense(3, {.activation = "softmax", .name = "b"})(sum);
  Model model({left, right}, {a, b});
  model.Compile({.optimizer = "adam",
                 .loss = std::map<std::string, LossArg>{{"a", "mse"}, {"b", "sparse_categorical_crossentropy"}},
                 .metrics = {std::map<std::string, std::vector<MetricArg>>{{"b", {"accuracy"}}}},
                 .loss_weights = {{"b", 0.5}}});
  const HostTensor x = Line(24).xs()[0];
  HostTensor classes(DType::kInt32, {24});
  for (int i = 0; i < 24; ++i) classes.data<int32_t>()[i] = i % 3;
  const Data data({x, x}, {Line(24).ys()[0], classes});
  absl::StatusOr<History> history = model.Fit(data, {.batch_size = 8, .verbose = 0});
  ASSERT_TRUE(history.ok()) << history.status();
  absl::StatusOr<Logs> logs = model.Evaluate(data, {.verbose = 0});
  ASSERT_TRUE(logs.ok()) << logs.status();
  std::vector<std::string> names;
  for (const auto& value : logs->values()) names.push_back(value.first);
  EXPECT_THAT(names, ElementsAre("loss", "a_loss", "b_loss", "b_accuracy"));
  EXPECT_NEAR((*logs)["loss"], (*logs)["a_loss"] + 0.5 * (*logs)["b_loss"], 1e-5);
  absl::StatusOr<NamedTensors> outputs = model.PredictOutputs(Data({x, x}, {}));
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  EXPECT_EQ(outputs->at("b").shape(), (Shape{24, 3}));
}

// What each mistake says.
TEST_F(KerasModelTest, MistakesAreExplained) {
  const Data data = Line(16);
  const auto fit = [&](const CompileOptions& compile, const FitOptions& options = {.verbose = 0}) {
    Sequential model = LineModel();
    model.Compile(compile);
    return std::string(model.Fit(data, options).status().message());
  };
  EXPECT_THAT(std::string(LineModel().Fit(data).status().message()), HasSubstr("not compiled"));
  EXPECT_THAT(fit({.optimizer = "sgd"}), HasSubstr("there is no loss"));
  EXPECT_THAT(fit({.optimizer = "sdg", .loss = "mse"}), HasSubstr("sdg"));
  EXPECT_THAT(fit({.loss = "msee"}), HasSubstr("msee"));
  EXPECT_THAT(fit({.loss = "mse", .metrics = {"acuracy"}}), HasSubstr("acuracy"));
  EXPECT_THAT(fit({.loss = "mse", .loss_weights = {{"dense_7", 1}}}), HasSubstr("names the output \"dense_7\""));
  EXPECT_THAT(fit({.loss = "mse"}, {.verbose = 0, .validation_split = 1.5}), HasSubstr("validation_split"));
  EXPECT_THAT(fit({.loss = "mse"}, {.verbose = 3}), HasSubstr("verbose must be 0, 1 or 2"));
  EXPECT_THAT(fit({.loss = "mse"}, {.verbose = 0, .callbacks = {nullptr}}), HasSubstr("is null"));
  EXPECT_THAT(fit({.loss = "mse", .config = {.train_distribute = MirroredStrategy({"cpu:0", "cpu:1"})}},
                  {.batch_size = 1, .verbose = 0}),
              HasSubstr("smaller than the number of devices"));
  EXPECT_THAT(fit({.loss = "mse"}, {.verbose = 0,
                                    .validation_data = Data(HostTensor::Zeros(DType::kFloat32, {4, 3}),
                                                            HostTensor::Zeros(DType::kFloat32, {4, 1}))}),
              HasSubstr("validation_data"));
  Sequential model = LineModel();
  model.Compile({.loss = "mse"});
  const HostTensor wide = HostTensor::Zeros(DType::kFloat32, {4, 3});
  EXPECT_THAT(std::string(model.Fit({wide, wide}, {.verbose = 0}).status().message()), HasSubstr("[b,3]"));
  EXPECT_THAT(std::string(model.Fit({wide, HostTensor::Zeros(DType::kFloat32, {5, 1})}).status().message()),
              HasSubstr("equally many"));
  EXPECT_THAT(std::string(model.Fit(Data(Dataset::FromTensorSlices({{"x", wide}}))).status().message()),
              HasSubstr("Batch"));
  EXPECT_THAT(std::string(model.GetLayer("dens").status().message()), HasSubstr("did you mean \"dense"));
  class Throws : public Callback {
   public:
    std::string name() const override { return "Throws"; }
    absl::Status OnEpochEnd(int64_t, Logs&) override { throw std::runtime_error("no"); }
  };
  EXPECT_THAT(fit({.loss = "mse"}, {.verbose = 0, .callbacks = {std::make_shared<Throws>()}}),
              testing::AllOf(HasSubstr("callback Throws, OnEpochEnd, epoch 0"), HasSubstr("no")));
}

}  // namespace
}  // namespace tandem::keras
