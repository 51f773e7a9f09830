#include "frontends/keras/losses.h"

#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "frontends/testing.h"
#include "gmock/gmock.h"
#include "graph/ops.h"
#include "gtest/gtest.h"

namespace tandem::keras {
namespace {

using frontends::ErrorMismatch;
using frontends::Fetched;
using frontends::Floats;
using frontends::Ints;
using frontends::RunStep;
using frontends::Values;
using testing::HasSubstr;
using testing::StartsWith;

using LossOptions = tandem::losses::LossOptions;
constexpr char kLossesFile[] = "losses_test.cc";

// Of two rows; NaN after an error.
double LossOf(const LossArg& loss, const Values& labels, const Values& predictions, const Values& weights = {}) {
  const int64_t columns = static_cast<int64_t>(labels.size()) / 2;
  GraphBuilder graph;
  Tensor y = graph.Input("y", DType::kFloat32, {kBatch, columns});
  Tensor p = graph.Input("p", DType::kFloat32, {kBatch, static_cast<int64_t>(predictions.size()) / 2});
  LossOptions options;
  std::map<std::string, HostTensor> inputs = {{"y", Floats({2, columns}, labels)},
                                              {"p", Floats({2, p.shape()[1]}, predictions)}};
  if (!weights.empty()) {
    options.weights = graph.Input("w", DType::kFloat32, {kBatch});
    inputs["w"] = Floats({2}, weights);
  }
  graph.Output("loss", loss(y, p, options));
  EXPECT_TRUE(graph.status().ok()) << graph.status();
  if (!graph.status().ok()) return std::nan("");
  const Values got = RunStep(graph, {.batch = 2, .inputs = std::move(inputs)}).outputs["loss"];
  EXPECT_EQ(got.size(), 1u);
  return got.empty() ? std::nan("") : got[0];
}

TEST(KerasLosses, ByNameAreTheFormulasOfKeras) {
  const Values y = {1, 2, -1, 4}, p = {1.5, 1, 0.5, 4.25};
  auto mean = [&](const std::function<double(double, double)>& each) {
    double sum = 0;
    for (int i = 0; i < 4; ++i) sum += each(y[i], p[i]);
    return sum / 4;
  };
  const double squared = mean([](double a, double b) { return (a - b) * (a - b); });
  for (const char* name : {"mse", "MSE", "mean_squared_error", "MeanSquaredError"}) {
    EXPECT_NEAR(LossOf(name, y, p), squared, 1e-6) << name;
  }
  const double absolute = mean([](double a, double b) { return std::abs(a - b); });
  for (const char* name : {"mae", "MAE", "mean_absolute_error", "MeanAbsoluteError"}) {
    EXPECT_NEAR(LossOf(name, y, p), absolute, 1e-6) << name;
  }
  const double percentage = mean([](double a, double b) { return 100 * std::abs(a - b) / std::abs(a); });
  for (const char* name : {"mape", "MAPE", "mean_absolute_percentage_error", "MeanAbsolutePercentageError"}) {
    EXPECT_NEAR(LossOf(name, y, p), percentage, 1e-4) << name;
  }
  const double logarithmic = mean(
      [](double a, double b) { return std::pow(std::log1p(std::max(a, 1e-7)) - std::log1p(std::max(b, 1e-7)), 2); });
  for (const char* name : {"msle", "MSLE", "mean_squared_logarithmic_error", "MeanSquaredLogarithmicError"}) {
    EXPECT_NEAR(LossOf(name, y, p), logarithmic, 1e-6) << name;
  }
  const double huber = mean([](double a, double b) {
    const double e = std::abs(a - b);
    return e <= 1 ? e * e / 2 : e - 0.5;
  });
  for (const char* name : {"huber", "Huber"}) EXPECT_NEAR(LossOf(name, y, p), huber, 1e-6) << name;
  const double cosh = mean([](double a, double b) { return std::log(std::cosh(a - b)); });
  for (const char* name : {"log_cosh", "logcosh", "LogCosh"}) EXPECT_NEAR(LossOf(name, y, p), cosh, 1e-6) << name;
  const double poisson = mean([](double a, double b) { return b - a * std::log(b); });
  for (const char* name : {"poisson", "Poisson"}) EXPECT_NEAR(LossOf(name, y, p), poisson, 1e-5) << name;
  double cosine = 0;
  for (int r = 0; r < 2; ++r) {
    cosine -= (y[2 * r] * p[2 * r] + y[2 * r + 1] * p[2 * r + 1]) /
              (std::hypot(y[2 * r], y[2 * r + 1]) * std::hypot(p[2 * r], p[2 * r + 1])) / 2;
  }
  for (const char* name : {"cosine_similarity", "CosineSimilarity"}) EXPECT_NEAR(LossOf(name, y, p), cosine, 1e-6);
}

TEST(KerasLosses, OfProbabilitiesByName) {
  const Values y = {1, 0, 0, 1}, p = {0.75, 0.25, 0.6, 0.4};
  const double categorical = -(std::log(0.75) + std::log(0.4)) / 2;
  for (const char* name : {"categorical_crossentropy", "CategoricalCrossentropy"}) {
    EXPECT_NEAR(LossOf(name, y, p), categorical, 1e-6) << name;
  }
  for (const char* name : {"binary_crossentropy", "bce", "BCE", "BinaryCrossentropy"}) {
    EXPECT_NEAR(LossOf(name, y, p), categorical, 1e-6) << name;
  }
  for (const char* name : {"kl_divergence", "kullback_leibler_divergence", "kld", "KLD", "KLDivergence"}) {
    EXPECT_NEAR(LossOf(name, y, p), categorical, 1e-5) << name;
  }
  const double focal = -0.25 * (0.0625 * std::log(0.75) + 0.36 * std::log(0.4)) / 2;
  for (const char* name : {"categorical_focal_crossentropy", "CategoricalFocalCrossentropy"}) {
    EXPECT_NEAR(LossOf(name, y, p), focal, 1e-6) << name;
  }
  for (const char* name : {"binary_focal_crossentropy", "BinaryFocalCrossentropy"}) {
    EXPECT_NEAR(LossOf(name, y, p), focal * 4, 1e-6) << name;
  }
  // Class numbers, here as floating-point numbers, one in each row.
  for (const char* name : {"sparse_categorical_crossentropy", "SparseCategoricalCrossentropy"}) {
    EXPECT_NEAR(LossOf(name, {0, 1}, p), categorical, 1e-6) << name;
  }
  const Values s = {1, -1, -1, 1};
  EXPECT_NEAR(LossOf("hinge", s, p), (0.25 + 1.25 + 1.6 + 0.6) / 4, 1e-6);
  EXPECT_NEAR(LossOf("squared_hinge", s, p), (0.0625 + 1.5625 + 2.56 + 0.36) / 4, 1e-6);
  EXPECT_NEAR(LossOf("categorical_hinge", y, p), (0.5 + 1.2) / 2, 1e-6);
}

// What a config says, on one line.
std::string ConfigText(const PartConfig::Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  const auto* part = std::get_if<std::shared_ptr<const PartConfig>>(&value);
  if (part == nullptr) return "none";
  std::string text = (*part)->class_name;
  for (const auto& [key, entry] : (*part)->values) {
    text += " " + key + "=";
    if (const auto* word = std::get_if<std::string>(&entry)) text += *word;
    if (const auto* flag = std::get_if<bool>(&entry)) text += *flag ? "true" : "false";
    if (const auto* number = std::get_if<double>(&entry)) text += std::to_string(*number).substr(0, 4);
    if (const auto* whole = std::get_if<int64_t>(&entry)) text += std::to_string(*whole);
  }
  return text;
}

TEST(KerasLosses, KnowWhatFilesSay) {
  EXPECT_EQ(ConfigText(LossArg("mse").config()), "mse");
  EXPECT_EQ(ConfigText(LossArg(tandem::losses::MeanSquaredError).config()), "mean_squared_error");
  EXPECT_EQ(ConfigText(LossArg(tandem::losses::Huber).config()), "huber");
  EXPECT_EQ(ConfigText(LossArg(tandem::losses::BinaryFocalCrossEntropy).config()), "binary_focal_crossentropy");
  EXPECT_EQ(ConfigText(LossArg(tandem::losses::SparseSoftmaxCrossEntropy).config()),
            "SparseCategoricalCrossentropy reduction=auto name=sparse_categorical_crossentropy from_logits=true "
            "ignore_class=");
  EXPECT_EQ(ConfigText(losses::BinaryCrossEntropy({.label_smoothing = 0.25}).config()),
            "BinaryCrossentropy reduction=auto name=binary_crossentropy from_logits=false label_smoothing=0.25 "
            "axis=-1");
  const LossArg own = [](const Tensor& y, const Tensor& p) { return Abs(y - p); };
  EXPECT_EQ(ConfigText(own.config()), "none");
  EXPECT_FALSE(own.empty());
  EXPECT_TRUE(LossArg().empty());
}

TEST(KerasLosses, WithOptionsOfTheirOwn) {
  const Values y = {1, 0, 0, 1}, logits = {2, 0, 1, 0.5};
  auto row = [](double right, double wrong) { return std::log1p(std::exp(wrong - right)); };
  const double categorical = (row(2, 0) + row(0.5, 1)) / 2;
  EXPECT_NEAR(LossOf(losses::CategoricalCrossEntropy({.from_logits = true}), y, logits), categorical, 1e-6);
  EXPECT_NEAR(LossOf(losses::SparseCategoricalCrossEntropy({.from_logits = true}), {0, 1}, logits), categorical, 1e-6);
  EXPECT_NEAR(LossOf(tandem::losses::SoftmaxCrossEntropy, y, logits), categorical, 1e-6);
  EXPECT_NEAR(LossOf(losses::Huber(0.5), {0, 0}, {0.25, 2}), (0.03125 + 0.875) / 2, 1e-6);
  EXPECT_NEAR(LossOf(losses::CategoricalCrossEntropy({.label_smoothing = 0.5}), y, {0.75, 0.25, 0.6, 0.4}),
              -(0.75 * std::log(0.75) + 0.25 * std::log(0.25) + 0.25 * std::log(0.6) + 0.75 * std::log(0.4)) / 2, 1e-6);
  EXPECT_NEAR(LossOf(losses::CategoricalFocalCrossEntropy({.gamma = 0, .alpha = 1}), y, {0.75, 0.25, 0.6, 0.4}),
              -(std::log(0.75) + std::log(0.4)) / 2, 1e-6);
  EXPECT_NEAR(LossOf(losses::BinaryFocalCrossEntropy({.gamma = 0}), y, {0.75, 0.25, 0.6, 0.4}),
              -(std::log(0.75) + std::log(0.4)) / 2, 1e-6);
}

TEST(KerasLosses, WeighTheExamples) {
  const LossArg own = [](const Tensor& y, const Tensor& p) { return ReduceSum(Abs(y - p), {1}); };
  for (const LossArg& loss : {own, LossArg("mae")}) {
    EXPECT_NEAR(LossOf(loss, {1, 2}, {0, 5}, {0.5, 2}), (0.5 * 1 + 2 * 3) / 2, 1e-6);
  }
  const LossArg scalar = [](const Tensor& y, const Tensor& p) { return ReduceMean(Abs(y - p)) * 3.0; };
  EXPECT_NEAR(LossOf(scalar, {1, 2}, {0, 5}), 6, 1e-6);
}

TEST(KerasLosses, ComeBackFromTheirConfigs) {
  const std::vector<LossArg> all = {losses::BinaryCrossEntropy({.from_logits = true}),
                                    losses::CategoricalCrossEntropy({.label_smoothing = 0.25}),
                                    losses::SparseCategoricalCrossEntropy({.from_logits = true}),
                                    losses::Huber(2),
                                    losses::BinaryFocalCrossEntropy({.gamma = 3, .apply_class_balancing = true}),
                                    losses::CategoricalFocalCrossEntropy({.alpha = 0.5})};
  for (const LossArg& loss : all) {
    absl::StatusOr<LossArg> read = LossFromConfig(*std::get<std::shared_ptr<const PartConfig>>(loss.config()));
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(ConfigText(read->config()), ConfigText(loss.config()));
  }
  absl::StatusOr<LossArg> sum = LossFromConfig({"MeanAbsoluteError", {{"reduction", "sum"}, {"name", "mine"}}});
  ASSERT_TRUE(sum.ok()) << sum.status();
  EXPECT_NEAR(LossOf(*sum, {1, 2}, {0, 5}), 4, 1e-6);
}

TEST(KerasLosses, Errors) {
  auto error = [](const LossArg& loss, bool weighted = false) {
    GraphBuilder graph;
    Tensor y = graph.Input("y", DType::kFloat32, {kBatch, 2}), p = graph.Input("p", DType::kFloat32, {kBatch, 2});
    LossOptions options;
    if (weighted) options.weights = graph.Input("w", DType::kFloat32, {kBatch});
    EXPECT_FALSE(loss(y, p, options).ok());
    EXPECT_EQ(ErrorMismatch(graph, "", kLossesFile), "");
    return std::string(graph.status().message());
  };
  EXPECT_THAT(error("categorical_crossentropie"),
              HasSubstr("there is no loss \"categorical_crossentropie\"; did you mean \"categorical_crossentropy\"? "
                        "The names are mean_squared_error, "));
  EXPECT_THAT(error(LossArg()), HasSubstr("there is none"));
  EXPECT_THAT(error([](const Tensor&, const Tensor&) { return Tensor(); }), HasSubstr("returned an empty Tensor"));
  EXPECT_THAT(error([](const Tensor&, const Tensor& p) { return ReduceMean(p); }, true),
              HasSubstr("takes no sample weights"));
  EXPECT_THAT(error(std::function<Tensor(const Tensor&, const Tensor&)>()), HasSubstr("the function is null"));
  EXPECT_FALSE(LossByName("mes").ok());
  EXPECT_TRUE(LossByName("mse").ok());
  auto refused = [](const PartConfig& config) { return std::string(LossFromConfig(config).status().message()); };
  EXPECT_THAT(refused({"DiceLoss", {}}), StartsWith("there is no loss \"DiceLoss\""));
  EXPECT_EQ(refused({"Huber", {{"reduction", "none"}}}),
            "the loss Huber: \"reduction\" must be auto, sum_over_batch_size or sum, got \"none\"");
  EXPECT_EQ(refused({"BinaryCrossentropy", {{"axis", int64_t{1}}}}),
            "the loss BinaryCrossentropy: \"axis\" must be -1, got 1");
  EXPECT_THAT(refused({"SparseCategoricalCrossentropy", {{"ignore_class", int64_t{0}}}}),
              HasSubstr("\"ignore_class\" must be null"));
}

}  // namespace
}  // namespace tandem::keras
