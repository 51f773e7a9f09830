// Forecasts of a shop's sales with quantiles, judged by walking forward: each fold trains on all days before its own.
#include <cstdio>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "base/env.h"
#include "base/program.h"
#include "base/status_macros.h"
#include "estimator/estimator.h"
#include "estimator/train_and_evaluate.h"
#include "frontends/layers.h"
#include "frontends/metrics.h"
#include "frontends/optimizers.h"
#include "graph/ops.h"

ABSL_FLAG(std::string, data_dir, "", "Folder with sales.csv.");
ABSL_FLAG(std::string, model_dir, "", "Folder for a folder with checkpoints for each fold.");

namespace tandem {
namespace {

constexpr int64_t kPast = 28, kFolds = 8, kFirstDays = 400, kFoldDays = 100;

EstimatorSpec ModelFn(const Features& features, const Tensor& labels, Mode mode, const Params&) {
  const Tensor past = features["past"];  // [b, kPast]
  const Tensor level = ReduceMean(past, {1}, true);
  const Tensor hidden = layers::Dense(past / level - 1.0, {.units = 32, .activation = Relu});
  const Tensor quantiles = level * (1.0 + layers::Dense(hidden, {.units = 3}));  // [b, 3]: of 10, 50 and 90 %
  if (mode == Mode::kPredict) return EstimatorSpec::Predict({{"quantiles", quantiles}});
  const Tensor sales = ExpandDims(labels, 1);
  const Tensor share = past.graph()->Constant(HostTensor::FromVector<float>({3}, {0.1f, 0.5f, 0.9f}));
  const Tensor error = (sales - quantiles) / level;
  const Tensor loss = ReduceMean(Maximum(share * error, (share - 1.0) * error));
  if (mode == Mode::kTrain) {
    return EstimatorSpec::Train(loss, optimizers::Adam({.learning_rate = 0.003}).Minimize(loss));
  }
  const std::vector<Tensor> bounds = Split(quantiles, 3, 1);
  const Tensor inside = And(LessEqual(bounds[0], sales), LessEqual(sales, bounds[2]));
  return EstimatorSpec::Eval(loss, {{"mape", metrics::Mean(Abs(sales - bounds[1]) / sales)},
                                    {"inside", metrics::Mean(Cast(inside, DType::kFloat32))}});
}

// Windows whose last days are [first, end).
Dataset Days(int64_t first, int64_t end) {
  const auto split = [](const Element& in) -> absl::StatusOr<Element> {
    const absl::Span<const float> sales = in["sales"].values<float>();
    Element out;
    out.Set("past", HostTensor::FromVector<float>({kPast}, {sales.begin(), sales.end() - 1}));
    out.Set("label", sales.back());
    return out;
  };
  return Dataset::Csv({JoinPath(absl::GetFlag(FLAGS_data_dir), "sales.csv")}, {{"sales", DType::kFloat32}})
      .Take(end)
      .Skip(first - kPast)
      .Cache()
      .Window({.size = kPast + 1, .shift = 1, .drop_remainder = true})
      .Map(split);
}

absl::Status Run() {
  RunConfig config;
  for (int64_t fold = 0; fold < kFolds; ++fold) {
    const int64_t today = kFirstDays + fold * kFoldDays;
    const InputFn train_input = [=](const InputContext&) {
      return Days(kPast, today).Shuffle(today).Repeat().Batch(64);
    };
    const InputFn eval_input = [=](const InputContext&) { return Days(today, today + kFoldDays).Batch(64); };
    if (fold > 0) config.warm_start_from = WarmStartSettings{.path = config.model_dir};
    config.model_dir = JoinPath(absl::GetFlag(FLAGS_model_dir), absl::StrCat("fold", fold));
    Estimator estimator(ModelFn, config);
    TD_ASSIGN_OR_RETURN(const EvalResult result,
                        TrainAndEvaluate(estimator, {.input_fn = train_input, .max_steps = fold == 0 ? 400 : 100},
                                         {.input_fn = eval_input, .name = "next"}));
    std::printf("from day %d: %s\n", static_cast<int>(today), result.ToString().c_str());
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace tandem

int main(int argc, char** argv) {
  return tandem::RunProgram(argc, argv, "forecasts sales by walking forward.", tandem::Run);
}
