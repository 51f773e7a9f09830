// A table of customers with strings and empty fields, and two labels: how much a customer spends, and whether he stays.
#include <cstdio>
#include <string>

#include "absl/flags/flag.h"
#include "base/env.h"
#include "base/program.h"
#include "base/status_macros.h"
#include "data/vocabulary.h"
#include "estimator/estimator.h"
#include "estimator/train_and_evaluate.h"
#include "frontends/layers.h"
#include "frontends/losses.h"
#include "frontends/metrics.h"
#include "frontends/optimizers.h"
#include "graph/ops.h"

ABSL_FLAG(std::string, data_dir, "", "Folder with train.csv and test.csv.");
ABSL_FLAG(std::string, model_dir, "", "Folder for checkpoints.");

namespace tandem {
namespace {

constexpr float kMissing = -1;
constexpr int kSteps = 2000;

EstimatorSpec ModelFn(const Features& features, const Labels& labels, Mode mode, const Params& params) {
  const auto embed = [&](const std::string& column) {
    return layers::Embedding(features[column], {.input_dim = params.Int(column, 0), .output_dim = 4});
  };
  const Tensor numbers = Stack({features["age"], features["income"]}, 1);
  const Tensor known = Cast(NotEqual(numbers, kMissing), DType::kFloat32);
  const Tensor scaled = layers::BatchNormalization(numbers, {.momentum = 0.9, .training = mode == Mode::kTrain});
  const Tensor row = Concat({scaled * known, known, embed("job"), embed("city")}, 1);
  const Tensor hidden = layers::Dense(row, {.units = 32, .activation = Relu});
  const Tensor spending = layers::Dense(hidden, {.units = 1});
  const Tensor stays = layers::Dense(hidden, {.units = 1, .activation = Sigmoid});
  if (mode == Mode::kPredict) return EstimatorSpec::Predict({{"spending", spending}, {"stays", stays}});
  const Tensor loss =
      losses::MeanSquaredError(labels["spending"], spending) + losses::BinaryCrossEntropy(labels["stays"], stays);
  if (mode == Mode::kEval) {
    return EstimatorSpec::Eval(loss, {{"error", metrics::MeanAbsoluteError(labels["spending"], spending)},
                                      {"auc", metrics::AUC(labels["stays"], stays)}});
  }
  // The rate ends at 0, so that workers that do not wait for each other also end near the best weights.
  const Schedule rate = schedules::CosineDecay({.initial_learning_rate = 0.02, .decay_steps = kSteps});
  return EstimatorSpec::Train(loss, optimizers::Adam({.learning_rate = rate}).Minimize(loss));
}

Dataset Table(const std::string& file) {
  return Dataset::Csv({JoinPath(absl::GetFlag(FLAGS_data_dir), file)},
                      {{"age", DType::kFloat32, HostTensor::Scalar(kMissing)},
                       {"income", DType::kFloat32, HostTensor::Scalar(kMissing)},
                       {"job", DType::kString, HostTensor::String("")},
                       {"city", DType::kString, HostTensor::String("")},
                       {"spending", DType::kFloat32},
                       {"stays", DType::kInt32}});
}

absl::Status Run() {
  TD_ASSIGN_OR_RETURN(const Vocabulary jobs, Vocabulary::FromDataset(Table("train.csv"), "job"));
  TD_ASSIGN_OR_RETURN(const Vocabulary cities, Vocabulary::FromDataset(Table("train.csv"), "city"));
  const auto examples = [=](const std::string& file) {
    return cities.Lookup(jobs.Lookup(Table(file), "job"), "city").Cache();
  };
  const InputFn train_input = [=](const InputContext&) {
    return examples("train.csv").Shuffle(2000).Repeat().Batch(64);
  };
  const InputFn eval_input = [=](const InputContext&) { return examples("test.csv").Batch(64); };
  Estimator estimator(ModelFn, {.model_dir = absl::GetFlag(FLAGS_model_dir), .save_checkpoints_steps = 100},
                      {{"job", jobs.size()}, {"city", cities.size()}}, {.labels = {"spending", "stays"}});
  const TrainSpec train{.input_fn = train_input, .max_steps = kSteps};
  TD_ASSIGN_OR_RETURN(const EvalResult result, TrainAndEvaluate(estimator, train, {.input_fn = eval_input}));
  if (estimator.is_chief()) std::printf("%s\n", result.ToString().c_str());
  return absl::OkStatus();
}

}  // namespace
}  // namespace tandem

int main(int argc, char** argv) {
  return tandem::RunProgram(argc, argv, "predicts what customers spend and whether they stay.", tandem::Run);
}
