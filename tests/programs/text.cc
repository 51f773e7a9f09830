// Whether a text praises or not: words as numbers, padding, attention, and an end when the evaluations get no better.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/str_split.h"
#include "base/env.h"
#include "base/program.h"
#include "base/status_macros.h"
#include "data/vocabulary.h"
#include "estimator/early_stopping.h"
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

constexpr int64_t kWords = 16, kUnits = 16;

EstimatorSpec ModelFn(const Features& features, const Tensor& labels, Mode mode, const Params& params) {
  const Tensor words = features["words"];  // [b, kWords], 0 behind the end of the text
  const Tensor there = NotEqual(words, 0.0);
  Tensor x = layers::Embedding(words, {.input_dim = params.Int("vocabulary", 0), .output_dim = kUnits});
  x = x + layers::MultiHeadAttention(x, {.num_heads = 2, .key_dim = kUnits / 2}, there);
  x = layers::Dense(layers::LayerNormalization(x), {.units = kUnits, .activation = Relu});
  x = ReduceMax(Select(ExpandDims(there, 2), x, ZerosLike(x)), {1});
  x = layers::Dropout(x, {.rate = 0.1, .training = mode == Mode::kTrain});
  const Tensor praise = layers::Dense(x, {.units = 1, .activation = Sigmoid});
  if (mode == Mode::kPredict) return EstimatorSpec::Predict({{"praise", praise}});
  const Tensor loss = losses::BinaryCrossEntropy(labels, praise);
  const Metric accuracy = metrics::BinaryAccuracy(labels, praise);
  if (mode == Mode::kEval) return EstimatorSpec::Eval(loss, {{"accuracy", accuracy}});
  return EstimatorSpec::Train(loss, optimizers::Adam({.learning_rate = 0.005}).Minimize(loss),
                              {{"accuracy", accuracy}});
}

Dataset Texts(const std::string& file) {
  const auto split = [](const Element& in) -> absl::StatusOr<Element> {
    std::vector<std::string> words = absl::StrSplit(in.Get<std::string>("text"), ' ', absl::SkipEmpty());
    words.resize(std::min<size_t>(words.size(), kWords));
    Element out;
    out.Set("words", HostTensor::FromStrings({static_cast<int64_t>(words.size())}, words));
    out.Set("label", in["label"]);
    return out;
  };
  return Dataset::Csv({JoinPath(absl::GetFlag(FLAGS_data_dir), file)},
                      {{"text", DType::kString}, {"label", DType::kInt32}})
      .Map(split, {.spec = {{"words", DType::kString, {-1}}, {"label", DType::kInt32, {}}}});
}

absl::Status Run() {
  TD_ASSIGN_OR_RETURN(const Vocabulary vocabulary,
                      Vocabulary::FromDataset(Texts("train.csv"), "words", {.first = {"[PAD]"}, .min_count = 2}));
  const auto examples = [=](const std::string& file) { return vocabulary.Lookup(Texts(file), "words").Cache(); };
  const PaddedBatchOptions padding{.padded_shapes = {{"words", {kWords}}}};
  const InputFn train_input = [=](const InputContext&) {
    return examples("train.csv").Shuffle(3000).Repeat().PaddedBatch(64, padding);
  };
  const InputFn eval_input = [=](const InputContext&) { return examples("test.csv").PaddedBatch(64, padding); };
  Estimator estimator(ModelFn, {.model_dir = absl::GetFlag(FLAGS_model_dir), .keep_best = KeepBest{}},
                      {{"vocabulary", vocabulary.size()}});
  const TrainSpec train{
      .input_fn = train_input, .max_steps = 5000, .hooks = {StopIfNoDecrease(estimator, "loss", 150)}};
  TD_RETURN_IF_ERROR(TrainAndEvaluate(estimator, train, {.input_fn = eval_input, .every_steps = 50}).status());
  TD_ASSIGN_OR_RETURN(
      const EvalResult best,
      estimator.Evaluate(eval_input, {.checkpoint_path = estimator.best()->checkpoint, .name = "best"}));
  std::printf("%s\n", best.ToString().c_str());
  return absl::OkStatus();
}

}  // namespace
}  // namespace tandem

int main(int argc, char** argv) {
  return tandem::RunProgram(argc, argv, "tells texts that praise from others.", tandem::Run);
}
