// Labels by name: one or several components of the input.
#include "estimator/model/labels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "estimator/test_models.h"

namespace tandem {
namespace {

using namespace test;  // NOLINT: this file's vocabulary
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// x, price = 2 x + 1, sold = x < 1/2 as float32; in prediction x alone.
InputFn Sales(bool labels = true) {
  return [=](const InputContext&) -> absl::StatusOr<Dataset> {
    std::vector<float> x, price, sold;
    for (int i = 0; i < 64; ++i) {
      x.push_back(static_cast<float>(i) / 64);
      price.push_back(2 * x.back() + 1);
      sold.push_back(i < 32 ? 1.0f : 0.0f);
    }
    Dataset::Slices slices = {{"x", HostTensor::FromVector<float>({64, 1}, x)}};
    if (labels) slices.push_back({"price", HostTensor::FromVector<float>({64, 1}, price)});
    if (labels) slices.push_back({"sold", HostTensor::FromVector<float>({64, 1}, sold)});
    Dataset dataset = Dataset::FromTensorSlices(slices);
    return labels ? dataset.Repeat().Batch(16) : dataset.Batch(16);
  };
}

EstimatorSpec Model(const Features& features, const Labels& labels, Mode mode, const Params&) {
  Tensor price = layers::Dense(features["x"], {.units = 1, .name = "price"});
  Tensor sold = Sigmoid(layers::Dense(features["x"], {.units = 1, .name = "sold"}));
  if (mode == Mode::kPredict) return EstimatorSpec::Predict({{"price", price}, {"sold", sold}});
  Tensor loss = losses::MeanSquaredError(labels["price"], price) + losses::BinaryCrossEntropy(labels["sold"], sold);
  if (mode == Mode::kEval) {
    return EstimatorSpec::Eval(loss, {{"mse", metrics::MeanSquaredError(labels["price"], price)}});
  }
  EXPECT_THAT(labels.names(), ElementsAre("price", "sold"));
  EXPECT_TRUE(labels.Has("sold"));
  EXPECT_FALSE(labels.Has("x"));
  EXPECT_THAT(features.names(), ElementsAre("x"));
  return EstimatorSpec::Train(loss, optimizers::Adam({.learning_rate = 0.1}).Minimize(loss));
}

TEST(LabelsTest, SeveralByName) {
  Estimator estimator(Model, Config(ModelDir(), /*replicas=*/2), {}, {.labels = {"price", "sold"}});
  ASSERT_EQ(estimator.Train(Sales(), {.steps = 200}), absl::OkStatus());
  auto result = estimator.Evaluate(Sales(), {.steps = 4});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_LT((*result)["mse"], 0.01);
  // Prediction asks for no labels, whether the input has them or not.
  for (bool labels : {false, true}) {
    int64_t examples = 0;
    const absl::Status status = estimator.Predict(Sales(labels), [&](const NamedTensors& row) {
      EXPECT_EQ(row.size(), 2u);
      return ++examples < 64;
    });
    EXPECT_EQ(status, absl::OkStatus());
  }
}

// The same model with one label, whose name is asked for or not.
TEST(LabelsTest, OneWithOrWithoutItsName) {
  for (const bool by_name : {false, true}) {
    Estimator estimator(
        [by_name](const Features& features, const Labels& labels, Mode, const Params&) {
          Tensor y = layers::Dense(features["x"], {.units = 1});
          Tensor loss = losses::MeanSquaredError(by_name ? labels["price"] : Tensor(labels), y);
          return EstimatorSpec::Train(loss, optimizers::SGD({.learning_rate = 0.1}).Minimize(loss));
        },
        Config(ModelDir(by_name ? "name" : "only")), {}, {.labels = {"price"}});
    EXPECT_EQ(estimator.Train(Sales(), {.steps = 2}), absl::OkStatus());
  }
}

absl::Status TrainWith(const std::vector<std::string>& labels, const ModelFn& model) {
  return Estimator(model, Config(ModelDir()), {}, {.labels = labels}).Train(Sales(), {.steps = 1});
}

EstimatorSpec TakesOne(const Features& features, const Tensor& labels, Mode, const Params&) {
  Tensor loss = losses::MeanSquaredError(labels, layers::Dense(features["x"], {.units = 1}));
  return EstimatorSpec::Train(loss, optimizers::SGD({.learning_rate = 0.1}).Minimize(loss));
}

TEST(LabelsTest, Errors) {
  EXPECT_THAT(TrainWith({"price", "sold"}, TakesOne).message(),
              HasSubstr("has no value: there are several labels, price, sold; take `const Labels& labels` in model_fn "
                        "and ask for one, labels[\"price\"]"));
  EXPECT_THAT(TrainWith({"price", "price"}, TakesOne).message(),
              HasSubstr("InputSpec.labels: \"price\" is there twice"));
  EXPECT_THAT(TrainWith({"price", "cost"}, TakesOne).message(),
              HasSubstr("InputSpec.labels: the input has no component \"cost\", it has x:float32[b,1], price:"));
  const int line = __LINE__ + 2;
  const auto misspelt = [](const Features& features, const Labels& labels, Mode, const Params&) {
    Tensor loss = losses::MeanSquaredError(labels["prise"], layers::Dense(features["x"], {.units = 1}));
    return EstimatorSpec::Train(loss, optimizers::SGD({.learning_rate = 0.1}).Minimize(loss));
  };
  EXPECT_THAT(TrainWith({"price", "sold"}, misspelt).message(),
              HasSubstr(absl::StrCat("labels_test.cc:", line,
                                     ": the input has no labels \"prise\"; it has price, "
                                     "sold; did you mean \"price\"?")));
}

}  // namespace
}  // namespace tandem
